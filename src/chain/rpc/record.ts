import { SLOT_MAX } from '../chain-numbers.ts'
import { readRpcBlock, type BlockOutcome } from './block.ts'
import { boundedOrNull, isObject, readOrExplain } from './fields.ts'
import { unwrapResponse } from './response.ts'
import { readRpcTransaction, type TransactionOutcome } from './transaction.ts'

/** `other`: neither a block nor a transaction. */
export type RecordOutcome = BlockOutcome | TransactionOutcome | { readonly kind: 'other' }

/** What the holder of a record knows of it: a slot counts where the record has none, a position in any case. */
export interface RecordContext {
  readonly slot?: number | null
  readonly position?: number | null
}

/** Reads a value that may be any of what readRpcBlock and readRpcTransaction take, told apart by its shape. */
export function readRpcRecord(
  value: unknown,
  { slot = null, position = null }: RecordContext = {}
): RecordOutcome {
  if (isObject(value) && 'block' in value && 'slot' in value) return readRpcBlock(value, slot)
  const payload = unwrapResponse(value)
  if (payload.kind !== 'result') return payload
  const { result } = payload
  if (!isObject(result)) return { kind: 'other' }
  if ('transaction' in result && 'meta' in result) {
    const outcome = readRpcTransaction(result, position)
    if (outcome.kind !== 'transaction' || outcome.slot !== null) return outcome
    return readOrExplain(() => ({ ...outcome, slot: boundedOrNull(slot, SLOT_MAX, 'slot') }))
  }
  if ('blockhash' in result && 'transactions' in result) return readRpcBlock(result, slot)
  return { kind: 'other' }
}

import { SLOT_MAX } from '../chain-numbers.ts'
import { readRpcBlock, type BlockOutcome } from './block.ts'
import { boundedOrNull, isObject, readOrExplain } from './fields.ts'
import { unwrapResponse } from './response.ts'
import { readRpcTransaction, type TransactionOutcome } from './transaction.ts'

/** The outcome `other`: neither a block nor a transaction. */
export type RecordOutcome = BlockOutcome | TransactionOutcome | { readonly kind: 'other' }

/** A caller's knowledge of a record. The slot is a fallback for the record's own; the position replaces it. */
export interface RecordContext {
  readonly slot?: number | null
  readonly position?: number | null
}

/** Reads any value that readRpcBlock or readRpcTransaction accepts, and distinguishes them by shape. */
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

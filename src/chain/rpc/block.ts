import { BLOCK_TIME_MAX, SLOT_MAX } from '../chain-numbers.ts'
import type { Block, Transaction } from '../transaction.ts'
import { isVote, openEntry } from './entry.ts'
import {
  boundedOrNull,
  isCount,
  isObject,
  listOf,
  objectOf,
  readOrExplain,
  Unreadable,
  type UnreadableOutcome
} from './fields.ts'
import { unwrapResponse, type AbsentOutcome, type RpcFailure } from './response.ts'
import { readRewards } from './reward.ts'
import { readEntry } from './transaction.ts'

/** A block as a node returns it. A getBlock result names neither its own slot nor, in some cases, its time. */
export interface RpcBlock extends Omit<Block, 'slot' | 'blockTime'> {
  readonly slot: number | null
  /** Unix seconds. */
  readonly blockTime: number | null
  /** Entries that cannot be read and were left out. */
  readonly unreadable: readonly UnreadableEntry[]
}

export interface UnreadableEntry {
  /** Position in the block. */
  readonly index: number
  readonly reason: string
}

export type BlockOutcome =
  | { readonly kind: 'block'; readonly block: RpcBlock }
  | RpcFailure
  | AbsentOutcome
  | UnreadableOutcome

/**
 * Reads a getBlock result: bare, as the whole JSON-RPC response, or as `{slot, block}` around either, in the encodings
 * that readRpcTransaction supports. The record's slot wins over the given one. Votes are counted and left out without
 * decoding. An unreadable entry is left out too, unless no entry is readable: then the block is unreadable. A block whose
 * slot or time is out of range is unreadable as well (INVARIANTS 9).
 */
export function readRpcBlock(value: unknown, slot: number | null = null): BlockOutcome {
  if (!isObject(value) || !('block' in value && 'slot' in value)) return readUnwrapped(value, slot)
  return readOrExplain(() => readUnwrapped(value.block, boundedOrNull(value.slot, SLOT_MAX, 'slot') ?? slot))
}

function readUnwrapped(value: unknown, slot: number | null): BlockOutcome {
  const payload = unwrapResponse(value)
  if (payload.kind !== 'result') return payload
  return readOrExplain(() => {
    const result = objectOf(payload.result, 'block')
    const ownSlot = boundedOrNull(result.slot ?? slot, SLOT_MAX, 'slot')
    const parentSlot = boundedOrNull(result.parentSlot, SLOT_MAX, 'parentSlot')
    const blockTime = boundedOrNull(result.blockTime, BLOCK_TIME_MAX, 'blockTime')
    const entries = readEntries(listOf(result.transactions, 'transactions'))
    const [first] = entries.unreadable
    if (first !== undefined && entries.unreadable.length === entries.total) {
      throw new Unreadable(`transactions: ${first.reason}`)
    }
    const { transactions, votes, unreadable } = entries
    const links = linksOf(result.blockhash, result.previousBlockhash, result.blockHeight)
    const rewards = readRewards(result.rewards)
    return {
      kind: 'block',
      block: {
        slot: ownSlot,
        blockTime,
        parentSlot,
        ...links,
        transactions,
        votes,
        unreadable,
        ...(rewards !== undefined && { rewards })
      }
    }
  })
}

/** Returns the block itself; null if its slot or its time is unknown. */
export function placeBlock(block: RpcBlock): Block | null {
  const { slot, blockTime, parentSlot, blockhash, parentBlockhash, height, transactions, votes } = block
  if (slot === null || blockTime === null) return null
  const links = linksOf(blockhash, parentBlockhash, height)
  const { rewards, unreadable } = block
  return {
    slot,
    blockTime,
    parentSlot,
    ...links,
    transactions,
    votes,
    ...(rewards !== undefined && { rewards }),
    ...(unreadable.length > 0 && { leftOut: unreadable.length })
  }
}

/** Returns the hashes of a block and its parent, and its height, if the record states them. */
function linksOf(
  blockhash: unknown,
  previous: unknown,
  height: unknown
): Pick<Block, 'blockhash' | 'parentBlockhash' | 'height'> {
  return {
    ...(typeof blockhash === 'string' && { blockhash }),
    ...(typeof previous === 'string' && { parentBlockhash: previous }),
    // Only the expiry of transactions depends on the height, so a malformed one does not make the block unreadable.
    ...(isCount(height) && { height })
  }
}

function readEntries(entries: readonly unknown[]) {
  const transactions: Transaction[] = []
  const unreadable: UnreadableEntry[] = []
  let votes = 0
  for (let index = 0; index < entries.length; index++) {
    const outcome = readOrExplain(() => {
      const entry = objectOf(entries[index], 'transactions')
      const opened = openEntry(entry)
      return isVote(opened) ? VOTE : readEntry(entry, opened, index)
    })
    if (!('kind' in outcome)) transactions.push(outcome)
    else if (outcome.kind === 'vote') votes++
    else unreadable.push({ index, reason: outcome.reason })
  }
  return { transactions, votes, unreadable, total: entries.length }
}

const VOTE = { kind: 'vote' } as const

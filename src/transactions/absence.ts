import { hasNoHistory } from '../node/node-fault.ts'
import type { SignatureStatus, TransactionNode } from './ports.ts'

/** Milliseconds after which a node answers about a landed signature only from its history: 150 slots take 60 s. */
export const RECENT_MS = 60_000
/**
 * Maximum slots between answers of a node's status cache that leave no gap: half of the last 300 rooted blocks, which
 * the cache has at least (agave, MAX_RECENT_BLOCKHASHES). So a change of forks between the answers is covered too.
 */
const CACHE_SLOTS = 150

/** Statuses at a slot, in the order of the signatures. */
export interface AnsweredStatuses {
  readonly contextSlot: number
  readonly statuses: readonly (SignatureStatus | null)[]
  /** Whether the history was searched. If not, an unknown signature may have landed before the node's cache begins. */
  readonly isWhole: boolean
}

/** Requests statuses. Where a node has no history, requests them from its cache instead. Rejects like the node's method. */
export async function statusesOrCached(
  node: Pick<TransactionNode, 'statuses'>,
  signatures: readonly string[],
  { history, everyNode = history }: { readonly history: boolean; readonly everyNode?: boolean },
  signal: AbortSignal
): Promise<AnsweredStatuses> {
  try {
    return { ...(await node.statuses(signatures, { history, everyNode }, signal)), isWhole: history }
  } catch (error) {
    if (!history || !hasNoHistory(error)) throw error
    return { ...(await node.statuses(signatures, { history: false, everyNode }, signal)), isWhole: false }
  }
}

/** The facts by which an answer that lacks a status proves that a transaction has not landed. */
export interface AbsenceFacts {
  /** The slot of the block that contains the transaction, as known so far; null before it has landed. */
  readonly landedSlot: number | null
  /** The newest slot at which a node proved that it had not landed; null before the first proof. */
  readonly absentSlot: number | null
  /** Whether the cache of a node reaches back to the first block in which the transaction can have landed. */
  readonly isNew: boolean
}

/**
 * Returns whether an answer at a slot that does not know a transaction proves that it has not landed. The cache of a node
 * without history proves that only if it was queried in time and without a gap.
 */
export function isAbsent(
  { landedSlot, absentSlot, isNew }: AbsenceFacts,
  slot: number,
  isWhole: boolean
): boolean {
  if (isWhole) return true
  if (landedSlot !== null) return !isBeyondCache(landedSlot, slot)
  return absentSlot === null ? isNew : !isBeyondCache(absentSlot, slot)
}

/** Returns whether the cache of a node at a slot may have forgotten the blocks of an earlier slot. */
export const isBeyondCache = (earlierSlot: number, slot: number): boolean => slot - earlierSlot > CACHE_SLOTS

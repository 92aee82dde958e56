import type { BlockSightings } from './ports.ts'

/**
 * Milliseconds after reception during which an answer of nodes alone does not end a transaction: the 150 blocks of a
 * blockhash's lifetime, at one and a half times the slot time of 400 ms.
 */
export const NODES_ALONE_MS = 90_000
/**
 * Committed slots after which 150 blocks have certainly passed, for a process that knows only slots: one slot
 * in six may be skipped; mainnet skips about one in twenty (2025).
 */
export const SLOTS_OF_LIFE = 180

/** A transaction's last valid block height, and its minimum age. */
export interface Lifespan {
  readonly lastHeight: number
  /** Unix milliseconds. */
  readonly receivedAtMs: number
  /** The newest committed slot when this process started to track it; null before the first. */
  readonly seenSlot: number | null
}

/**
 * Returns whether evidence other than a node's answer shows that a transaction can no longer land. Three kinds of
 * evidence suffice: a block above its last valid height that this process read, enough committed slots since tracking
 * started, or enough time since its reception.
 */
export function isBorneOut(
  { lastHeight, receivedAtMs, seenSlot }: Lifespan,
  { heights, newest }: Pick<BlockSightings, 'heights' | 'newest'>,
  nowMs: number
): boolean {
  if (heights !== null && heights.last > lastHeight) return true
  if (seenSlot !== null && newest !== null && newest.slot >= seenSlot + SLOTS_OF_LIFE) return true
  return nowMs >= receivedAtMs + NODES_ALONE_MS
}

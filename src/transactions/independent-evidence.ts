import type { BlockSightings } from './ports.ts'

/**
 * Milliseconds after its reception before which the word of nodes alone ends no transaction. Chosen: the 150 blocks of a
 * blockhash at one and a half times the slot of 400 ms.
 */
const NODES_ALONE_MS = 90_000
/**
 * Committed slots in which 150 blocks have passed, in a process that hears of slots alone. Chosen: one slot in six is skipped;
 * mainnet skips about one in twenty (2025).
 */
const SLOTS_OF_LIFE = 180

/** A transaction's last valid block height, and the age that it has at least. */
export interface Lifespan {
  readonly lastHeight: number
  /** Unix milliseconds. */
  readonly receivedAtMs: number
  /** The newest committed slot when this process took it up; null without one. */
  readonly seenSlot: number | null
}

/**
 * Tells whether something else than a node bears out that a transaction can land no more: a block above its last valid height
 * that this process read, the committed slots since it was taken up, or at the least the time since its reception.
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

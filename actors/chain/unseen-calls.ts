import { INNER_ABSENT } from '../../src/market/gap-reasons.ts'
import type { GapRow } from '../../storage/port.ts'
import type { DecodedSource } from './decoding.ts'

const DETAIL = 'the node does not record inner instructions: events of some transactions may be missing'

/** Whether a block has transactions that name a venue and whose inner instructions were not recorded. */
const hasUnseenCalls = ({ notes }: Pick<DecodedSource, 'notes'>): boolean =>
  notes.some((note) => note.kind === 'missing' && note.reason === INNER_ABSENT)

const gapAt = (slot: number, atMs: number): GapRow => ({
  from: slot,
  to: slot,
  reason: INNER_ABSENT,
  detail: DETAIL,
  atMs
})

/** Returns a gap for each of some blocks with unseen calls. */
export function unseenGaps(blocks: readonly DecodedSource[], atMs: number): readonly GapRow[] {
  return blocks.filter(hasUnseenCalls).map(({ block }) => gapAt(block.slot, atMs))
}

/** Joins the unseen calls of consecutive blocks to one gap: a node that records no inner instructions does so always. */
export class UnseenCalls {
  #gap: GapRow | null = null

  /** Returns the gap to store for the next block; null if it has no unseen calls. */
  next(decoded: DecodedSource, atMs: number): GapRow | null {
    if (!hasUnseenCalls(decoded)) return (this.#gap = null)
    const { slot } = decoded.block
    this.#gap = this.#gap === null ? gapAt(slot, atMs) : { ...this.#gap, to: slot }
    return this.#gap
  }

  /** Ends a gap: what follows does not join it. */
  end(): void {
    this.#gap = null
  }
}

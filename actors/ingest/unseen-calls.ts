import type { Note } from '../../src/chain/emitter.ts'
import { INNER_ABSENT, VAULT_MOVED } from '../../src/market/gap-reasons.ts'
import type { GapRow } from '../../storage/port.ts'
import type { DecodedSource } from './decoding.ts'

/** Reason and detail of a gap of unseen calls. A gap joins blocks for which they are equal. */
type UnseenReason = Pick<GapRow, 'reason' | 'detail'>

const NOT_RECORDED: UnseenReason = {
  reason: INNER_ABSENT,
  detail: 'the node does not record inner instructions: events of some transactions may be missing'
}

/** Returns why events of a block may be missing although it is stored, or null. */
export function unseenReason(notes: readonly Note[]): UnseenReason | null {
  const moved = new Set<string>()
  for (const note of notes) {
    if (note.kind !== 'missing') continue
    if (note.reason === INNER_ABSENT) return NOT_RECORDED
    if (note.reason === VAULT_MOVED) moved.add(note.venue)
  }
  if (moved.size === 0) return null
  const venues = [...moved].toSorted().join(', ')
  return {
    reason: VAULT_MOVED,
    detail: `tokens left pools of ${venues} without a recorded call of their program: trades may be missing`
  }
}

const gapAt = (slot: number, reason: UnseenReason, atMs: number): GapRow => ({
  from: slot,
  to: slot,
  ...reason,
  atMs
})

/** Returns a gap for each of some blocks with unseen calls. */
export function unseenGaps(blocks: readonly DecodedSource[], atMs: number): readonly GapRow[] {
  return blocks.flatMap(({ block, notes }) => {
    const reason = unseenReason(notes)
    return reason === null ? [] : [gapAt(block.slot, reason, atMs)]
  })
}

/**
 * Joins the unseen calls of consecutive blocks to one gap, if they have the same reason: a node that records no inner
 * instructions does so always.
 */
export class UnseenCalls {
  #gap: GapRow | null = null

  /** Returns the gap to store for the next block; null if it has no unseen calls. */
  next({ block: { slot }, notes }: DecodedSource, atMs: number): GapRow | null {
    const reason = unseenReason(notes)
    if (reason === null) return (this.#gap = null)
    const isSame = this.#gap?.reason === reason.reason && this.#gap.detail === reason.detail
    this.#gap = isSame ? { ...this.#gap!, to: slot } : gapAt(slot, reason, atMs)
    return this.#gap
  }

  /** Ends a gap: what follows does not join it. */
  end(): void {
    this.#gap = null
  }
}

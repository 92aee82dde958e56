/**
 * Reasons for which stored rows are not in the archive, at least for now. Another import can supply what is missing.
 * `unknown-time`: no block or row states the time of their slot. `time-contradicts-slot`: an earlier slot has a later time.
 * `unknown-decimals`: no block or row states the decimals of a mint. `decimals-contradict`: the row states other decimals
 * than a block, or than the lowest of other rows. `no-position`: the slot has more events than cursors.
 */
export const HELD_BACK_REASONS = [
  'unknown-time',
  'time-contradicts-slot',
  'unknown-decimals',
  'decimals-contradict',
  'no-position'
] as const
export type HeldBackReason = (typeof HELD_BACK_REASONS)[number]

/** Rows that a fold has read, by what became of them. */
export class FoldTally {
  /** Trades that were folded: those after the end of the archive, or all of them if it is folded again. */
  folded = 0
  /** Trades of files that are in the archive. */
  rows = 0
  /** Rows that repeat another row. */
  repeated = 0
  /** Rows of slots that the archive has as whole blocks. */
  superseded = 0
  /** Rows without a slot from the time of the first indexed block on. */
  live = 0
  /** Trades whose price forms no candle, as it is far from the prices before (`price.ts`). */
  outliers = 0
  readonly heldBack = new Map<HeldBackReason, number>()

  holdBack(reason: HeldBackReason, rows: number): void {
    if (rows > 0) this.heldBack.set(reason, (this.heldBack.get(reason) ?? 0) + rows)
  }

  get heldBackTotal(): number {
    return [...this.heldBack.values()].reduce((sum, count) => sum + count, 0)
  }
}

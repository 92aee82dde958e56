import { ranked } from './ascending-runs.ts'
import type { BlockFees } from './block-fees.ts'
import type { FeeSummary } from './ports.ts'

const PERCENTS = [25, 50, 75, 90]
/** Estimated bytes of a block's run in addition to its prices. */
const RUN_BYTES = 200

/**
 * Prices of some transactions of the window, by block, in ascending order. When the window moves, only added or
 * removed blocks are read.
 */
export class FeeSelection {
  readonly #pricesOf: (block: BlockFees) => Float64Array
  readonly #runs = new Map<BlockFees, Float64Array>()
  #samples = 0

  /** Takes a function that returns a block's prices in ascending order. */
  constructor(pricesOf: (block: BlockFees) => Float64Array) {
    this.#pricesOf = pricesOf
  }

  /** Estimated bytes. */
  get bytes(): number {
    return this.#samples * Float64Array.BYTES_PER_ELEMENT + this.#runs.size * RUN_BYTES
  }

  /** Follows the window to its present blocks. */
  update(blocks: readonly BlockFees[]): void {
    const present = new Set(blocks)
    for (const [block, run] of this.#runs) {
      if (present.has(block)) continue
      this.#runs.delete(block)
      this.#samples -= run.length
    }
    for (const block of blocks) {
      if (this.#runs.has(block)) continue
      const run = this.#pricesOf(block)
      this.#runs.set(block, run)
      this.#samples += run.length
    }
  }

  /** Returns nearest-rank percentiles; zeros if there are no transactions. `slots` are those of the window. */
  summary(slots: FeeSummary['slots']): FeeSummary {
    const samples = this.#samples
    if (samples === 0) return { samples, slots, p25: 0, p50: 0, p75: 0, p90: 0, max: 0 }
    const runs = [...this.#runs.values()].filter(({ length }) => length > 0)
    const ranks = PERCENTS.map((percent) => Math.ceil((percent / 100) * samples))
    const [p25, p50, p75, p90] = ranked(runs, ranks) as [number, number, number, number]
    const max = runs.reduce((most, run) => Math.max(most, run.at(-1)!), 0)
    return { samples, slots, p25, p50, p75, p90, max }
  }
}

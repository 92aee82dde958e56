import { byName, LATEST } from './records.ts'
import type { LatestName } from './records.ts'

/** Rows by record. */
export type MarketSize = Readonly<Record<LatestName, number>>

/** Limits of the rows that a market holds in memory (M1 in `market-state.ts`). */
export interface MarketLimits extends MarketSize {
  /** Number of blocks without a use after which a row is evicted; up to twice as many in practice. */
  readonly quietBlocks: number
}

/**
 * Memory of a mint with one row of each kind. Measured: 5 KB if it traded in one minute of the hour, 10 KB in five,
 * 19 KB in twenty.
 */
const MINT_BYTES = 10_000

/**
 * Default number of rows of each record: about 100 MB (`MINT_BYTES`). Most coins never trade again after ten minutes
 * without a trade, the duration of as many blocks.
 */
const ROWS_MAX = 10_000
const QUIET_BLOCKS = 1_500

const rowsOfEach = (count: number): MarketSize => byName<MarketSize>(LATEST, () => count)

/** The limits where a caller states none. */
export const DEFAULT_LIMITS: MarketLimits = { ...rowsOfEach(ROWS_MAX), quietBlocks: QUIET_BLOCKS }

/** Returns the number of rows of each record that fits into these bytes. */
export function marketLimits(bytesMax: number): MarketSize {
  return rowsOfEach(Math.max(Math.floor(bytesMax / MINT_BYTES), 1))
}

/** Estimates the bytes of a market from the kind with the most rows. */
export const bytesOfMarket = (size: MarketSize): number =>
  Math.max(...Object.values<number>(size)) * MINT_BYTES

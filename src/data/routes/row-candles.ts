import type { MarketStores } from '../../archive/market-stores.ts'
import { samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { bucketStart, intervalSeconds } from '../../market/buckets.ts'
import { foldRows, mergeCandles } from '../../market/candles.ts'
import { legOf } from '../../market/legs.ts'
import type { Candle, CandleInterval, PairAddress, TradeRow } from '../../market/rows.ts'
import { READ_ROWS, type Slices } from '../../kernel/work/slices.ts'
import type { CandleSource, CandleStretch } from './candle-page.ts'
import { cursorRange, DISORDER_SECONDS } from './trade-filters.ts'

/**
 * Maximum rows of one request. An embedded store reads that many in about a tenth of a second. The newest 300 seconds of
 * a token with 60 trades a second have fewer rows.
 */
export const CANDLE_ROWS_MAX = 20_000
/** Rows read at first. */
const FIRST_ROWS = 128

type RowStores = Pick<MarketStores, 'trades' | 'blocks'>

/** Selects the trades whose candles are folded. */
export interface RowSeries {
  readonly mint: Pubkey
  /** Tells whether a row of the mint is in the candles; only called for rows with a cash side. */
  readonly includes: (row: TradeRow) => boolean
  /** Cursors of the range that can hold such rows, both inclusive. */
  readonly low: number
  readonly high: number
}

/**
 * The candles of one interval of some of a token's trades, folded from its rows. All ranges together read at most
 * `CANDLE_ROWS_MAX` rows. A returned candle has all trades of its bucket.
 */
export class RowCandles implements CandleSource {
  readonly #rows: RowStores
  readonly #series: RowSeries
  readonly #interval: CandleInterval
  readonly #slices: Pick<Slices, 'pause'>
  #rowsLeft: number

  constructor(
    rows: RowStores,
    series: RowSeries,
    interval: CandleInterval,
    slices: Pick<Slices, 'pause'>,
    rowsMax = CANDLE_ROWS_MAX
  ) {
    this.#rows = rows
    this.#series = series
    this.#interval = interval
    this.#slices = slices
    this.#rowsLeft = rowsMax
  }

  async range({
    from,
    to,
    limit
  }: {
    readonly from: number
    readonly to: number
    readonly limit: number
  }): Promise<CandleStretch> {
    const { mint, low, high } = this.#series
    const first = this.#bucketAfter(from - 1)
    const times = {
      from: first > 0 ? first : undefined,
      to: isUnbounded(to) ? undefined : this.#bucketAfter(to - 1)
    }
    const span = await cursorRange(this.#rows.blocks, times, 'desc', high + 1)
    if (span === null) return { candles: [], cutAt: null }
    const until = Math.max(span.until ?? low, low)
    const candles = new Map<number, Candle>()
    let after = span.from
    for (let chunk = FIRST_ROWS, cutAt = to; ; chunk = Math.min(chunk * 2, READ_ROWS)) {
      const asked = Math.min(chunk, this.#rowsLeft)
      if (asked === 0) return { candles: sortedFrom(candles, cutAt), cutAt }
      const read = await this.#rows.trades.ofMint(mint, {
        ...(after === undefined ? {} : { from: after }),
        until,
        order: 'desc',
        limit: asked
      })
      this.#rowsLeft -= read.length
      const included = read.filter((row) => {
        const start = bucketStart(this.#interval, row.blockTime)
        return start >= first && start < to && this.#series.includes(row)
      })
      this.#addOlder(candles, included)
      const oldest = read.at(-1)
      if (oldest === undefined || read.length < asked) {
        return { candles: sortedFrom(candles, first).slice(-limit), cutAt: null }
      }
      // A row further back may have a slightly later time, so buckets before this one may lack rows.
      cutAt = Math.min(to, this.#bucketAfter(oldest.blockTime + DISORDER_SECONDS))
      if (countFrom(candles.keys(), cutAt) >= limit) {
        return { candles: sortedFrom(candles, cutAt).slice(-limit), cutAt: null }
      }
      after = oldest.cursor
      await this.#slices.pause()
    }
  }

  /** Folds rows, newest first, into candles of rows that are all newer. */
  #addOlder(candles: Map<number, Candle>, rows: readonly TradeRow[]): void {
    for (const older of foldRows(rows.toReversed(), this.#interval)) {
      const newer = candles.get(older.ts)
      candles.set(older.ts, newer === undefined ? older : mergeCandles(older, newer))
    }
  }

  /** Returns the start of the first bucket after a time. */
  #bucketAfter(time: number): number {
    return bucketStart(this.#interval, time) + intervalSeconds(this.#interval)
  }
}

/** Tells whether a time is not a bound: it is later than any time that a request can give. */
const isUnbounded = (to: number): boolean => to === Number.MAX_SAFE_INTEGER

/** Tells whether a row of the pair's token is a trade for its cash. */
export function isInPair(row: TradeRow, { cash }: Pick<PairAddress, 'cash'>): boolean {
  return row.cashSide !== null && samePubkey(legOf(row, row.cashSide).mint, cash)
}

/** Returns the candles whose buckets start at or after a time, oldest first. */
const sortedFrom = (candles: ReadonlyMap<number, Candle>, from: number): Candle[] =>
  [...candles.values()].filter(({ ts }) => ts >= from).sort((a, b) => a.ts - b.ts)

function countFrom(starts: Iterable<number>, from: number): number {
  let count = 0
  for (const start of starts) if (start >= from) count++
  return count
}

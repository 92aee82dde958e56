import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import { bucketStart } from '../../market/buckets.ts'
import { candleOf, foldCandles, mergeCandles } from '../../market/candles.ts'
import { legOf } from '../../market/legs.ts'
import {
  INTERVALS,
  type Candle,
  type CandleAddress,
  type Interval,
  type PairRow,
  type TradeRow
} from '../../market/rows.ts'
import { sameValue } from '../../market/same-value.ts'
import type { Storage } from '../../../storage/port.ts'
import type { Difference } from './difference.ts'

const ROWS_PER_READ = 1_000
const CANDLES_PER_READ = 1_000
/** Later than every block time. */
const FOREVER = 2 ** 32
/**
 * Seconds by which block times of a chain may decrease. They do by a second or two; a larger value would only leave
 * more buckets at the horizon unchecked.
 */
const BLOCK_TIME_FALL_MAX = 10

/** A candle that differs. */
export interface CandleDifference extends Difference {
  readonly kind: 'candle'
  readonly of: Pick<CandleAddress, keyof CandleAddress>
  readonly stored: Candle | null
  readonly computed: Candle | null
}

/** Numbers of compared rows and candles of a mint. */
export interface CandleCount {
  rows: number
  candles: number
}

/**
 * Folds a mint's candles again from its stored trades and compares every bucket of every pair and interval with the
 * stored one. Skips a bucket that begins before the retention's horizon, because some of its rows may have expired.
 * Holds a candle in memory for each minute with a trade.
 */
export async function* candleDifferences(
  storage: Storage,
  mint: Pubkey,
  count: CandleCount
): AsyncGenerator<CandleDifference> {
  const minutes = new Map<string, Map<number, Candle>>()
  let rows = 0
  for await (const row of rowsOf(storage, mint)) {
    rows++
    if (row.cashSide !== null) add(minutes, row, row.cashSide)
  }
  count.rows += rows
  const pairs = await storage.pairs.ofMint(mint)
  // Read after the rows, because some may have expired in the meantime.
  const horizon = await storage.coverage.horizon()
  const since = horizon === null ? 0 : horizon.time + BLOCK_TIME_FALL_MAX
  for (const pair of pairs) {
    const folded = minutes.get(pubkeyMapKey(pair.cash))?.values() ?? []
    const ofMinutes = [...folded].sort((a, b) => a.ts - b.ts)
    for (const interval of INTERVALS) {
      const computed = new Map(foldCandles(ofMinutes, interval).map((candle) => [candle.ts, candle]))
      const stored = await storedCandles(storage, pair, interval)
      for (const ts of new Set([...stored.keys(), ...computed.keys()])) {
        if (ts < since) continue
        count.candles++
        const [one, other] = [stored.get(ts) ?? null, computed.get(ts) ?? null]
        if (isSame(one, other)) continue
        const of = { mint, cash: pair.cash, interval, ts }
        yield { kind: 'candle', of, stored: one, computed: other }
      }
    }
  }
}

/** Returns whether a stored candle equals the computed one. Earlier versions did not count trades without a USD value. */
function isSame(stored: Candle | null, computed: Candle | null): boolean {
  if (stored === null || computed === null || stored.unpriced !== undefined)
    return sameValue(stored, computed)
  const { unpriced: _, ...counted } = computed
  return sameValue(stored, counted)
}

function add(minutes: Map<string, Map<number, Candle>>, row: TradeRow, cashSide: 'in' | 'out'): void {
  const cash = pubkeyMapKey(legOf(row, cashSide).mint)
  const series = minutes.get(cash) ?? new Map<number, Candle>()
  minutes.set(cash, series)
  const part = candleOf(row, bucketStart('1m', row.blockTime))
  const known = series.get(part.ts)
  series.set(part.ts, known === undefined ? part : mergeCandles(known, part))
}

async function* rowsOf(storage: Storage, mint: Pubkey): AsyncGenerator<TradeRow> {
  for (let from = -1; ;) {
    const rows = await storage.trades.ofMint(mint, { from, order: 'asc', limit: ROWS_PER_READ })
    yield* rows
    if (rows.length < ROWS_PER_READ) return
    from = rows.at(-1)!.cursor
  }
}

async function storedCandles(
  storage: Storage,
  { mint, cash }: PairRow,
  interval: Interval
): Promise<Map<number, Candle>> {
  const stored = new Map<number, Candle>()
  for (let to = FOREVER; ;) {
    const range = { from: 0, to, limit: CANDLES_PER_READ }
    const candles = await storage.candles.range(mint, cash, interval, range)
    for (const candle of candles) stored.set(candle.ts, candle)
    if (candles.length < CANDLES_PER_READ) return stored
    to = candles[0]!.ts
  }
}

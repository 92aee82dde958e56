import {
  comparePubkeys,
  pubkeyFromBase58,
  pubkeyToBase58,
  samePubkey,
  type Pubkey
} from '../../chain/pubkey.ts'
import type { MarketStores } from '../../archive/market-stores.ts'
import { foreignCursor, readWordsCursor, writeWordsCursor } from '../../kernel/http/page-cursor.ts'
import type { Slices } from '../../kernel/work/slices.ts'
import { bucketStart, intervalSeconds } from '../../market/buckets.ts'
import type { Interval, PairRow, SlotRow } from '../../market/rows.ts'
import { openCandles, type CandleListPage } from './candle-list.ts'
import type { DataNeeds } from './needs.ts'
import { DISORDER_SECONDS } from './trade-filters.ts'
import { tradedTokens, type TimeRange } from './traded-tokens.ts'

/** Maximum tokens and pairs that a page reads, and its limit in milliseconds. A pair takes a few reads. */
const READS_MAX = 2_000
const SEARCH_MS = 1_000

/** A place in the list: the candles of a pair from a time on, Unix seconds. */
interface CandlePlace {
  readonly mint: Pubkey
  readonly cash: Pubkey
  readonly from: number
}

type CandleBody = Awaited<ReturnType<CandleListPage['data']['made']>>[number]

/** Candles of a pair in succession, and the place after them. */
interface PairCandles {
  readonly candles: readonly CandleBody[]
  readonly reads: number
  readonly place: CandlePlace
}

interface Query extends TimeRange {
  readonly interval: Interval
  readonly currency: 'native' | 'usd'
  readonly raw: boolean
  readonly limit: number
  readonly after?: string | undefined
}

/** The stores of candles, the newest indexed block, and the slices of the request. */
interface Source {
  readonly market: MarketStores
  readonly newest: SlotRow | null
  readonly slices: Slices
}

/** A candle with its pair. */
export type PairCandle = CandleBody & {
  readonly mint: string
  readonly cash_mint: string
}

/**
 * Returns a page of the candles of all tokens in a range of times: token by token, in the order in which the store lists tokens,
 * the pairs of a token by their cash, and the candles of a pair oldest first.
 */
export async function candlesByToken(
  source: Source,
  query: Query,
  clock: DataNeeds['clock']
): Promise<{ readonly data: readonly PairCandle[]; readonly nextCursor: string | null }> {
  const { interval, currency, raw, from, to, limit, after } = query
  const list = ['all-candles', interval, currency, Number(raw), from, to].join(':')
  const place = after === undefined ? null : readPlace(list, after)
  const data: PairCandle[] = []
  const endAt = clock.now() + SEARCH_MS
  let reads = 0
  for await (const next of pairCandles(source, query, place)) {
    const { mint, cash } = next.place
    const pair = { mint: pubkeyToBase58(mint), cash_mint: pubkeyToBase58(cash) }
    for (const candle of next.candles) data.push({ ...candle, ...pair })
    const last = data[limit - 1]
    if (last !== undefined) {
      const nextPlace = [last.mint, last.cash_mint, String(last.ts_ms / 1_000 + 1)]
      return { data: data.slice(0, limit), nextCursor: writeWordsCursor(list, nextPlace) }
    }
    reads += next.reads
    // Within a pair only a candle marks a place.
    const hasPlace = next.candles.length > 0 || next.place.from === END
    if (hasPlace && (reads >= READS_MAX || clock.now() >= endAt))
      return { data, nextCursor: writeWordsCursor(list, [...Object.values(pair), String(next.place.from)]) }
    await source.slices.pause()
  }
  return { data, nextCursor: null }
}

/** Yields the candles of all pairs, from a place on. */
async function* pairCandles(
  source: Source,
  { after: _, ...query }: Query,
  place: CandlePlace | null
): AsyncGenerator<PairCandles> {
  const { market } = source
  // A candle has trades of a whole interval from its start on.
  const times = { from: query.from, to: query.to + intervalSeconds(query.interval) }
  if (place !== null) {
    const pairs = await pairsOf(market, place.mint)
    for (const pair of pairs.filter(({ cash }) => comparePubkeys(cash, place.cash) >= 0)) {
      const from = samePubkey(pair.cash, place.cash) ? Math.max(place.from, query.from) : query.from
      yield* candlesOf(source, { ...query, from }, pair)
    }
  }
  for await (const { traded, reads, last } of tradedTokens(market.tokens, times, place?.mint)) {
    for (const { mint, firstTime, lastTrade } of traded) {
      const from = Math.max(query.from, bucketStart(query.interval, firstTime - DISORDER_SECONDS))
      const to = Math.min(query.to, lastTrade!.blockTime + DISORDER_SECONDS)
      for (const pair of await pairsOf(market, mint)) yield* candlesOf(source, { ...query, from, to }, pair)
    }
    yield { candles: [], reads, place: { mint: last, cash: LAST_CASH, from: END } }
  }
}

/** A place after all pairs of a token, and after all candles of a pair. */
const LAST_CASH = new Uint8Array(32).fill(255)
const END = Number.MAX_SAFE_INTEGER

/** Yields the candles of a pair, oldest first. */
async function* candlesOf(
  { market, newest, slices }: Source,
  query: Omit<Query, 'after'>,
  pair: PairRow
): AsyncGenerator<PairCandles> {
  const { mint, cash } = pair
  if (query.from >= query.to) return
  const of = ['candles-of-all', ...[mint, cash].map(pubkeyToBase58)]
  let { from } = query
  for (let after: string | null | undefined; after !== null;) {
    const asked = { ...query, fill: 'none', ...(after !== undefined && { after }) } as const
    const page = await openCandles(of, asked, market, newest, true).page({ pair }, slices)
    after = page.nextCursor
    const candles = await page.data.made(slices)
    const last = candles.at(-1)
    if (last !== undefined) from = last.ts_ms / 1_000 + 1
    yield { candles, reads: 1, place: { mint, cash, from: after === null ? END : from } }
  }
}

/** Returns the pairs of a token, by their cash. */
const pairsOf = async ({ pairs }: MarketStores, mint: Pubkey): Promise<PairRow[]> =>
  (await pairs.ofMint(mint)).toSorted((one, other) => comparePubkeys(one.cash, other.cash))

/** A candle's token, its cash and its start, Unix seconds, as text. */
const ROW_PLACE = /^([1-9A-HJ-NP-Za-km-z]{32,44}):([1-9A-HJ-NP-Za-km-z]{32,44}):(\d{1,11})$/

/** Returns the place of an `after`: a cursor of the list, or `MINT:CASH_MINT:TIME` of a candle. Throws CURSOR_INVALID. */
function readPlace(list: string, text: string): CandlePlace {
  const [, ...named] = ROW_PLACE.exec(text) ?? []
  const isOfRow = named.length > 0
  const [mint = '', cash = '', digits = ''] = isOfRow ? named : readWordsCursor(list, text)
  const from = Number(digits) + (isOfRow ? 1 : 0)
  if (!Number.isSafeInteger(from)) throw foreignCursor()
  try {
    return { mint: pubkeyFromBase58(mint), cash: pubkeyFromBase58(cash), from }
  } catch {
    throw foreignCursor()
  }
}

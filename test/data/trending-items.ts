import type { Test } from 'tap'
import { TRENDING_ITEM } from '../../src/data/bodies/trending.ts'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import { isNear } from '../http/follow-market.ts'
import type { MarketApp } from '../http/market-app.ts'
import type { ExpectedWindow, MarketOracle } from './market-oracle.ts'

const WINDOWS = { '1h': 3_600, '4h': 14_400, '24h': 86_400 } as const
const EXACT = 256

export interface Item extends ExpectedWindow {
  readonly rank: number
  readonly mint: string
  readonly token: string
  readonly name: string | null
  readonly symbol: string | null
  readonly price_usd: number | null
  readonly price_change_pct: number | null
  readonly window: string
}

export async function trendingOf(t: Test, app: MarketApp, query = ''): Promise<readonly Item[]> {
  const { status, body } = await app.get(`/v1/trending${query}`)
  t.equal(status, 200)
  t.match(body, { tenant: 'acme', nextCursor: null })
  for (const item of body.data) {
    t.same(TRENDING_ITEM.strict().safeParse(item).error, undefined, 'the item is as documented')
  }
  return body.data as unknown as Item[]
}

/** Returns the price-forming prices of a mint's stored rows in USD, oldest first; null if the cash had no price. */
async function pricesOf(app: MarketApp, mint: string) {
  const page = { from: cursorAt(0, 0), order: 'asc', limit: 100_000 } as const
  const rows = await app.storage.trades.ofMint(pubkeyFromBase58(mint), page)
  return rows.flatMap(({ priceForming, price, cashUsd, blockTime }) =>
    priceForming && price !== null ? { time: blockTime, usd: cashUsd === null ? null : price * cashUsd } : []
  )
}

/** Compares every item with the events, and the order of the list with its own numbers. */
export async function compareTrending(t: Test, app: MarketApp, oracle: MarketOracle): Promise<void> {
  for (const [window, seconds] of Object.entries(WINDOWS)) {
    const items = await trendingOf(t, app, `?window=${window}&limit=100`)
    const expected = oracle.mints(seconds)
    t.equal(items.length, Math.min(100, expected.size))
    t.same(
      items.map(({ rank }) => rank),
      items.map((_, index) => index + 1)
    )
    t.same(items, items.toSorted(byVolume), 'the order is that of the volumes')
    const named = new Set(items.map(({ mint }) => mint))
    const left = [...expected]
      .filter(([mint]) => !named.has(mint))
      .map(([, { volume_usd: volume }]) => volume ?? 0)
    t.equal(named.size + left.length, expected.size)
    t.ok(Math.max(0, ...left) <= (items.at(-1)?.volume_usd ?? 0) + 1e-3, 'none that is left out is larger')
    for (const item of items)
      await compareItem(t, app, item, expected.get(item.mint)!, oracle.headTime, seconds)
  }
}

async function compareItem(
  t: Test,
  app: MarketApp,
  item: Item,
  sums: ExpectedWindow,
  headTime: number,
  seconds: number
): Promise<void> {
  const prices = await pricesOf(app, item.mint)
  const from = Math.floor(headTime / 60) * 60 + 60 - seconds
  const start = (prices.findLast(({ time }) => time < from) ?? prices[0])?.usd ?? null
  const last = prices.at(-1)?.usd ?? null
  const change = start === null || last === null ? null : ((last - start) / start) * 100
  const facts = {
    token: item.token === item.mint,
    trades: item.trades === sums.trades,
    traders: isNear(item.traders, sums.traders, sums.traders > EXACT ? sums.traders * 0.1 : 0),
    volumeUsd: isNear(item.volume_usd, sums.volume_usd, sums.trades * 1e-6),
    unpriced: item.unpriced_trades === sums.unpriced_trades,
    volumeSol: isNear(item.volume_sol, sums.volume_sol),
    price: isNear(item.price_usd, last),
    change: isNear(item.price_change_pct, change, 1e-6)
  }
  t.notOk(Object.values(facts).includes(false), JSON.stringify({ item, sums, facts }))
}

function byVolume(a: Item, b: Item): number {
  return (
    (b.volume_usd ?? 0) - (a.volume_usd ?? 0) ||
    b.trades - a.trades ||
    Buffer.compare(pubkeyFromBase58(a.mint), pubkeyFromBase58(b.mint))
  )
}

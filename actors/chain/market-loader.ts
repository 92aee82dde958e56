import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import { WSOL } from '../../src/market/cash.ts'
import { MarketState, type MarketLimits } from '../../src/market/market-state.ts'
import type { Loaded, Missing } from '../../src/market/missing.ts'
import type { SlotRow, TradeRow } from '../../src/market/rows.ts'
import { minuteOf, restoreSolUsd } from '../../src/market/sol-usd.ts'
import type { Storage } from '../../storage/port.ts'

const SOL_MINT = pubkeyFromBase58(WSOL)
const ROWS_PER_READ = 1000

/** The market as of the committed head, with nothing but the SOL price and the totals loaded. */
export async function restoreMarket(
  storage: Storage,
  head: SlotRow | null,
  limits: Partial<MarketLimits> = {}
): Promise<MarketState> {
  if (head === null) {
    const start = { solUsd: restoreSolUsd(null, null, []), totals: null, headTime: -Infinity }
    return new MarketState(start, limits)
  }
  const minute = minuteOf(head.blockTime)
  const [price, rows, totals] = await Promise.all([
    storage.solPrices.atOrBefore(minute),
    solRowsSince(storage, minute),
    storage.totals.get()
  ])
  const start = { solUsd: restoreSolUsd(head, price, rows), totals, headTime: head.blockTime }
  return new MarketState(start, limits)
}

/** The rows of wrapped SOL from a time on, in cursor order. */
async function solRowsSince(storage: Storage, since: number): Promise<TradeRow[]> {
  const newestFirst: TradeRow[] = []
  let from = cursorAt(2 ** 33 - 1, 0)
  for (;;) {
    const rows = await storage.trades.ofMint(SOL_MINT, { from, order: 'desc', limit: ROWS_PER_READ })
    for (const row of rows) {
      if (row.blockTime < since) return newestFirst.reverse()
      newestFirst.push(row)
    }
    if (rows.length < ROWS_PER_READ) return newestFirst.reverse()
    from = rows.at(-1)!.cursor
  }
}

/** Asks the store for what folding a block needs and memory does not hold. */
export async function loadMissing(storage: Storage, missing: Missing): Promise<Loaded> {
  const [pairs, candles, launches, tokens, pools, curves, hours] = await Promise.all([
    all(missing.pairs, async (at) => ({ ...at, row: await storage.pairs.get(at.mint, at.cash) })),
    all(missing.candles, async (at) => {
      return { ...at, candle: await storage.candles.get(at.mint, at.cash, at.interval, at.ts) }
    }),
    all(missing.launches, async (mint) => ({ mint, launch: await storage.launches.ofMint(mint) })),
    all(missing.tokens, async (mint) => ({ mint, token: await storage.tokens.get(mint) })),
    all(missing.pools, async (pool) => ({ pool, row: await storage.pools.get(pool) })),
    all(missing.curves, async (mint) => ({ mint, curve: await storage.curves.ofMint(mint) })),
    all(missing.hours, async (at) => {
      return { ...at, activity: await storage.activity.get(at.of, at.owner, at.hour) }
    })
  ])
  return { pairs, candles, launches, tokens, pools, curves, hours }
}

function all<T, R>(list: readonly T[], load: (item: T) => Promise<R>): Promise<R[]> {
  return Promise.all(list.map(load))
}

import { pubkeyFromBase58 } from '../src/chain/pubkey.ts'
import { cursorAt } from '../src/market/cursor.ts'
import { WSOL } from '../src/market/cash.ts'
import { MarketState, type Loaded, type Missing } from '../src/market/market-state.ts'
import type { SlotRow, TradeRow } from '../src/market/rows.ts'
import { minuteOf, restoreSolUsd } from '../src/market/sol-usd.ts'
import type { Storage } from '../storage/port.ts'

const SOL_MINT = pubkeyFromBase58(WSOL)
const ROWS_PER_READ = 1000

/** The market as of the committed head, with nothing but the SOL price loaded. */
export async function restoreMarket(storage: Storage, head: SlotRow | null): Promise<MarketState> {
  if (head === null) {
    return new MarketState({ solUsd: restoreSolUsd(null, null, []), newestTime: -Infinity })
  }
  const minute = minuteOf(head.blockTime)
  const price = await storage.solPrices.atOrBefore(minute)
  const rows = await solRowsSince(storage, minute)
  return new MarketState({ solUsd: restoreSolUsd(head, price, rows), newestTime: head.blockTime })
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
  const [pairs, candles, launches] = await Promise.all([
    Promise.all(missing.pairs.map(async (at) => ({ ...at, row: await storage.pairs.get(at.mint, at.cash) }))),
    Promise.all(
      missing.candles.map(async (at) => ({
        ...at,
        candle: await storage.candles.get(at.mint, at.cash, at.interval, at.ts)
      }))
    ),
    Promise.all(missing.launches.map(async (mint) => ({ mint, launch: await storage.launches.ofMint(mint) })))
  ])
  return { pairs, candles, launches }
}

import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import { WSOL } from '../../src/market/cash.ts'
import type { MarketLimits } from '../../src/market/market-limits.ts'
import { EMPTY_START, MarketState } from '../../src/market/market-state.ts'
import type { LoadedRecords, ReadSet } from '../../src/market/read-set.ts'
import { READ_FIRST, type ReadName } from '../../src/market/records.ts'
import type { SlotRow, TradeRow } from '../../src/market/rows.ts'
import { minuteOf, restoreSolUsd } from '../../src/market/sol-usd.ts'
import type { Storage } from '../../storage/port.ts'

const SOL_MINT = pubkeyFromBase58(WSOL)
const ROWS_PER_READ = 1000
/**
 * Maximum reads at once: half of what the client of a cluster has under way. A block of mainnet needs some hundreds, and
 * sixteen that are folded together up to ten thousand.
 */
const READS_AT_ONCE = 1_000

/**
 * Restores the market at the committed head. Only the SOL price and the totals are loaded; other records are
 * loaded on demand.
 */
export async function restoreMarket(
  storage: Storage,
  head: SlotRow | null,
  limits: Partial<MarketLimits> = {}
): Promise<MarketState> {
  if (head === null) return new MarketState(EMPTY_START, limits)
  const minute = minuteOf(head.blockTime)
  const [price, rows, totals] = await Promise.all([
    storage.solPrices.atOrBefore(minute),
    solRowsSince(storage, minute),
    storage.totals.get()
  ])
  return new MarketState({ solUsd: restoreSolUsd(head, price, rows), totals, head }, limits)
}

/** Reads the trades of wrapped SOL since a time (Unix seconds), in cursor order. */
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

/** Reads from the store the records that folding blocks needs and memory does not hold, a bounded number at once. */
export async function loadReadSet(storage: Storage, readSet: ReadSet): Promise<LoadedRecords> {
  const reads = READ_FIRST.flatMap((name) => {
    const store = storage[name] as { get(address: unknown): Promise<unknown> }
    return readSet[name].map((address) => ({ name, address, store }))
  })
  const loaded = Object.fromEntries(READ_FIRST.map((name): [ReadName, unknown[]] => [name, []]))
  for (let at = 0; at < reads.length; at += READS_AT_ONCE) {
    const some = reads.slice(at, at + READS_AT_ONCE)
    const rows = await Promise.all(some.map(async ({ store, address }) => store.get(address)))
    for (const [index, row] of rows.entries())
      loaded[some[index]!.name]!.push({ address: some[index]!.address, row })
  }
  return loaded as unknown as LoadedRecords
}

import { isDeepStrictEqual } from 'node:util'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import type { StorageModel } from './model.ts'

/** What makes of a store like one model one like another, which comes to list the pools that are put. */
export function differenceBetween(from: StorageModel, to: StorageModel): Amendment {
  const [a, b] = [from.content, to.content]
  const byCursor = ({ cursor }: { readonly cursor: number }): string => String(cursor)
  const byPair = ({ mint, cash }: { readonly mint: Pubkey; readonly cash: Pubkey }): string =>
    pubkeyMapKey(mint) + pubkeyMapKey(cash)
  const byMint = ({ mint }: { readonly mint: Pubkey }): string => pubkeyMapKey(mint)
  const launches = editOf(a.launches, b.launches, byMint)
  const solPrices = editOf(a.solPrices, b.solPrices, ({ minute }) => String(minute))
  const candles = editOf(
    a.candles,
    b.candles,
    (upsert) => `${byPair(upsert)}${upsert.interval}${upsert.candle.ts}`
  )
  const tokens = editOf(a.tokens, b.tokens, byMint)
  const curves = editOf(a.curves, b.curves, byMint)
  const pools = editOf(
    a.pools,
    b.pools,
    ({ pool }) => pubkeyMapKey(pool),
    (row) => from.isListed(row) === to.isListed(row)
  )
  for (const pool of pools.put) to.list(pool)
  const slots = editOf(a.slots, b.slots, ({ slot }) => String(slot))
  return {
    head: to.head(),
    slots: { put: slots.put, remove: slots.remove.map(({ slot }) => slot) },
    trades: ordered(editOf(a.trades, b.trades, byCursor)),
    poolEvents: ordered(editOf(a.poolEvents, b.poolEvents, byCursor)),
    log: editOf(a.log, b.log, ({ channel, slot }) => `${channel} ${slot}`),
    candles: {
      put: candles.put,
      remove: candles.remove.map(({ mint, cash, interval, candle: { ts } }) => ({ mint, cash, interval, ts }))
    },
    launches: { put: launches.put, remove: launches.remove.map(({ mint }) => mint) },
    pairs: editOf(a.pairs, b.pairs, byPair),
    solPrices: { put: solPrices.put, remove: solPrices.remove.map(({ minute }) => minute) },
    activity: editOf(a.activity, b.activity, ({ of, owner, hour }) => `${of}${pubkeyMapKey(owner)}${hour}`),
    tokens: { put: tokens.put, remove: tokens.remove.map(({ mint }) => mint) },
    pools: { put: pools.put, remove: pools.remove.map(({ pool }) => pool) },
    curves: { put: curves.put, remove: curves.remove.map(({ mint }) => mint) },
    totals: to.totals(),
    kept: { put: [], remove: [] }
  }
}

function editOf<Row>(
  from: readonly Row[],
  to: readonly Row[],
  keyOf: (row: Row) => string,
  isAlike: (row: Row) => boolean = () => true
): { put: Row[]; remove: Row[] } {
  const before = new Map(from.map((row) => [keyOf(row), row]))
  const after = new Set(to.map(keyOf))
  return {
    put: to.filter((row) => !isDeepStrictEqual(before.get(keyOf(row)), row) || !isAlike(row)),
    remove: from.filter((row) => !after.has(keyOf(row)))
  }
}

function ordered<Row extends { readonly cursor: number }>({ put, remove }: { put: Row[]; remove: Row[] }) {
  const inOrder = (rows: Row[]): Row[] => rows.toSorted((a, b) => a.cursor - b.cursor)
  return { put: inOrder(put), remove: inOrder(remove) }
}

import fc from 'fast-check'
import t from 'tap'
import { pubkeyMapKey, samePubkey } from '../../src/chain/pubkey.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { ActivityHour, ActivityMinute, ActivityOf } from '../../src/market/activity-rows.ts'
import { MARKET } from '../../src/market/activity.ts'
import { eventCursor } from '../../src/market/cursor.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import { NO_TRADERS } from '../../src/market/traders.ts'
import { windowHours, windowOf } from '../../src/market/windows.ts'
import { randomRuns } from '../random-runs.ts'
import { ingest, ingestAll, MemoryStore } from './memory-store.ts'
import { anyChain, block, buy, key, NOON, OPTIONS, SOL, sell, solSale, TOKEN, trade } from './world.ts'

const HOUR = 3_600
const DAY = 86_400

/** Returns the hours that a reader requests from the store. */
function hoursOf(
  store: MemoryStore,
  of: ActivityOf,
  owner: Pubkey,
  time: number,
  seconds: number
): ActivityHour[] {
  const { from, to, limit } = windowHours(time, seconds)
  return [...store.rows.maps.activity.values()]
    .filter((hour) => hour.of === of && samePubkey(hour.owner, owner) && hour.hour >= from && hour.hour < to)
    .sort((a, b) => a.hour - b.hour)
    .slice(-limit)
}

/** Returns a row's price in USD: undefined if it forms no price, null if its cash had no USD price. */
const usdOf = ({ priceForming, price, cashUsd }: TradeRow): number | null | undefined =>
  !priceForming ? undefined : cashUsd === null ? null : price! * cashUsd

t.test('at any moment a window equals a recomputation from rows', async (t) => {
  let priced = 0
  fc.assert(
    fc.property(anyChain, fc.constantFrom(300, HOUR, 6 * HOUR, DAY), fc.nat(), (chain, seconds, at) => {
      const until = chain.slice(0, (at % chain.length) + 1)
      const { store } = ingestAll(until, OPTIONS)
      const time = store.head!.blockTime
      const from = Math.floor(time / 60) * 60 + 60 - seconds
      const rows = store.trades.filter((row) => samePubkey(row.mint, TOKEN))
      const within = rows.filter((row) => row.blockTime >= from)
      const hours = hoursOf(store, 'mint', TOKEN, time, seconds)
      const lastUsd = store.rows.maps.tokens.get(pubkeyMapKey(TOKEN))?.lastUsd ?? null
      const window = windowOf(hours, time, seconds, lastUsd)

      t.same([window.from, window.to], [from, from + seconds])
      t.equal(window.trades, within.length)
      t.equal(window.buys, within.filter(({ cashSide }) => cashSide === 'in').length)
      t.equal(window.sells, within.filter(({ cashSide }) => cashSide === 'out').length)
      t.equal(window.traders, new Set(within.map((row) => pubkeyMapKey(row.user))).size)
      t.equal(
        window.volumeToken,
        sum(within.map((row) => (samePubkey(row.inMint, TOKEN) ? row.inAmount : row.outAmount)))
      )
      const valued = within.filter(({ cashSide, cashUsd }) => cashSide !== null && cashUsd !== null)
      const usd = sum(valued.map(microUsd))
      t.equal(window.volumeMicroUsd, within.length > 0 && valued.length === 0 ? null : usd)
      t.equal(window.unpriced, within.length - valued.length)
      if (window.volumeMicroUsd !== null) {
        t.equal(window.buyMicroUsd! + window.sellMicroUsd!, usd)
        t.equal(window.buyMicroUsd, sum(valued.filter(({ cashSide }) => cashSide === 'in').map(microUsd)))
      }
      const forming = rows.filter((row) => row.priceForming)
      const [start, end] = [
        forming.findLast((row) => row.blockTime < from) ?? forming[0],
        forming.at(-1)
      ].map((row) => (row === undefined ? null : usdOf(row)))
      t.equal(window.changePct, start == null || end == null ? null : ((end - start) / start) * 100)
      if (window.changePct !== null) priced++
    }),
    randomRuns(150, 41)
  )
  t.ok(priced > 20)
})

t.test('the market’s window counts each trade once, and its launches', async (t) => {
  fc.assert(
    fc.property(anyChain, fc.constantFrom(HOUR, DAY), (chain, seconds) => {
      const { store } = ingestAll(chain, OPTIONS)
      const time = store.head!.blockTime
      const from = Math.floor(time / 60) * 60 + 60 - seconds
      const rows = store.trades.filter((row) => row.blockTime >= from && row.cursor === eventCursor(row))
      const window = windowOf(hoursOf(store, 'market', MARKET, time, seconds), time, seconds)
      t.equal(window.trades, rows.length)
      t.equal(window.traders, new Set(rows.map((row) => pubkeyMapKey(row.user))).size)
      t.equal(
        window.launches,
        [...store.rows.maps.launches.values()].filter((row) => row.blockTime >= from).length
      )
      const lamports = rows.map((row) => {
        if (row.cashSide === null) return 0n
        const [mint, amount] =
          row.cashSide === 'in' ? [row.inMint, row.inAmount] : [row.outMint, row.outAmount]
        return samePubkey(mint, SOL) ? amount : 0n
      })
      t.equal(window.volumeCash, sum(lamports))
    }),
    randomRuns(40, 42)
  )
})

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

function microUsd(row: TradeRow): bigint {
  const [amount, decimals] =
    row.cashSide === 'in' ? [row.inAmount, row.inDecimals] : [row.outAmount, row.outDecimals]
  return BigInt(Math.round((Number(amount) / 10 ** decimals) * row.cashUsd! * 1e6))
}

/** Returns an hour with one minute that traded, at a price. */
function hourAt(minute: number, usd: number | null, fields: Partial<ActivityHour> = {}): ActivityHour {
  const counts = { events: 2, trades: 1, buys: 1, sells: 0, liquidity: 1, launches: 0, priced: 1 }
  const sums = { volumeMicroUsd: 7n, buyMicroUsd: 7n, sellMicroUsd: 0n, volumeCash: 3n, volumeToken: 5n }
  const minutes: ActivityMinute[] = [{ minute, ...counts, ...sums, openUsd: usd, closeUsd: usd }]
  const hour = minute - (minute % HOUR)
  return { of: 'mint', owner: TOKEN, hour, minutes, priorUsd: null, traders: NO_TRADERS, ...fields }
}

t.test('a window is its whole minutes, the running one included', async (t) => {
  const hours = [hourAt(NOON - 300, 1), hourAt(NOON, 2)]
  t.equal(windowOf(hours, NOON + 59, 300).trades, 1)
  t.equal(windowOf(hours, NOON - 1, 300).trades, 1)
  t.equal(windowOf(hours, NOON + 59, 360).trades, 2)
  t.equal(windowOf(hours, NOON - 241, 60).trades, 1)
  t.equal(windowOf(hours, NOON - 240, 60).trades, 0)
})

t.test('the change is counted from the last price before the window, else from its first', async (t) => {
  t.equal(windowOf([hourAt(NOON - 60, 4), hourAt(NOON, 5)], NOON, 60).changePct, 25)
  t.equal(windowOf([hourAt(NOON, 5, { priorUsd: 4 })], NOON, 60).changePct, 25)
  t.equal(
    windowOf(
      [hourAt(NOON + 60, 5, { priorUsd: 4 }), hourAt(NOON + HOUR, 6, { priorUsd: 5 })],
      NOON + HOUR,
      HOUR
    ).changePct,
    50
  )
  t.equal(windowOf([hourAt(NOON, 4), hourAt(NOON + HOUR, 5)], NOON + HOUR, 2 * HOUR).changePct, 25)
})

t.test('nothing happened: no change of a known price, and none of an unknown one', async (t) => {
  t.match(windowOf([], NOON, 60, 3), { trades: 0, volumeMicroUsd: 0n, traders: 0, changePct: 0 })
  t.match(windowOf([], NOON, 60), { trades: 0, volumeMicroUsd: 0n, traders: 0, changePct: null })
  t.equal(windowOf([hourAt(NOON - 60, 4)], NOON, 60).changePct, 0)
})

t.test('prices in USD are compared with each other alone: a price without one gives no change', async (t) => {
  const unpriced = { openUsd: 'unpriced', closeUsd: 'unpriced' } as const
  const withPrices = (hour: ActivityHour, prices: Partial<ActivityMinute>): ActivityHour => ({
    ...hour,
    minutes: hour.minutes.map((minute) => ({ ...minute, ...prices }))
  })
  const [first, second] = [hourAt(NOON - 60, 4), hourAt(NOON, 5)]
  t.equal(windowOf([first, withPrices(second, unpriced)], NOON, 60, 'unpriced').changePct, null, 'at the end')
  t.equal(windowOf([withPrices(first, unpriced), second], NOON, 60, 5).changePct, null, 'before the window')
  const mixed = withPrices(second, { openUsd: 'unpriced' })
  t.equal(windowOf([mixed], NOON, 60, 5).changePct, null, 'its first')
  t.equal(windowOf([first, mixed], NOON, 60, 5).changePct, 25, 'between two that are known')
  t.equal(windowOf([hourAt(NOON, 5, { priorUsd: 'unpriced' })], NOON, 60, 5).changePct, null)
  t.equal(windowOf([first], NOON + HOUR, 60, 'unpriced').changePct, null, 'nothing happened')
})

t.test('trades that nothing prices have a volume in USD that is unknown, not zero', async (t) => {
  const { store } = ingestAll([block(1, NOON, [buy(10n ** 9n, 10n ** 6n)])], OPTIONS)
  const unpriced = windowOf(hoursOf(store, 'mint', TOKEN, NOON, 60), NOON, 60)
  t.match(unpriced, { trades: 1, volumeCash: 10n ** 9n, changePct: null })
  t.same([unpriced.volumeMicroUsd, unpriced.buyMicroUsd, unpriced.sellMicroUsd], [null, null, null])
})

t.test('who traded in a window that ended earlier is not known, and in a pool neither', async (t) => {
  const hours = [hourAt(NOON - 60, 1), hourAt(NOON, 2)]
  t.equal(windowOf(hours, NOON - 1, 300).traders, null)
  t.equal(windowOf(hours, NOON, 300).traders, 0)
  t.equal(windowOf([hourAt(NOON, null, { of: 'pool' })], NOON, 300).traders, null)
})

t.test('a trader counts from the minute of the hour in which he was last seen', async (t) => {
  const store = new MemoryStore()
  const state = store.restart()
  const by = (user: number, seconds: number) =>
    ingest(
      store,
      state,
      block(seconds + 1, NOON + seconds, [buy(10n ** 9n, 10n ** 6n, { user: key(user) })]),
      OPTIONS
    )
  by(301, 0)
  by(302, 0)
  by(301, 600)
  by(303, 1_200)
  const tradersOf = (seconds: number) =>
    windowOf(hoursOf(store, 'mint', TOKEN, NOON + 1_200, seconds), NOON + 1_200, seconds).traders
  t.same([60, 600, 660, 1_260].map(tradersOf), [1, 1, 2, 3])
})

t.test('a trade without cash is one of its pool and the market, and one under each mint', async (t) => {
  const swap = trade({ inMint: TOKEN, outMint: key(2), inAmount: 5n, outAmount: 8n })
  const { store } = ingestAll([block(1, NOON, [solSale(100), swap, sell(4n, 10n ** 6n)])], OPTIONS)
  const of = (kind: ActivityOf, owner: Pubkey) => windowOf(hoursOf(store, kind, owner, NOON, 60), NOON, 60)
  t.match(of('market', MARKET), { trades: 3, buys: 0, sells: 2, events: 3, volumeCash: 10n ** 6n })
  t.match(of('mint', TOKEN), { trades: 2, buys: 0, sells: 1, volumeToken: 9n, volumeCash: 10n ** 6n })
  t.match(of('mint', key(2)), { trades: 1, buys: 0, sells: 0, volumeToken: 8n, volumeMicroUsd: null })
  t.match(of('pool', swap.pool), { trades: 2, volumeToken: 9n, volumeCash: 10n ** 6n, traders: null })
})

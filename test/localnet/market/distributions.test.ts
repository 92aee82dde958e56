import t, { type Test } from 'tap'
import { pubkeyMapKey } from '../../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../../src/chain/token-accounts.ts'
import { DAY_END, DAY_START, liveDay, SLOT_SECONDS, type DayTrade } from './lived-day.ts'
import { IS_LONG } from '../../random-runs.ts'

// Ranges and their sources: src/docs/decisions/0009-localnet.md.

const HOUR = 3_600
const SOL = pubkeyMapKey(NATIVE_MINT)
/** Venues with a pool of SOL and USDC: all with pools but pumpswap and raydium-stable. */
const SOL_VENUES = 9
/** After the past. */
const LIVE_SECONDS = 240
const LIVE_SLOTS = LIVE_SECONDS / SLOT_SECONDS

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
const usdOf = (trades: readonly DayTrade[]): number => sumOf(trades.map(({ usd }) => usd))

function holds(t: Test, what: string, value: number, [low, high]: readonly [number, number]): void {
  t.ok(value >= low && value <= high, `${what}: ${value.toFixed(4)}, held to ${low} to ${high}`)
}

for (const seed of IS_LONG ? ['granite', 'plum', 'kelp'] : ['granite']) {
  t.test(`a day of seed ${seed} has the distributions that are described of mainnet`, async (t) => {
    const { launches, graduations, trades, solPrices, transactions } = liveDay(seed, LIVE_SLOTS)
    t.comment(`${transactions} transactions, ${launches.length} launches, ${graduations} graduations`)
    const tradesOf = (mint: string): readonly DayTrade[] => trades.get(mint) ?? []

    await t.test('most launched coins die, one in a hundred graduates', async (t) => {
      holds(t, 'launches', launches.length, [200, 400])
      holds(t, 'graduations by launch', graduations / launches.length, [0.005, 0.015])
      const old = launches.filter(({ time, mint }) => time < DAY_END - 2 * HOUR && tradesOf(mint).length > 0)
      const dead = old.filter(({ mint, time }) => tradesOf(mint).at(-1)!.time <= time + HOUR)
      holds(t, 'share without a trade after the first hour', dead.length / old.length, [0.69, 0.98])
      const below = old.filter(({ mint, time }) => {
        const first = tradesOf(mint).filter((trade) => trade.time <= time + 60)
        if (first.length === 0) return false
        const paid = usdOf(first) / sumOf(first.map(({ usd, price }) => usd / price))
        return tradesOf(mint).findLast((trade) => trade.time <= time + HOUR)!.price < paid
      })
      holds(t, 'share below the launch price after an hour', below.length / old.length, [0.8, 0.986])
      const risen = old.filter(({ mint }) => tradesOf(mint).at(-1)!.price > 2 * tradesOf(mint)[0]!.price)
      holds(t, 'share that is worth twice as much', risen.length / old.length, [0.003, 0.08])
    })

    await t.test('launches come in bursts, and are sniped in their own block', async (t) => {
      const tens = new Array<number>(144).fill(0)
      for (const { time } of launches) if (time < DAY_END) tens[Math.floor((time - DAY_START) / 600)]!++
      const mean = sumOf(tens) / tens.length
      const variance = sumOf(tens.map((count) => (count - mean) ** 2)) / tens.length
      // Variance over mean is one if launches are independent.
      holds(t, 'variance over mean of launches in ten minutes', variance / mean, [1.5, 8])
      const sniped = launches.filter(({ mint, slot, creator }) =>
        tradesOf(mint).some((trade) => trade.slot === slot && trade.isBuy && trade.user !== creator)
      )
      holds(t, 'share bought by another wallet in its block', sniped.length / launches.length, [0.5, 0.85])
    })

    await t.test('prices of SOL agree between venues within their fees', async (t) => {
      const spreads = solPrices
        .filter((prices) => prices.size === SOL_VENUES)
        .map((prices) => Math.max(...prices.values()) / Math.min(...prices.values()) - 1)
        .sort((a, b) => a - b)
      t.ok(spreads.length > 30, `${spreads.length} looks at ${SOL_VENUES} venues`)
      holds(t, 'median of the widest spread', spreads[spreads.length >> 1]!, [0.0005, 0.005])
      // The fees of the two dearest venues together: 0.35 and 0.3 %.
      holds(t, 'widest spread', spreads.at(-1)!, [0, 0.0065])
    })

    await t.test('ten tokens have most of the volume, with winners and losers behind them', async (t) => {
      const ranked = [...trades]
        .map(([mint, list]) => ({ mint, list: list.filter(({ time }) => time < DAY_END) }))
        .filter(({ list }) => list.length > 0)
        .sort((a, b) => usdOf(b.list) - usdOf(a.list))
      const all = sumOf(ranked.map(({ list }) => usdOf(list)))
      t.ok(ranked.length > 200, `${ranked.length} tokens have traded`)
      t.equal(ranked[0]!.mint, SOL)
      holds(t, 'share of SOL', usdOf(ranked[0]!.list) / all, [0.35, 0.8])
      const topTen = sumOf(ranked.slice(0, 10).map(({ list }) => usdOf(list)))
      holds(t, 'share of the top ten', topTen / all, [0.75, 0.97])
      const changes = ranked.slice(0, 50).map(({ list }) => list.at(-1)!.price / list[0]!.price - 1)
      holds(t, 'winners of fifty', changes.filter((change) => change > 0).length, [10, 40])
      holds(t, 'losers of fifty', changes.filter((change) => change < 0).length, [10, 40])
      const hourly = (hours: number): number =>
        usdOf(
          [...trades.values()].flat().filter(({ time }) => time >= DAY_END - hours * HOUR && time < DAY_END)
        )
      holds(t, 'share of the last hour in the day', hourly(1) / hourly(24), [0.02, 0.25])
    })

    await t.test(
      'the last hour of the past trades for as many dollars as the live slots after it',
      async (t) => {
        const all = [...trades.values()].flat()
        const past = usdOf(all.filter(({ time }) => time >= DAY_END - HOUR && time < DAY_END))
        const live = usdOf(all.filter(({ time }) => time >= DAY_END))
        holds(t, 'live dollars an hour over those of the past', (live * HOUR) / LIVE_SECONDS / past, [0.5, 2])
      }
    )

    await t.test('few wallets do most of the trades, and every venue has some', async (t) => {
      const counts = new Map<string, number>()
      const all = [...trades.values()].flat()
      for (const { user } of all) counts.set(user, (counts.get(user) ?? 0) + 1)
      const busiest = [...counts.values()].sort((a, b) => b - a).slice(0, Math.ceil(counts.size / 10))
      holds(t, 'share of the busiest tenth', sumOf(busiest) / all.length, [0.4, 0.85])
      t.equal(new Set(all.map(({ venue }) => venue)).size, 15)
    })
  })
}

t.test('a seed repeats the same day but for its time', async (t) => {
  const [first, second] = [liveDay('marten', 0, 60), liveDay('marten', 0, 60)]
  t.same(second, first)
  t.notSame(liveDay('heron', 0, 10).launches[0], first.launches[0])
})

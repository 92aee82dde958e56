import fc from 'fast-check'
import t from 'tap'
import type { ActivityHour, ActivityMinute, UsdPrice } from '../../src/market/activity-rows.ts'
import { keyHash } from '../../src/market/hyperloglog.ts'
import { RolledMint } from '../../src/market/rolled-mint.ts'
import { addTraders, NO_TRADERS } from '../../src/market/traders.ts'
import { foldWindow } from '../../src/market/windows.ts'
import { randomRuns } from '../random-runs.ts'
import { key, NOON, TOKEN } from './world.ts'

const HOUR = 3_600
const SPANS = [300, HOUR, 6 * HOUR, 24 * HOUR]

/** A minute with events: the time since the previous one, the trades, and the number and choice of wallets. */
const anyMinute = fc.record({
  after: fc.oneof(
    { arbitrary: fc.integer({ min: 0, max: 4 }), weight: 6 },
    { arbitrary: fc.integer({ min: 5, max: 200 }), weight: 2 },
    { arbitrary: fc.integer({ min: 200, max: 3_000 }), weight: 1 }
  ),
  buys: fc.integer({ min: 0, max: 3 }),
  sells: fc.integer({ min: 0, max: 3 }),
  swaps: fc.integer({ min: 0, max: 1 }),
  micros: fc.option(fc.bigInt({ min: 0n, max: 2n ** 44n })),
  usd: fc.constantFrom<UsdPrice>(null, null, 'unpriced', 0.5, 1, 3, 7.25),
  traders: fc.constantFrom<number>(0, 1, 3, 40, 270),
  wallet: fc.integer({ min: 0, max: 600 })
})
type MinutePlan = typeof anyMinute extends fc.Arbitrary<infer Plan> ? Plan : never

const hashes = Array.from({ length: 900 }, (_, n) => keyHash(key(n)))

/** A mint's stored hours, and the block time and changed hour of each block. */
function storyOf(plans: readonly MinutePlan[]) {
  const hours: ActivityHour[] = []
  const steps: { readonly time: number; readonly hour: ActivityHour }[] = []
  let minute = NOON
  let lastUsd: UsdPrice = null
  for (const { after, buys, sells, swaps, micros, usd, traders, wallet } of plans) {
    minute += after * 60
    const start = Math.floor(minute / HOUR) * HOUR
    const isStored = hours.at(-1)?.hour === start
    const before: ActivityHour = isStored
      ? hours.pop()!
      : { of: 'mint', owner: TOKEN, hour: start, minutes: [], priorUsd: lastUsd, traders: NO_TRADERS }
    const known = before.minutes.at(-1)
    const stored = known?.minute === minute ? known : undefined
    const bought = micros === null ? 0n : micros * BigInt(buys)
    const sold = micros === null ? 0n : micros * BigInt(sells)
    const row: ActivityMinute = {
      minute,
      events: (stored?.events ?? 0) + buys + sells + swaps + 1,
      trades: (stored?.trades ?? 0) + buys + sells + swaps,
      buys: (stored?.buys ?? 0) + buys,
      sells: (stored?.sells ?? 0) + sells,
      liquidity: 0,
      launches: 0,
      priced: (stored?.priced ?? 0) + (micros === null ? 0 : buys + sells),
      volumeMicroUsd: (stored?.volumeMicroUsd ?? 0n) + bought + sold,
      buyMicroUsd: (stored?.buyMicroUsd ?? 0n) + bought,
      sellMicroUsd: (stored?.sellMicroUsd ?? 0n) + sold,
      volumeCash: (stored?.volumeCash ?? 0n) + (micros ?? 7n),
      volumeToken: 0n,
      openUsd: stored?.openUsd ?? usd,
      closeUsd: usd ?? stored?.closeUsd ?? null
    }
    lastUsd = usd ?? lastUsd
    const hour = {
      ...before,
      minutes: [...before.minutes.slice(0, stored === undefined ? undefined : -1), row],
      traders: addTraders(before.traders, hashes.slice(wallet, wallet + traders), (minute - start) / 60)
    }
    hours.push(hour)
    steps.push({ time: minute + 17, hour })
  }
  return { hours, steps }
}

/** The windows that the stored hours of the last day give at a time, as they are read from the store. */
function folded(hours: readonly ActivityHour[], time: number) {
  const to = Math.floor(time / 60) * 60 + 60
  const read = hours.filter(({ hour }) => hour >= Math.floor((to - 24 * HOUR) / HOUR) * HOUR && hour < to)
  return SPANS.map((span) => {
    const { from, trades, buys, sells, volumeMicroUsd, buyMicroUsd, sellMicroUsd, ...rest } = foldWindow(
      read,
      time,
      span
    )
    const { unpriced, volumeCash, traders, startUsd, endUsd } = rest
    const sums = { volumeMicroUsd, buyMicroUsd, sellMicroUsd, unpriced, volumeCash }
    return { from, to: rest.to, trades, buys, sells, ...sums, traders, startUsd, endUsd }
  })
}

t.test('at every block the windows of a rolled mint are those of its stored hours', (t) => {
  let estimated = 0
  fc.assert(
    fc.property(fc.array(anyMinute, { minLength: 1, maxLength: 60 }), fc.nat(), (plans, at) => {
      const start = at % plans.length
      const { hours } = storyOf(plans.slice(0, start + 1))
      const from = hours.at(-1)!.hour - 26 * HOUR
      const rolled = RolledMint.of(
        from,
        hours.filter(({ hour }) => hour >= from)
      )
      if (rolled === null) return void t.fail('not rolled')
      for (let n = start; n < plans.length; n++) {
        const story = storyOf(plans.slice(0, n + 1))
        const { time, hour } = story.steps.at(-1)!
        if (n > start) t.equal(rolled.apply(hour, time), true)
        // The head is the mint's block, a later one, or one just before.
        for (const late of [0, 60, 3_540, 40_000, -60, -3_600]) {
          const windows = SPANS.map((span) => rolled.window(time + late, span, { traders: true }))
          t.strictSame(windows, folded(story.hours, time + late))
          if ((windows.at(-1)!.traders ?? 0) > 270) estimated++
        }
      }
    }),
    randomRuns(30, 8)
  )
  t.ok(estimated > 50)
  t.end()
})

t.test('a mint of which a minute’s volume may overflow, or whose time falls, is not rolled', (t) => {
  const plan = { after: 0, buys: 1, sells: 0, swaps: 0, micros: 5n, usd: 1, traders: 1, wallet: 1 }
  const small = storyOf([plan])
  const rolled = RolledMint.of(0, small.hours)!
  const huge = storyOf([plan, { ...plan, after: 1, micros: 2n ** 52n }]).steps[1]!
  t.equal(RolledMint.of(0, [huge.hour]), null)
  t.equal(rolled.apply(huge.hour, huge.time), false)
  t.equal(rolled.apply(small.hours[0]!, NOON - 1), false)
  t.end()
})

t.test('a rolled mint keeps a day, however long it is followed', (t) => {
  const plan = { after: 20, buys: 1, sells: 1, swaps: 0, micros: 5n, usd: 1, traders: 1, wallet: 1 }
  const { hours, steps } = storyOf(Array.from({ length: 1_000 }, () => plan))
  const rolled = RolledMint.of(0, hours.slice(0, 1))!
  const sizes = steps.slice(4).map(({ hour, time }) => {
    rolled.apply(hour, time)
    return rolled.bytes
  })
  t.ok(Math.max(...sizes.slice(500)) <= Math.max(...sizes.slice(0, 500)))
  const last = steps.at(-1)!
  t.strictSame(
    SPANS.map((span) => rolled.window(last.time, span, { traders: true })),
    folded(hours, last.time)
  )
  t.end()
})

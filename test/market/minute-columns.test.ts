import fc from 'fast-check'
import t from 'tap'
import type { ActivityHour } from '../../src/market/activity-rows.ts'
import { foldColumns, MinuteColumns } from '../../src/market/minute-columns.ts'
import { foldWindow } from '../../src/market/windows.ts'
import { Choices } from '../../storage/test/choices.ts'
import { sampleHour } from '../../storage/test/sample-activity.ts'
import { sampleMint } from '../../storage/test/sample-addresses.ts'
import { randomRuns } from '../random-runs.ts'
import { addHour } from './hour-columns.ts'

const FIRST = 1_760_004_000
const HOUR = 3_600

/** Hours of a mint, oldest first, some of them missing; of a seed in ten with sums that columns lack. */
const anyHours = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 12 })).map(([seed, count]): ActivityHour[] => {
  const choices = new Choices(seed)
  const all = Array.from({ length: count }, (_, at) =>
    sampleHour(choices, 'mint', sampleMint(1), FIRST + HOUR * at)
  )
  const kept = all.filter(({ minutes }) => minutes.length > 0 && choices.chance(0.8))
  if (seed % 10 === 0) return kept.map((hour) => ({ ...hour, traders: new Uint8Array(0) }))
  return kept.map((hour) => ({
    ...hour,
    traders: new Uint8Array(0),
    minutes: hour.minutes.map((minute) => ({
      ...minute,
      volumeMicroUsd: BigInt(choices.below(2 ** 40)),
      buyMicroUsd: BigInt(choices.below(2 ** 40)),
      sellMicroUsd: BigInt(choices.below(2 ** 40)),
      volumeCash: BigInt(choices.below(2 ** 44)),
      openUsd: choices.chance(0.3) ? null : minute.openUsd
    }))
  }))
})

function columnsOf(hours: readonly ActivityHour[]): MinuteColumns | null {
  const columns = new MinuteColumns()
  return hours.every((hour) => addHour(columns, hour)) ? columns : null
}

/** Tells whether all sums of some hours are exact as numbers. */
const isWhole = (hours: readonly ActivityHour[]): boolean =>
  hours.every(({ minutes }) =>
    minutes.every(({ volumeMicroUsd, buyMicroUsd, sellMicroUsd, volumeCash }) =>
      [volumeMicroUsd, buyMicroUsd, sellMicroUsd, volumeCash].every((sum) =>
        Number.isSafeInteger(Number(sum))
      )
    )
  )

t.test('a window of columns is the window of the hours, to the bit', async (t) => {
  let [folded, refused] = [0, 0]
  fc.assert(
    fc.property(anyHours, fc.nat(12 * 60), fc.constantFrom(300, HOUR, 6 * HOUR), (hours, minute, seconds) => {
      const time = FIRST + 60 * minute
      const columns = columnsOf(hours)
      t.equal(columns !== null, isWhole(hours))
      if (columns === null) return void refused++
      folded++
      const { from, to, trades, buys, sells, volumeMicroUsd, buyMicroUsd, ...rest } = foldWindow(
        hours,
        time,
        seconds
      )
      const { sellMicroUsd, unpriced, volumeCash, traders, startUsd, endUsd } = rest
      const expected = {
        ...{ from, to, trades, buys, sells, volumeMicroUsd, buyMicroUsd, sellMicroUsd, unpriced, volumeCash },
        ...{ traders, startUsd, endUsd }
      }
      t.strictSame(foldColumns(columns, time, seconds, { traders: true }), expected)
      t.strictSame(foldColumns(columns, time, seconds, { traders: false }), { ...expected, traders: null })
    }),
    randomRuns(200)
  )
  t.ok(folded > refused && refused > 0, `${folded} folded, ${refused} refused`)
})

t.test('a sum of 2^53 or more is refused, though each minute fits', async (t) => {
  const minute = { events: 1, trades: 1, buys: 1, sells: 0, liquidity: 0, launches: 0, priced: 1 }
  const hour: ActivityHour = {
    ...{ of: 'mint', owner: sampleMint(1), hour: FIRST, priorUsd: null, traders: new Uint8Array(0) },
    minutes: [0, 60].map((offset) => ({
      ...{ ...minute, minute: FIRST + offset, volumeMicroUsd: 2n ** 52n, buyMicroUsd: 0n, sellMicroUsd: 0n },
      ...{ volumeCash: 1n, volumeToken: 2n ** 70n, openUsd: 1, closeUsd: 1 }
    }))
  }
  const columns = columnsOf([hour])!
  t.equal(foldColumns(columns, FIRST + 120, HOUR, { traders: false }), null)
  t.equal(foldColumns(columns, FIRST, HOUR, { traders: false })?.volumeMicroUsd, 2n ** 52n)
})

import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import type { ActivityHour, ActivityMinute } from '../../src/market/activity-rows.ts'
import { activityKind } from '../../storage/codec/activity.ts'
import { activityKey, hourlyMintVolumeKey } from '../../storage/codec/keys.ts'
import { packRecord, unpackRecord } from '../../storage/codec/record.ts'
import { hourlyMintVolumeKind, mintVolumeMinutes } from '../../storage/codec/hourly-mint-volume.ts'
import { key } from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'

const HOUR = 1_700_000_400 - (1_700_000_400 % 3_600)
const OWNER = key(1)
const KEY = activityKey('mint', OWNER, HOUR)
const HOURLY_MINT_VOLUME_KEY = hourlyMintVolumeKey(HOUR, OWNER)

const anyPrice = fc.oneof(
  { weight: 4, arbitrary: fc.double({ min: 1e-9, max: 1e9, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(null, 'unpriced' as const) }
)
const anyMinute = fc.record({
  at: fc.nat(59),
  trades: fc.nat(500),
  events: fc.nat(900),
  liquidity: fc.nat(3),
  volume: fc.bigInt(0n, 2n ** 70n),
  openUsd: anyPrice,
  closeUsd: anyPrice
})

function minuteOf({ at, trades, events, liquidity, volume, openUsd, closeUsd }: Sums): ActivityMinute {
  const counts = { trades, events, liquidity, launches: 0, buys: trades, sells: 0, priced: trades }
  const usd = { volumeMicroUsd: volume, buyMicroUsd: volume, sellMicroUsd: 0n }
  const amounts = { ...usd, volumeCash: volume, volumeToken: 2n * volume }
  return { minute: HOUR + 60 * at, ...counts, ...amounts, openUsd, closeUsd }
}
type Sums = typeof anyMinute extends fc.Arbitrary<infer Value> ? Value : never

/** Returns the minutes with one replaced or inserted by its time; all other minutes are identical objects. */
function withMinute(minutes: readonly ActivityMinute[], minute: ActivityMinute): ActivityMinute[] {
  return [...minutes.filter((other) => other.minute !== minute.minute), minute].sort(
    (a, b) => a.minute - b.minute
  )
}

const hourWith = (minutes: readonly ActivityMinute[]): ActivityHour => ({
  of: 'mint',
  owner: OWNER,
  hour: HOUR,
  minutes,
  priorUsd: 1.5,
  traders: Uint8Array.of(1, 2, 3)
})

/** Returns the bytes of an hour and of its mint's hourly volume. */
const packed = (hour: ActivityHour): Buffer =>
  Buffer.concat([
    packedHour(hour),
    packRecord(hourlyMintVolumeKind, HOURLY_MINT_VOLUME_KEY, mintVolumeMinutes(hour))
  ])
const packedHour = (hour: ActivityHour): Buffer => Buffer.from(packRecord(activityKind, KEY, hour))

t.test(
  'an hour that grows, or is changed anywhere, is written as one that nobody has seen before',
  async () => {
    const anyStep = fc.oneof(
      { weight: 4, arbitrary: anyMinute.map((sums) => ({ kind: 'put' as const, sums })) },
      { weight: 1, arbitrary: fc.nat(59).map((index) => ({ kind: 'remove' as const, index })) }
    )
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 1, maxLength: 40 }), (steps) => {
        let minutes: readonly ActivityMinute[] = []
        return steps.every((step) => {
          if (step.kind === 'put') minutes = withMinute(minutes, minuteOf(step.sums))
          else minutes = minutes.filter((_, index) => index !== step.index)
          const hour = hourWith(minutes)
          return (
            packed(hour).equals(packed(structuredClone(hour))) &&
            isDeepStrictEqual(unpackRecord(activityKind, KEY, packedHour(hour)).minutes, minutes)
          )
        })
      }),
      randomRuns(100)
    )
  }
)

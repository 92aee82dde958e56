import assert from 'node:assert/strict'
import type { Test } from 'tap'
import type { Pubkey } from '../../../src/chain/pubkey.ts'
import { withActiveHour, type ActiveHours } from '../../../src/market/active-hours.ts'
import type { ActivityHour } from '../../../src/market/activity-rows.ts'
import { MinuteColumns } from '../../../src/market/minute-columns.ts'
import type { HourlyMintVolume, Storage } from '../../port.ts'
import { Choices } from '../choices.ts'
import { hourlyMintVolumeOf } from '../model.ts'
import { sampleMint, samplePool } from '../sample-addresses.ts'
import { sampleHour } from '../sample-activity.ts'
import { emptyBlock } from '../sample-blocks.ts'
import type { OpenForTest } from '../under-test.ts'

const HOUR = 1_760_000_400
const [mint, other] = [sampleMint(0), sampleMint(1)]

/** Commits hours of activity, each in a block of its own at the end of its hour. */
async function commitHours(storage: Storage, hours: readonly ActivityHour[]): Promise<void> {
  for (const [index, activity] of hours.entries()) {
    const block = emptyBlock(index)
    const slot = { ...block.slot, blockTime: activity.hour + 3_599 }
    await storage.blocks.commit({ ...block, slot, activity: [activity] })
  }
}

/** Returns an hour of a mint that has a trade. */
function sampleTradedHour(choices: Choices, owner: Pubkey): ActivityHour {
  for (;;) {
    const hour = sampleHour(choices, 'mint', owner, HOUR)
    if (hourlyMintVolumeOf(hour).minutes.length > 0) return hour
  }
}

export async function testActivity(t: Test, open: OpenForTest): Promise<void> {
  t.test('an hour is the last one written of its owner, and each owner has its own', async (t) => {
    const { storage } = await open(t)
    const choices = new Choices(11)
    const first = sampleHour(choices, 'mint', mint, HOUR)
    const last = sampleHour(choices, 'mint', mint, HOUR)
    const pool = sampleHour(choices, 'pool', mint, HOUR)
    const market = sampleHour(choices, 'market', new Uint8Array(32), HOUR)
    await commitHours(storage, [first, pool, market, last])
    assert.deepStrictEqual(await storage.activity.get({ of: 'mint', owner: mint, hour: HOUR }), last)
    assert.deepStrictEqual(
      await storage.activity.get({ of: 'pool', owner: mint, hour: HOUR }),
      pool,
      'of the same address'
    )
    assert.deepStrictEqual(
      await storage.activity.get({ of: 'market', owner: market.owner, hour: HOUR }),
      market
    )
    t.equal(await storage.activity.get({ of: 'mint', owner: mint, hour: HOUR - 3_600 }), null)
    t.equal(await storage.activity.get({ of: 'mint', owner: other, hour: HOUR }), null)
  })

  t.test('a range has all hours with an event that a caller does not rule out', async (t) => {
    const { storage } = await open(t)
    const choices = new Choices(14)
    const hours = [0, 1, 4, 5, 9].map((n) => {
      const hour = sampleHour(choices, 'mint', mint, HOUR + 3_600 * n)
      const sums = { volumeMicroUsd: 5n, buyMicroUsd: 3n, sellMicroUsd: 2n, volumeCash: 7n }
      return { ...hour, minutes: hour.minutes.map((minute) => ({ ...minute, ...sums })) }
    })
    await commitHours(storage, hours)
    const active = hours.reduce<ActiveHours | undefined>(
      (known, { hour }) => withActiveHour(known, hour, false),
      undefined
    )!
    for (const from of [HOUR - 36_000, HOUR, HOUR + 7_200])
      for (const to of [HOUR + 18_000, HOUR + 54_000]) {
        const range = { from, to, limit: 7 }
        const plain = await storage.activity.range('mint', mint, range)
        assert.deepStrictEqual(await storage.activity.range('mint', mint, { ...range, active }), plain)
        const columns = new MinuteColumns()
        const found = await storage.activity.minutesOfMint?.(mint, { ...range, active }, columns)
        if (found === undefined || found === null) continue
        t.strictSame(
          found.map(({ hour, minutes }) => [hour, minutes]),
          plain.map(({ hour, minutes }) => [hour, minutes.length])
        )
      }
  })

  t.test('a range gives the newest of its hours, oldest first, however wide it is', async (t) => {
    const { storage } = await open(t)
    const choices = new Choices(12)
    const hours = Array.from({ length: 30 }, (_, i) =>
      sampleHour(choices, 'mint', mint, HOUR + 3_600 * (i < 20 ? i : 5 * i))
    )
    await commitHours(storage, hours)
    const range = (from: number, to: number, limit: number) =>
      storage.activity.range('mint', mint, { from, to, limit })
    const end = hours.at(-1)!.hour
    for (const round of ['first', 'second']) {
      assert.deepStrictEqual(await range(0, 4e9, 100), hours, round)
      assert.deepStrictEqual(await range(0, end, 100), hours.slice(0, -1))
      assert.deepStrictEqual(await range(0, 4e9, 7), hours.slice(-7))
      assert.deepStrictEqual(await range(hours[3]!.hour, hours[9]!.hour, 100), hours.slice(3, 9))
      assert.deepStrictEqual(await range(hours[3]!.hour, hours[9]!.hour, 2), hours.slice(7, 9))
      assert.deepStrictEqual(await range(hours[3]!.hour + 1, hours[9]!.hour + 1, 100), hours.slice(4, 10))
      assert.deepStrictEqual(await range(hours[25]!.hour - 7_200, hours[25]!.hour + 1, 9), [hours[25]])
      t.strictSame(await range(end + 1, end + 90_000, 9), [])
      t.strictSame(await range(end, 0, 9), [])
      t.strictSame(await range(0, end, 0), [])
    }
    t.strictSame(await storage.activity.range('pool', mint, { from: 0, to: 4e9, limit: 9 }), [])
  })

  t.test(
    'the mints of an hour come in their order, page by page, with the minutes that have a trade',
    async (t) => {
      const { storage } = await open(t)
      const choices = new Choices(13)
      const mints = Array.from({ length: 25 }, (_, n) => sampleMint(n)).sort((a, b) => Buffer.compare(a, b))
      const hours = mints.map((owner) => sampleHour(choices, 'mint', owner, HOUR))
      const beside = [
        sampleHour(choices, 'pool', samplePool(0), HOUR),
        sampleHour(choices, 'mint', mint, HOUR + 3_600),
        sampleHour(choices, 'mint', mint, HOUR - 3_600)
      ]
      await commitHours(storage, [...beside, ...hours])
      const volumes = hours.map(hourlyMintVolumeOf).filter(({ minutes }) => minutes.length > 0)
      t.ok(volumes.length > 15)
      for (const limit of [1, 6, 100]) {
        const seen: HourlyMintVolume[] = []
        for (;;) {
          const after = seen.at(-1)?.mint
          const page = { limit, ...(after === undefined ? {} : { after }) }
          const next = await storage.activity.mintsOfHour(HOUR, page)
          if (next.length === 0) break
          t.ok(next.length <= limit)
          seen.push(...next)
        }
        assert.deepStrictEqual(seen, volumes, `by ${limit}`)
      }
      t.strictSame(await storage.activity.mintsOfHour(HOUR + 7_200, { limit: 9 }), [])
      t.strictSame(await storage.activity.mintsOfHour(HOUR, { limit: 0 }), [])
    }
  )

  t.test('a mint is listed by the last row of its hour, and not at all if that has no trades', async (t) => {
    const opened = await open(t)
    const { storage } = opened
    const choices = new Choices(15)
    const mints = Array.from({ length: 6 }, (_, n) => sampleMint(n)).sort((a, b) => Buffer.compare(a, b))
    const traded = mints.map((owner) => sampleTradedHour(choices, owner))
    const quiet = traded.map((hour) => ({
      ...hour,
      minutes: hour.minutes.map((minute) => ({ ...minute, trades: 0 }))
    }))
    const listed = [traded[0]!, traded[3]!, traded[5]!].map(hourlyMintVolumeOf)
    await commitHours(storage, [...traded, quiet[1]!, quiet[2]!, quiet[4]!, quiet[5]!, traded[5]!])
    const check = async ({ activity }: Storage): Promise<void> => {
      assert.deepStrictEqual(await activity.mintsOfHour(HOUR, { limit: 9 }), listed)
      assert.deepStrictEqual(await activity.mintsOfHour(HOUR, { limit: 2 }), listed.slice(0, 2))
      assert.deepStrictEqual(
        await activity.mintsOfHour(HOUR, { limit: 2, after: listed[0]!.mint }),
        listed.slice(1)
      )
    }
    await check(storage)
    await check(await opened.reopen())
    t.pass()
  })

  t.test('the mints of every hour that a rolling day reaches into are there', async (t) => {
    const { storage } = await open(t)
    const choices = new Choices(14)
    const hours = Array.from({ length: 60 }, (_, i) => sampleHour(choices, 'mint', mint, HOUR + 3_600 * i))
    await commitHours(storage, hours)
    for (const hour of hours.slice(-26)) {
      const { minutes } = hourlyMintVolumeOf(hour)
      const expected = minutes.length === 0 ? [] : [{ mint, minutes }]
      assert.deepStrictEqual(await storage.activity.mintsOfHour(hour.hour, { limit: 9 }), expected)
    }
    assert.deepStrictEqual(
      await storage.activity.get({ of: 'mint', owner: mint, hour: HOUR }),
      hours[0],
      'activity itself stays'
    )
    t.pass()
  })
}

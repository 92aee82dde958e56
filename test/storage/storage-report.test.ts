import t, { type Test } from 'tap'
import { storageReport } from '../../storage/report/storage-report.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { KindUsage, Storage } from '../../storage/port.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
const START = 1_760_000_000
/** One block in ten minutes. */
const BLOCK_SECONDS = 600

const USED: readonly KindUsage[] = [
  { kind: 'small', bytes: 10, stays: 'needed' },
  { kind: 'tokens', bytes: 4_000, stays: 'always' },
  { kind: 'trades', bytes: 2_000, stays: 2 * DAY }
]

interface Fed {
  readonly events: number
  /** Seconds from the block's time to its receipt. */
  readonly late?: number
}

/** Returns the report of a store with the given blocks, and 10,000 free bytes by default. */
async function reportOf(t: Test, blocks: readonly Fed[], freeBytes: number | null = 10_000) {
  const storage = await openEmbeddedStorage({ directory: t.testdir() })
  for (const [i, { events, late = 0 }] of blocks.entries()) {
    const block = emptyBlock(i)
    const blockTime = START + i * BLOCK_SECONDS
    const receivedAtMs = (blockTime + late) * 1_000
    await storage.blocks.commit({ ...block, slot: { ...block.slot, blockTime, events, receivedAtMs } })
  }
  const used: Pick<Storage, 'blocks' | 'usage'> = {
    blocks: storage.blocks,
    usage: async () => ({ kinds: USED, freeBytes, largePartitions: null })
  }
  const report = await storageReport(used)
  await storage.close()
  return report
}

/** Returns the blocks of some days, each with an equal number of events. */
const days = (count: number, events: number): Fed[] =>
  Array.from({ length: (count * DAY) / BLOCK_SECONDS }, () => ({ events }))

const near = (a: number | null | undefined, b: number): boolean => Math.abs(a! - b) < Math.abs(b) * 0.02

t.test(
  'at a steady rate, rows that stay grow by their bytes a day and those at their limit do not',
  async (t) => {
    const report = await reportOf(t, days(4, 5))
    const [tokens, trades, small] = report.kinds
    const newest = START + 4 * DAY - BLOCK_SECONDS
    t.match(report, { oldestTime: START, newestTime: newest, freeBytes: 10_000 })
    t.match(tokens, { kind: 'tokens', bytes: 4_000, oldestTime: START })
    t.ok(near(tokens!.growthADay, 1_000), String(tokens!.growthADay))
    t.match(trades, { kind: 'trades', bytes: 2_000, oldestTime: newest - 2 * DAY })
    t.ok(Math.abs(trades!.growthADay!) < 20, String(trades!.growthADay))
    t.match(small, { kind: 'small', oldestTime: null, growthADay: 0 })
    t.ok(near(report.growthADay, 1_000))
    t.ok(near(report.daysLeft, 10), String(report.daysLeft))
  }
)

t.test('growth is that of the newest day, however much came before', async (t) => {
  const report = await reportOf(t, [...days(3, 2), ...days(1, 8)])
  // The mean of 3 days of 2 and one of 8 is 3.5.
  t.ok(near(report.kinds[0]!.growthADay, (1_000 * 8) / 3.5), String(report.kinds[0]!.growthADay))
  // The newest two days have 5 on average: 1,600 bytes arrive and 1,000 expire.
  t.ok(near(report.kinds[1]!.growthADay, 600), String(report.kinds[1]!.growthADay))
})

t.test('rows that do not reach back to their limit yet grow by all that is written', async (t) => {
  const report = await reportOf(t, days(1, 5))
  t.ok(near(report.kinds[1]!.growthADay, 2_000), String(report.kinds[1]!.growthADay))
  t.ok(near(report.growthADay, 6_000))
})

t.test('no growth is told before blocks have come for an hour', async (t) => {
  const short = await reportOf(t, days(1, 5).slice(0, 6))
  t.match(short, { growthADay: null, daysLeft: null, oldestTime: START, newestTime: START + HOUR - 600 })
  for (const { growthADay } of short.kinds) t.equal(growthADay, null)
  t.not((await reportOf(t, days(1, 5).slice(0, 7))).growthADay, null)
})

t.test('a past that was read at once is no measure of what comes later', async (t) => {
  const past = days(2, 1).map((fed, i, all) => ({ ...fed, late: (all.length - i) * BLOCK_SECONDS }))
  t.equal((await reportOf(t, past)).growthADay, null)
  const live = days(1, 100).slice(0, 12)
  const report = await reportOf(t, [...past, ...live])
  // 288 events of the past and 1,200 since, at 600 an hour.
  const average = (288 + 1_200) / (300 / 144)
  const expected = (4_000 / (300 / 144)) * ((100 * 144) / average)
  t.ok(Math.abs(report.kinds[0]!.growthADay! / expected - 1) < 0.2, `${report.kinds[0]!.growthADay}`)
})

t.test('a store without blocks, and one whose disk is not known, say so', async (t) => {
  const empty = await reportOf(t, [])
  t.match(empty, { oldestTime: null, newestTime: null, growthADay: null, daysLeft: null, freeBytes: 10_000 })
  t.strictSame(
    empty.kinds.map(({ kind }) => kind),
    ['tokens', 'trades', 'small']
  )
  t.match(await reportOf(t, days(2, 1), null), { freeBytes: null, daysLeft: null, growthADay: Number })
  t.match(await reportOf(t, days(2, 0)), { growthADay: Number, daysLeft: Number }, 'blocks without events')
})

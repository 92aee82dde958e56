import t from 'tap'
import { storageBody } from '../../src/store/bodies/storage.ts'
import type { StorageReport } from '../../storage/report/storage-report.ts'

const NOON = Date.UTC(2026, 7, 24, 12)
const REPORT: StorageReport = {
  kinds: [
    { kind: 'trades', bytes: 10.6, stays: 7_200, oldestTime: 5, growthADay: 0.2 },
    { kind: 'keys', bytes: 1.2, stays: 'needed', oldestTime: null, growthADay: 0 }
  ],
  oldestTime: 5,
  newestTime: 9,
  freeBytes: 100,
  growthADay: 0.2,
  daysLeft: 1.55,
  largePartitions: null
}

t.test('a report is rendered in whole bytes, with the time at which the disk is full', async (t) => {
  t.strictSame(storageBody(REPORT, NOON), {
    bytes: 12,
    oldest_block_time: 5,
    newest_block_time: 9,
    growth_bytes_per_day: 1,
    free_bytes: 100,
    days_left: 1.5,
    full_at: '2026-08-26 01:12:00',
    full_at_ms: NOON + 1.55 * 86_400_000,
    large_partitions: null,
    kinds: [
      {
        kind: 'trades',
        bytes: 11,
        stays: 'limited',
        kept_seconds: 7_200,
        oldest_block_time: 5,
        growth_bytes_per_day: 1
      },
      {
        kind: 'keys',
        bytes: 1,
        stays: 'needed',
        kept_seconds: null,
        oldest_block_time: null,
        growth_bytes_per_day: 0
      }
    ]
  })
})

t.test('partitions above the bound are rendered with what the nodes know', async (t) => {
  const partitions = [{ table: 'log', bytes: 2e8, key: null }]
  const { large_partitions } = storageBody(
    { ...REPORT, largePartitions: { knownFromBytes: 1e8, partitions } },
    NOON
  )
  t.strictSame(large_partitions, { known_from_bytes: 1e8, partitions })
})

t.test('a disk that lasts for longer than there are dates has none', async (t) => {
  const { days_left, full_at, full_at_ms } = storageBody({ ...REPORT, daysLeft: 3e9 }, NOON)
  t.strictSame({ days_left, full_at, full_at_ms }, { days_left: 3e9, full_at: null, full_at_ms: null })
})

import { z } from 'zod'
import type { KindReport, StorageReport } from '../../../storage/report/storage-report.ts'
import { blockTime, count, text, time, unixMs } from '../../kernel/http/schema.ts'
import { secondsText } from '../../kernel/http/time.ts'

const DAY_MS = 86_400_000
/** Last millisecond of the year 9999, beyond which dates cannot be formatted. */
const TIME_MS_MAX = 253_402_300_799_999

const bytes = (meaning: string) => count(`${meaning}, in bytes; an estimate`)

const growth = (meaning: string) =>
  z
    .int()
    .nullable()
    .describe(
      `${meaning}, in bytes a day at the rate of the newest day's events. Below 0 if more is deleted than written; null until one hour of blocks is stored`
    )

const KIND = z.object({
  kind: text('The kind of rows'),
  bytes: bytes('Size of these rows'),
  stays: z
    .enum(['always', 'limited', 'needed'])
    .describe(
      '`always`: rows are never deleted; `limited`: rows are deleted after `kept_seconds`; `needed`: rows are replaced, and do not grow with the blocks'
    ),
  kept_seconds: count(
    'Seconds for which rows are stored, counted back from the block time of the head'
  ).nullable(),
  oldest_block_time: blockTime('Block time of the oldest row').nullable(),
  growth_bytes_per_day: growth('Current growth')
})

const LARGE_PARTITIONS = z.object({
  known_from_bytes: count(
    'Size from which the nodes record large partitions, in bytes. Smaller partitions above 100 MB may exist'
  ),
  partitions: z
    .array(
      z.object({
        table: text('Table of the partition'),
        bytes: bytes('Size of the partition on one node'),
        key: z
          .string()
          .nullable()
          .describe(
            'Partition key in the form of the server; null for a server that states only the largest size of each table'
          )
      })
    )
    .readonly()
    .describe('Partitions above 100 MB, the largest first, at most 20')
})

export const STORAGE = z
  .object({
    bytes: bytes('Size of all kinds'),
    oldest_block_time: blockTime('The oldest block').nullable(),
    newest_block_time: blockTime('The newest block').nullable(),
    growth_bytes_per_day: growth('Current growth of all kinds'),
    free_bytes: count(
      'Free bytes for the service on the disk of the store; null for a cluster, whose disks are unknown here'
    ).nullable(),
    days_left: z
      .number()
      .min(0)
      .nullable()
      .describe(
        'Days until the free bytes are used up, at the rate of the newest day and if nothing else fills the disk. Rows deleted in the meantime are taken into account. Null if unknown, or if the disk will not fill'
      ),
    full_at: time('Time at which the disk is full', 'service').nullable(),
    full_at_ms: unixMs('The same', 'service').nullable(),
    large_partitions: LARGE_PARTITIONS.nullable().describe(
      'Partitions of the cluster above 100 MB, as its nodes report them from their files. Null for the embedded store, and if the nodes do not report them'
    ),
    kinds: z.array(KIND).readonly().describe('The kinds of rows, the largest first')
  })
  .meta({ id: 'Storage' })

export type StorageBody = z.output<typeof STORAGE>

/** Renders disk use and the forecast when the disk is full. */
export function storageBody(report: StorageReport, nowMs: number): StorageBody {
  const { kinds, oldestTime, newestTime, freeBytes, growthADay, daysLeft, largePartitions } = report
  const fullAtMs = daysLeft === null ? null : Math.floor(nowMs + daysLeft * DAY_MS)
  const isTime = fullAtMs !== null && fullAtMs <= TIME_MS_MAX
  const bodies = kinds.map(kindBody)
  return {
    bytes: bodies.reduce((sum, { bytes }) => sum + bytes, 0),
    oldest_block_time: oldestTime,
    newest_block_time: newestTime,
    growth_bytes_per_day: rounded(growthADay),
    free_bytes: freeBytes,
    days_left: daysLeft === null ? null : Math.floor(daysLeft * 10) / 10,
    full_at: isTime ? secondsText(Math.floor(fullAtMs / 1_000)) : null,
    full_at_ms: isTime ? fullAtMs : null,
    large_partitions: largePartitions && {
      known_from_bytes: largePartitions.knownFromBytes,
      partitions: largePartitions.partitions
    },
    kinds: bodies
  }
}

function kindBody({ kind, bytes, stays, oldestTime, growthADay }: KindReport): StorageBody['kinds'][number] {
  const isLimited = typeof stays === 'number'
  return {
    kind,
    bytes: Math.round(bytes),
    stays: isLimited ? 'limited' : stays,
    kept_seconds: isLimited ? stays : null,
    oldest_block_time: oldestTime,
    growth_bytes_per_day: rounded(growthADay)
  }
}

/** Rounds up to whole bytes, so that slow growth is not displayed as zero. */
const rounded = (value: number | null): number | null => (value === null ? null : Math.ceil(value))

import { ServiceError } from '../../src/kernel/errors.ts'
import type { CqlClient, CqlRow } from './client.ts'

const MINUTE = 60
const HOUR = 3_600
const DAY = 86_400
/** Windows of a table at any time: fewer drop too much at once, more are too many files for a read. */
const WINDOWS_MIN = 20
const WINDOWS_MAX = 50
/** Units of compaction windows: each at most twice the one before, so that one of them always fits. */
const WINDOWS: readonly CompactionWindow[] = [
  ...[1, 2, 4, 8, 15, 30].map((size) => windowOf('MINUTES', size, MINUTE)),
  ...[1, 2, 3, 6, 12].map((size) => windowOf('HOURS', size, HOUR)),
  ...[1, 2, 3, 5, 10, 15, 30, 60, 120, 240].map((size) => windowOf('DAYS', size, DAY))
]
/** The longest possible TTL, 20 years, less the time by which index entries outlive their rows. */
const TTL_MAX = Math.floor(630_720_000 / 1.1)

/** The span of time whose rows share files, which are dropped as a whole once all of them have expired. */
export interface CompactionWindow {
  readonly unit: 'MINUTES' | 'HOURS' | 'DAYS'
  readonly size: number
  readonly seconds: number
}

/** Retention of rows, in seconds; null means for ever. A process that never writes leaves it unchanged. */
export type Retention = number | null | 'as it is'

/** Tables whose rows expire. */
export interface Expiring {
  readonly tables: readonly string[]
  readonly seconds: Retention
}

/** A table cannot have fewer windows, so a shorter horizon keeps its rows for longer. */
const LOG_TTL_MIN = HOUR

/**
 * The TTL of rows of the log: at least as long as the horizon reaches back from the head's block time. Rows get older while
 * no block comes, and late blocks are written late. A quarter more covers six hours of a day.
 */
export const logTtlOf = (horizon: Retention): Retention =>
  typeof horizon === 'number' ? Math.min(Math.max(Math.ceil(horizon * 1.25), LOG_TTL_MIN), TTL_MAX) : horizon

/** The window for a TTL: 20 to 50 of them, about 30. Throws, with the reason, if no window fits. */
export function windowOfRetention(ttlSeconds: number): CompactionWindow {
  const shortest = WINDOWS_MIN * WINDOWS[0]!.seconds
  if (ttlSeconds < shortest)
    throw unfit(ttlSeconds, `less than ${shortest} s has fewer than ${WINDOWS_MIN} windows of a minute`)
  if (ttlSeconds > TTL_MAX) throw unfit(ttlSeconds, `no server stores rows for more than ${TTL_MAX} s`)
  const distance = ({ seconds }: CompactionWindow): number => Math.abs(Math.log(ttlSeconds / seconds / 30))
  const nearest = WINDOWS.toSorted((a, b) => distance(a) - distance(b))[0]!
  const windows = ttlSeconds / nearest.seconds
  if (windows < WINDOWS_MIN || windows > WINDOWS_MAX)
    throw unfit(ttlSeconds, `windows of ${nearest.size} ${nearest.unit} would be ${Math.round(windows)}`)
  return nearest
}

/**
 * The statements that set the retention of tables: time windows and a TTL, or neither. Empty if the tables have it already.
 */
export async function retentionChanges(
  client: CqlClient,
  { keyspace, expiring }: { readonly keyspace: string; readonly expiring: readonly Expiring[] }
): Promise<string[]> {
  const changes = await Promise.all(expiring.map((each) => changesOf(client, keyspace, each)))
  return changes.flat()
}

async function changesOf(
  client: CqlClient,
  keyspace: string,
  { tables, seconds }: Expiring
): Promise<string[]> {
  if (seconds === 'as it is') return []
  const statement =
    'SELECT compaction, default_time_to_live FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?'
  const desired = seconds === null ? null : windowOfRetention(seconds)
  const answers = await client.readEach(
    statement,
    tables.map((table) => [keyspace, table])
  )
  return tables
    .filter((_, i) => !hasWindow(answers[i]![0], desired, seconds))
    .map((table) => {
      const compaction =
        desired === null
          ? "{'class': 'SizeTieredCompactionStrategy'}"
          : `{'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': '${desired.unit}', 'compaction_window_size': '${desired.size}'}`
      return `ALTER TABLE ${keyspace}.${table} WITH compaction = ${compaction} AND default_time_to_live = ${seconds ?? 0}`
    })
}

function hasWindow(row: CqlRow | undefined, desired: CompactionWindow | null, ttl: number | null): boolean {
  const compaction = (row?.['compaction'] ?? {}) as Readonly<Record<string, string | undefined>>
  const isWindowed = compaction['class']?.endsWith('TimeWindowCompactionStrategy') === true
  if (desired === null) return !isWindowed
  return (
    isWindowed &&
    compaction['compaction_window_unit'] === desired.unit &&
    compaction['compaction_window_size'] === String(desired.size) &&
    row?.['default_time_to_live'] === ttl
  )
}

function windowOf(unit: CompactionWindow['unit'], size: number, seconds: number): CompactionWindow {
  return { unit, size, seconds: size * seconds }
}

const unfit = (ttlSeconds: number, why: string): ServiceError =>
  new ServiceError(
    'STORAGE_UNAVAILABLE',
    `rows cannot be stored for ${ttlSeconds} s: ${why}, and files of ${WINDOWS_MIN} to ${WINDOWS_MAX} windows are what a cluster handles well; set MILLRACE_RETENTION_DAYS`
  )

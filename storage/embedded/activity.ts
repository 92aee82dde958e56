import type { Pubkey } from '../../src/chain/pubkey.ts'
import { mayBeActive } from '../../src/market/active-hours.ts'
import type { ActivityHour, ActivityOf } from '../../src/market/activity-rows.ts'
import type { ColumnHour, MinuteColumns } from '../../src/market/minute-columns.ts'
import type { ActivityStore, MinuteRange, RowHorizon } from '../port.ts'
import { activityKind, readMinuteColumns } from '../codec/activity.ts'
import { ByteReader } from '../codec/byte-reader.ts'
import { decoded } from '../codec/record.ts'
import type { Database } from './database.ts'
import { horizonOf } from './horizon.ts'
import { activityKey } from '../codec/keys.ts'
import type { MaybePromise } from './maybe-promise.ts'
import { KeyedRows } from './record-table.ts'
import type { RecordTable } from './record-table.ts'
import { amendHourlyMintVolume, mintsOfHour, stageHourlyMintVolume } from './hourly-mint-volume.ts'
import type { View } from './view.ts'

type Range = Parameters<ActivityStore['range']>[2]

const HOUR = 3_600
/** A range of at most this many hours, such as a rolling day, is read hour by hour: the keys are known. */
const KNOWN_HOURS_MAX = 26

/** Hourly volumes that many blocks together delete: those of all mints of an hour, twice. */
const EXPIRED_PER_RUN_MAX = 100_000

const rows = new KeyedRows('activity')

export function activityTable(database: Database): RecordTable<'activity'> {
  return {
    port: {
      get: (at) =>
        database.read((view) => (isExpiredHour(at.hour, horizonOf(view)) ? null : rows.get(view, at))),
      range: (of, owner, range) =>
        database.read((view) =>
          hoursIn(view, of, owner, { ...range, from: Math.max(range.from, horizonOf(view).time - HOUR + 1) })
        ),
      minutesOfMint: (mint, range, into) => database.read((view) => minutesIn(view, mint, range, into)),
      mintsOfHour: (hour, page) => database.read((view) => mintsOfHour(view, hour, page))
    },
    stage(view, batch, block) {
      rows.put(batch, block.activity)
      return stageHourlyMintVolume(view, batch, block)
    },
    stageMany(view, batch, blocks) {
      rows.putUncached(batch, blocks.activity)
      return stageHourlyMintVolume(view, batch, blocks, EXPIRED_PER_RUN_MAX)
    },
    amend(_, batch, { activity, head }) {
      rows.amend(batch, activity)
      amendHourlyMintVolume(batch, activity, head?.blockTime ?? -Infinity)
    }
  }
}

/** Tells whether an hour of activity is past the retention. */
export const isExpiredHour = (hour: number, { time }: RowHorizon): boolean => hour + HOUR <= time

function hoursIn(view: View, of: ActivityOf, owner: Pubkey, range: Range): MaybePromise<ActivityHour[]> {
  if (range.limit <= 0 || range.to <= range.from) return []
  const hours: ActivityHour[] = []
  const last = Math.ceil(range.to / HOUR) * HOUR - HOUR
  if (last - range.from > KNOWN_HOURS_MAX * HOUR) return scanned(view, of, owner, range)
  const { active } = range
  for (let hour = last; hour >= range.from && hours.length < range.limit; hour -= HOUR) {
    if (active !== undefined && !mayBeActive(active, hour)) continue
    const found = rows.get(view, { of, owner, hour })
    if (found !== null) hours.push(found)
  }
  return hours.reverse()
}

/** Adds hours to columns. Null if a sum does not fit, and for a range whose hours are not read one by one. */
function minutesIn(
  view: View,
  mint: Pubkey,
  { from, to, active }: MinuteRange,
  into: MinuteColumns
): readonly ColumnHour[] | null {
  const first = Math.ceil(Math.max(from, horizonOf(view).time - HOUR + 1) / HOUR) * HOUR
  if (to - first > KNOWN_HOURS_MAX * HOUR) return null
  for (let hour = first; hour < to; hour += HOUR) {
    if (active !== undefined && !mayBeActive(active, hour)) continue
    const key = activityKey('mint', mint, hour)
    const found = view.stored(activityKind, key)
    if (found === null) continue
    const isWhole = decoded(activityKind, key, () =>
      readMinuteColumns(new ByteReader(found), found, hour, into)
    )
    if (!isWhole) return null
  }
  return into.hours
}

async function scanned(view: View, of: ActivityOf, owner: Pubkey, range: Range): Promise<ActivityHour[]> {
  const hours: ActivityHour[] = []
  const within = { gte: activityKey(of, owner, range.from), lt: activityKey(of, owner, range.to) }
  for await (const [, hour] of view.scan(activityKind, within, { reverse: true, expected: range.limit })) {
    hours.push(hour)
    if (hours.length === range.limit) break
  }
  return hours.reverse()
}

import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { ActivityHour, ActivityOf } from '../../src/market/activity-rows.ts'
import type { ActivityStore } from '../port.ts'
import { activityKind } from './activity-codec.ts'
import type { Database } from './database.ts'
import { activityKey, hourOfActivityKey } from './keys.ts'
import type { Key } from './keys.ts'
import type { Soon } from './soon.ts'
import { mintsOfHour } from './turnover.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

type Range = Parameters<ActivityStore['range']>[2]

const HOUR = 3_600
/** In ranges up to this long memory knows the quiet hours as well, so that a rolling day asked for again costs no look. */
const KNOWN_HOURS_MAX = 26

export function activityStore(database: Database): ActivityStore {
  return {
    get: (of, owner, hour) => database.read((view) => view.get(activityKind, activityKey(of, owner, hour))),
    range: (of, owner, range) => database.read((view) => hoursIn(view, of, owner, range)),
    mintsOfHour: (hour, page) => database.read((view) => mintsOfHour(view, hour, page))
  }
}

export function stageActivity(batch: WriteBatch, hours: readonly ActivityHour[]): void {
  for (const hour of hours) batch.put(activityKind, activityKey(hour.of, hour.owner, hour.hour), hour)
}

function hoursIn(view: View, of: ActivityOf, owner: Pubkey, range: Range): Soon<ActivityHour[]> {
  if (range.limit <= 0 || range.to <= range.from) return []
  const keys: Key[] = []
  const first = Math.ceil(range.from / HOUR) * HOUR
  if (range.to - first <= KNOWN_HOURS_MAX * HOUR)
    for (let hour = first; hour < range.to; hour += HOUR) keys.push(activityKey(of, owner, hour))
  const known = keys.map((key) => view.hot(activityKind, key))
  if (keys.length === 0 || known.includes(undefined)) return onDisk(view, of, owner, range, keys)
  const hours = known.filter((hour) => hour !== null && hour !== undefined)
  return hours.slice(-range.limit)
}

/** Keeps the hours of `keys` in memory, those without an event too. */
async function onDisk(
  view: View,
  of: ActivityOf,
  owner: Pubkey,
  range: Range,
  keys: readonly Key[]
): Promise<ActivityHour[]> {
  const hours: ActivityHour[] = []
  const within = { gte: activityKey(of, owner, range.from), lt: activityKey(of, owner, range.to) }
  const options = { reverse: true, expected: range.limit, keep: keys.length > 0 }
  for await (const [, hour] of view.scan(activityKind, within, options)) {
    hours.push(hour)
    if (hours.length === range.limit) return hours.reverse()
  }
  const found = new Set(hours.map(({ hour }) => hour))
  for (const key of keys) if (!found.has(hourOfActivityKey(key))) view.rememberAbsent(key)
  return hours.reverse()
}

import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { ActivityHour, ActivityOf } from '../../src/market/activity-rows.ts'
import type { ActivityStore } from '../port.ts'
import { activityKind } from './activity-codec.ts'
import type { Database } from './database.ts'
import { activityKey } from './keys.ts'
import { whenHere } from './soon.ts'
import type { Soon } from './soon.ts'
import { mintsOfHour } from './turnover.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

type Range = Parameters<ActivityStore['range']>[2]

const HOUR = 3_600
/** Up to so many hours are asked for by name, so that those in memory, and those known to be quiet, cost no look. */
const NAMED_HOURS_MAX = 26

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
  const first = Math.ceil(range.from / HOUR) * HOUR
  if (range.to - first > NAMED_HOURS_MAX * HOUR) return newestHours(view, of, owner, range)
  const keys: Buffer[] = []
  for (let hour = first; hour < range.to; hour += HOUR) keys.push(activityKey(of, owner, hour))
  return whenHere(view.getMany(activityKind, keys), (hours) =>
    hours.filter((hour) => hour !== null).slice(-range.limit)
  )
}

async function newestHours(view: View, of: ActivityOf, owner: Pubkey, range: Range): Promise<ActivityHour[]> {
  const hours: ActivityHour[] = []
  const keys = { gte: activityKey(of, owner, range.from), lt: activityKey(of, owner, range.to) }
  for await (const [, hour] of view.scan(activityKind, keys, { reverse: true, expected: range.limit })) {
    hours.push(hour)
    if (hours.length === range.limit) break
  }
  return hours.reverse()
}

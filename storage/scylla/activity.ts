import type { ActivityHour, HourAddress } from '../../src/market/activity-rows.ts'
import { activityKind } from '../codec/activity.ts'
import { activityOwnerKey } from '../codec/keys.ts'
import type { ActivityStore } from '../port.ts'
import type { ScyllaBase } from './base.ts'
import { BucketedRecords } from './bucketed-records.ts'
import { readConsistently } from './read-consistently.ts'
import type { Table } from './table.ts'
import { HourlyMintVolumes } from './hourly-mint-volume.ts'

/** 42 days: 49 MB for the busiest owner, the market, at 48 KB an hour in two versions. */
const SECONDS_PER_BUCKET = 1_024 * 3_600
/** A number beyond every hour of a block, as in the keys of records. */
const HOUR_END = 2 ** 32

export function activityTable(base: ScyllaBase): Table<ActivityStore> {
  const hours = new BucketedRecords(base, {
    table: 'activity',
    position: 'hour',
    positionBytes: 4,
    positionsPerBucket: SECONDS_PER_BUCKET,
    kind: activityKind,
    expires: true
  })
  const hourlyMintVolumes = new HourlyMintVolumes(base)
  return {
    port: {
      get: async (at) => (isHour(at.hour) ? hours.get(placeOf(at)) : null),
      async range(of, owner, { from, to, limit }) {
        const range = { gte: within(from), lt: within(to), order: 'desc', limit } as const
        const newestFirst = await readConsistently(base, () =>
          hours.range(activityOwnerKey(of, owner), range)
        )
        return newestFirst.map(({ value }) => value).reverse()
      },
      mintsOfHour: (hour, page) => readConsistently(base, () => hourlyMintVolumes.ofHour(hour, page))
    },
    async stage(commit) {
      const { activity } = commit.blocks
      await Promise.all([
        hours.stage(commit, activity.map(recordOf)),
        hourlyMintVolumes.stage(commit, activity)
      ])
    },
    async amend(commit, amendment) {
      const { put, remove } = amendment.activity
      await Promise.all([
        hours.stage(commit, put.map(recordOf)),
        hours.remove(commit, remove.map(placeOf)),
        hourlyMintVolumes.amend(commit, amendment)
      ])
    }
  }
}

const placeOf = ({ of, owner, hour }: HourAddress) => ({ owner: activityOwnerKey(of, owner), position: hour })
const recordOf = (value: ActivityHour) => ({ ...placeOf(value), value })
const within = (time: number): number => Math.min(Math.max(Math.ceil(time), 0), HOUR_END)
const isHour = (time: number): boolean => Number.isInteger(time) && time >= 0 && time < HOUR_END

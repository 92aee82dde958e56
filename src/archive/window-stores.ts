import type { Pubkey } from '../chain/pubkey.ts'
import type { ActiveHours } from '../market/active-hours.ts'
import type { ActivityHour, ActivityOf } from '../market/activity-rows.ts'
import { bucketStart } from '../market/buckets.ts'
import { MinuteColumns } from '../market/minute-columns.ts'
import type { MintHours, MintHourSource } from '../market/mint-hours.ts'
import { TIME_FALLS_MAX } from '../market/market-state.ts'
import type { PoolRow } from '../market/registry-rows.ts'
import type { SolPriceRow } from '../market/rows.ts'
import type { ActivityStore, CandleStore, Storage } from '../../storage/port.ts'
import type { Archive } from './archive.ts'
import { JOINED } from './joined-rows.ts'
import { joinedRange } from './series.ts'

type HourRange = Parameters<ActivityStore['range']>[2]

/** Sources of the rows that rolling windows are folded from. */
export interface WindowStores extends MintHourSource {
  readonly candles: Pick<CandleStore, 'range'>
  /** Hours of a pool or the market, as `ActivityStore.range`. */
  hours(of: Exclude<ActivityOf, 'mint'>, owner: Pubkey, range: HourRange): Promise<ActivityHour[]>
  /** The price of SOL of a minute, as `SolPriceStore.atOrBefore`. */
  solPrice(minute: number): Promise<SolPriceRow | null>
  /** The newest pools of a mint in the archive, up to `limit`; empty if none of them can have traded since a time. */
  archivedPools(mint: Pubkey, since: number, limit: number): Promise<readonly PoolRow[]>
}

/** Returns the rows of the live store. */
export function liveWindows({ activity, candles, solPrices }: Storage): WindowStores {
  return {
    candles,
    archivedUntil: -Infinity,
    hours: (of, owner, range) => activity.range(of, owner, range),
    mintHours: async (mint, range, active) => ({
      hours: await activity.range('mint', mint, active === undefined ? range : { ...range, active }),
      earlierUsd: null
    }),
    ...(activity.minutesOfMint !== undefined && {
      async mintMinutes(mint: Pubkey, range: { from: number; to: number }, active?: ActiveHours) {
        const columns = new MinuteColumns()
        const hours = await activity.minutesOfMint!(mint, { ...range, active }, columns)
        return hours === null ? null : columns
      }
    }),
    solPrice: (minute) => solPrices.atOrBefore(minute),
    archivedPools: async () => []
  }
}

/**
 * Returns the rows of a live store and an adjacent archive, as if one store had all blocks. The archive's hours are read
 * only for windows that begin in it.
 */
export function joinedWindows(
  live: Storage,
  archive: Archive,
  candles: Pick<CandleStore, 'range'>
): WindowStores {
  const { storage, last } = archive
  const endTime = last.blockTime + TIME_FALLS_MAX

  async function mintHours(mint: Pubkey, range: HourRange): Promise<MintHours> {
    const archived = new Set<number>()
    const hours = await joinedHours(live, archive, 'mint', mint, range, archived)
    const isOpen = ({ hour, priorUsd }: ActivityHour): boolean => priorUsd === null && !archived.has(hour)
    // The live store knows no price before its first one.
    if (archived.size === 0 && !hours.some(isOpen)) return { hours, earlierUsd: null }
    const earlierUsd = (await storage.tokens.get(mint))?.lastUsd ?? null
    if (earlierUsd === null) return { hours, earlierUsd }
    return {
      hours: hours.map((hour) => (isOpen(hour) ? { ...hour, priorUsd: earlierUsd } : hour)),
      earlierUsd
    }
  }

  return {
    candles,
    archivedUntil: endTime,
    hours: (of, owner, range) => joinedHours(live, archive, of, owner, range),
    mintHours,
    solPrice: async (minute) =>
      (await live.solPrices.atOrBefore(minute)) ?? storage.solPrices.atOrBefore(minute),
    archivedPools: async (mint, since, limit) =>
      since > endTime ? [] : storage.pools.ofMint(mint, { order: 'desc', limit })
  }
}

/** Reads hours of an owner from both stores, oldest first. Adds the hours that the archive has to `archived`. */
export function joinedHours(
  live: Pick<Storage, 'activity'>,
  { storage, last }: Pick<Archive, 'storage' | 'last'>,
  of: ActivityOf,
  owner: Pubkey,
  range: HourRange,
  archived?: Set<number>
): Promise<ActivityHour[]> {
  return joinedRange(range, last, {
    startOf: ({ hour }) => hour,
    bucketOf: (time) => bucketStart('1h', time),
    merge: JOINED.hours,
    live: (part) => live.activity.range(of, owner, part),
    async archive(part) {
      const hours = await storage.activity.range(of, owner, part)
      for (const { hour } of hours) archived?.add(hour)
      return hours
    }
  })
}

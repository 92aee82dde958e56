import type { ActivityHour } from '../../src/market/activity-rows.ts'
import type { Amendment } from '../../src/market/amendment.ts'
import type { ActivityStore, BlockCommit, HourlyMintVolume } from '../port.ts'
import type { CachedFact } from './cached-fact.ts'
import { addressIn, keyAfter, keysOf, hourlyMintVolumeKey, hourlyMintVolumeKeysOf } from '../codec/keys.ts'
import type { Key } from '../codec/keys.ts'
import { oldestMintVolumeHour, hourlyMintVolumeKind, mintVolumeMinutes } from '../codec/hourly-mint-volume.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** The limit spreads the deletions, so that a block which begins an hour does not pay for the whole hour that ends. */
const EXPIRED_PER_BLOCK_MAX = 256

/** The key up to which all old records are deleted. */
const deletedUntil: CachedFact<Key> = { sign: '<', weigh: () => 100 }

export async function mintsOfHour(
  view: View,
  hour: number,
  page: Parameters<ActivityStore['mintsOfHour']>[1]
): Promise<HourlyMintVolume[]> {
  const found: HourlyMintVolume[] = []
  if (page.limit <= 0) return found
  const { gte, lt } = hourlyMintVolumeKeysOf(hour)
  const range = { gte: page.after === undefined ? gte : keyAfter(hourlyMintVolumeKey(hour, page.after)), lt }
  for await (const [key, minutes] of view.scan(hourlyMintVolumeKind, range, { expected: page.limit })) {
    found.push({ mint: addressIn(key, 5), minutes })
    if (found.length === page.limit) break
  }
  return found
}

/** Rewrites the hourly volumes of a block's mints, and deletes some that are too old to rank, `deletions` at most. */
export async function stageHourlyMintVolume(
  view: View,
  batch: WriteBatch,
  block: BlockCommit,
  deletions = EXPIRED_PER_BLOCK_MAX
): Promise<void> {
  const oldest = oldestMintVolumeHour(block.slot.blockTime)
  stageVolumes(batch, block.activity, oldest)
  await stageDeletions(view, batch, hourlyMintVolumeKeysOf(oldest).gte, deletions)
}

/** Rewrites the hourly volumes of an amendment's mints, and deletes those without trades. */
export function amendHourlyMintVolume(
  batch: WriteBatch,
  { put, remove }: Amendment['activity'],
  headTime: number
): void {
  const oldest = oldestMintVolumeHour(headTime)
  for (const { of, owner, hour } of remove) if (of === 'mint') batch.delete(hourlyMintVolumeKey(hour, owner))
  stageVolumes(batch, put, oldest)
}

/** Writes the volumes of the mints among hours of activity, and deletes those of hours without trades. */
function stageVolumes(batch: WriteBatch, hours: readonly ActivityHour[], oldest: number): void {
  for (const activity of hours) {
    if (activity.of !== 'mint' || activity.hour < oldest) continue
    const key = hourlyMintVolumeKey(activity.hour, activity.owner)
    const minutes = mintVolumeMinutes(activity)
    if (minutes.length > 0) batch.putUncached(hourlyMintVolumeKind, key, minutes)
    else batch.delete(key)
  }
}

async function stageDeletions(view: View, batch: WriteBatch, oldest: Key, limit: number): Promise<void> {
  const begin = keysOf('h').gte
  const reached = view.recall(deletedUntil, begin) ?? begin
  if (Buffer.compare(reached, oldest) >= 0) return
  const options = { expected: limit }
  let expired = 0
  let until = oldest
  for await (const [key] of view.scan(hourlyMintVolumeKind, { gte: reached, lt: oldest }, options)) {
    batch.delete(key)
    until = keyAfter(key)
    if (++expired === limit) break
  }
  batch.remember(deletedUntil, begin, expired === limit ? until : oldest)
}

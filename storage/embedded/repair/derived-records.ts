import { cursorAt } from '../../../src/market/cursor.ts'
import { activityKind } from '../../codec/activity.ts'
import { horizonKey, keysOf, hourlyMintVolumeKey } from '../../codec/keys.ts'
import { horizonKind, slotKind } from '../../codec/kinds.ts'
import { launchKind } from '../../codec/launch.ts'
import { poolKind } from '../../codec/pool.ts'
import {
  oldestMintVolumeHour,
  hourlyMintVolumeKind,
  mintVolumeMinutes
} from '../../codec/hourly-mint-volume.ts'
import type { RowHorizon } from '../../port.ts'
import { firstSince } from '../blocks.ts'
import type { Level } from '../level.ts'
import { stageListing as stageLaunch } from '../launches.ts'
import { stageListing as stagePool } from '../pools.ts'
import type { View } from '../view.ts'
import { WriteBatch } from '../write-batch.ts'
import type { Letter } from './lost-records.ts'

/** Kinds whose records follow each from one of another kind, by their letters. */
export const DERIVED: Readonly<Record<Letter, Letter>> = { n: 'l', s: 'l', r: 'q', h: 'a' }

/** Sets the horizon of rows by the retention, counted back from the newest slot, and returns it. */
export async function stageHorizon(
  target: Level,
  view: View,
  retentionSeconds: number
): Promise<RowHorizon | null> {
  const head = (await view.first(slotKind, keysOf('b'), true))?.[1] ?? null
  const time = (head?.blockTime ?? 0) - retentionSeconds
  const slot = time > 0 ? await firstSince(view, time, head) : null
  if (slot === null) return null
  const horizon = { cursor: cursorAt(slot, 0), time }
  const batch = new WriteBatch(target)
  batch.put(horizonKind, horizonKey(), horizon)
  await batch.write()
  return horizon
}

/** Writes all records of a derived kind. */
export async function stageDerived(target: Level, view: View, letter: Letter): Promise<void> {
  const batch = new WriteBatch(target)
  const options = { expected: 1_000 }
  switch (DERIVED[letter]) {
    case 'l':
      for await (const [, row] of view.scan(launchKind, keysOf('l'), options)) stageLaunch(batch, row)
      break
    case 'q':
      for await (const [, row] of view.scan(poolKind, keysOf('q'), options)) stagePool(batch, row)
      break
    default: {
      const head = await view.first(slotKind, keysOf('b'), true)
      const oldest = oldestMintVolumeHour(head?.[1].blockTime ?? -Infinity)
      for await (const [, activity] of view.scan(activityKind, keysOf('a'), options)) {
        if (activity.of !== 'mint' || activity.hour < oldest) continue
        const minutes = mintVolumeMinutes(activity)
        if (minutes.length > 0)
          batch.putUncached(hourlyMintVolumeKind, hourlyMintVolumeKey(activity.hour, activity.owner), minutes)
      }
    }
  }
  await batch.write()
}

import type { ActivityHour } from '../../src/market/activity-rows.ts'
import type { HourlyMintVolume } from '../port.ts'
import { GrowingLists } from './growing-list.ts'
import type { RecordKind } from './record.ts'

export type MintVolumeMinutes = HourlyMintVolume['minutes']

const HOUR = 3_600
/**
 * A rolling day reaches into the hour that began 25 hours before the running one; one more hour is for reads in progress.
 */
const RETENTION_SECONDS = 26 * HOUR

const minuteLists = new GrowingLists<MintVolumeMinutes[number]>()

/** An index entry from an hour to a mint that traded in it, with the minutes that rank the mint. */
export const hourlyMintVolumeKind: RecordKind<MintVolumeMinutes> = {
  name: 'hourly mint volume',
  write(out, minutes) {
    minuteLists.write(out, minutes, (out, { minute, trades, volumeMicroUsd }, before) => {
      out.count(minute - (before?.minute ?? 0))
      out.count(trades)
      out.amount(volumeMicroUsd)
    })
  },
  read(source) {
    const minutes: MintVolumeMinutes[number][] = []
    for (let before = 0; !source.atEnd; before = minutes.at(-1)!.minute)
      minutes.push({
        minute: before + source.count(),
        trades: source.count(),
        volumeMicroUsd: source.amount()
      })
    return minutes
  },
  weigh: (minutes) => 100 * minutes.length
}

/** Returns the oldest hour, in unix seconds, whose mint volumes are kept after a block of this time. */
export const oldestMintVolumeHour = (blockTime: number): number =>
  Math.floor((blockTime - RETENTION_SECONDS) / HOUR) * HOUR

/** Returns the minutes that rank a mint by an hour of its activity; empty for other owners and without trades. */
export function mintVolumeMinutes({ of, minutes }: ActivityHour): MintVolumeMinutes {
  return of === 'mint' ? minutes.filter(({ trades }) => trades > 0) : []
}

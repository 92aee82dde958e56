import { INTERVALS, type CandleInterval } from './rows.ts'

const SECONDS: Readonly<Record<CandleInterval, number>> = {
  '1s': 1,
  '5s': 5,
  '15s': 15,
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '30m': 1_800,
  '1h': 3_600,
  '4h': 14_400,
  '1d': 86_400,
  '1w': 604_800
}
/** 1970-01-05, a Monday; weeks begin on Mondays at 00:00 UTC. */
const FIRST_MONDAY = 4 * 86_400

/** Returns the length of an interval's buckets in seconds. */
export function intervalSeconds(interval: CandleInterval): number {
  return SECONDS[interval]
}

/** Returns the start of a time's bucket in Unix seconds. */
export function bucketStart(interval: CandleInterval, time: number): number {
  const seconds = SECONDS[interval]
  const origin = interval === '1w' ? FIRST_MONDAY : 0
  return Math.floor((time - origin) / seconds) * seconds + origin
}

/** Returns the starts of a time's buckets, in the order of INTERVALS. */
export function bucketStarts(time: number): number[] {
  return INTERVALS.map((interval) => bucketStart(interval, time))
}

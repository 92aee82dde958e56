import type { ActivityHour, ActivityMinute, UsdPrice } from './activity-rows.ts'
import { mergeMinutes, sumOfHour } from './activity-sums.ts'
import { bucketStart } from './buckets.ts'
import type { Interval } from './rows.ts'
import { TraderUnion } from './traders.ts'

const MINUTE = 60
const HOUR = 3_600

const NOTHING: ActivityMinute = {
  ...{ minute: 0, events: 0, trades: 0, buys: 0, sells: 0, liquidity: 0, launches: 0, priced: 0 },
  ...{ volumeMicroUsd: 0n, buyMicroUsd: 0n, sellMicroUsd: 0n, volumeCash: 0n, volumeToken: 0n },
  ...{ openUsd: null, closeUsd: null }
}

/** The activity in a rolling window. */
export interface ActivityWindow {
  /** The minutes covered: from ≤ minute < to, unix seconds. */
  readonly from: number
  readonly to: number
  readonly events: number
  readonly trades: number
  /** Trades with a cash side, by direction. */
  readonly buys: number
  readonly sells: number
  readonly liquidity: number
  readonly launches: number
  /** Volume of the trades with a value, in millionths of a USD; null if there are trades but no trade has a value. */
  readonly volumeMicroUsd: bigint | null
  readonly buyMicroUsd: bigint | null
  readonly sellMicroUsd: bigint | null
  /** Number of trades without a value, which the volumes in USD lack. */
  readonly unpriced: number
  /** Base units, as in an `ActivityMinute`. */
  readonly volumeCash: bigint
  readonly volumeToken: bigint
  /**
   * Distinct traders; exact up to 256 an hour, else estimated (`traders.ts`). Null for a pool. Also null for a window
   * that ends before the known hours do, because only a trader's last minute is stored.
   */
  readonly traders: number | null
  /** Change of a mint's price in USD; null if the price is unknown at either end of the window (`latest-price.ts`, L3). */
  readonly changePct: number | null
}

/** Returns the minutes of the window of `seconds`, a multiple of 60, that ends with the minute of `headTime`. */
export function windowSpan(
  headTime: number,
  seconds: number
): { readonly from: number; readonly to: number } {
  const to = bucketStart('1m', headTime) + MINUTE
  return { from: to - seconds, to }
}

/** Returns the range of hours that must be read to fold a window, and every shorter window with an equal end. */
export function windowHours(
  headTime: number,
  seconds: number
): { readonly from: number; readonly to: number; readonly limit: number } {
  const { from, to } = windowSpan(headTime, seconds)
  const firstHour = bucketStart('1h', from)
  return { from: firstHour, to, limit: Math.ceil((to - firstHour) / HOUR) }
}

/** A window whose change in percent is not computed yet; computing it needs the owner's newest price. */
export interface OpenWindow extends Omit<ActivityWindow, 'changePct'> {
  /** The last price in USD before the window, else the first one in it. */
  readonly startUsd: UsdPrice
  /** The last price in USD in the window. */
  readonly endUsd: UsdPrice
}

/** The fields of a mint's window that can be rolled (`rolled-mint.ts`). */
export type MintWindow = Pick<
  OpenWindow,
  | ('from' | 'to' | 'trades' | 'buys' | 'sells')
  | ('volumeMicroUsd' | 'buyMicroUsd' | 'sellMicroUsd' | 'unpriced' | 'volumeCash')
  | ('traders' | 'startUsd' | 'endUsd')
>

/**
 * Folds the window of `seconds` that ends with the minute of `headTime`, from hours of one owner, oldest first: at
 * least all hours of `windowHours`. The change is from the last price before the window, or else its first price, to
 * `lastUsd`, the owner's newest price. If the window has no event, `lastUsd` counts for both ends.
 */
export function windowOf(
  hours: readonly ActivityHour[],
  headTime: number,
  seconds: number,
  lastUsd: UsdPrice = null
): ActivityWindow {
  const window = foldWindow(hours, headTime, seconds)
  return Object.assign(window, { changePct: changeOf(window, lastUsd) })
}

/** Folds a window like `windowOf`. Its traders are counted on demand, because counting takes as long as everything else. */
export function foldWindow(hours: readonly ActivityHour[], headTime: number, seconds: number): OpenWindow {
  const { from, to } = windowSpan(headTime, seconds)
  let sum = NOTHING
  let before: UsdPrice = null
  let isNewest = true
  const traders = new TraderUnion()
  for (const hour of hours) {
    const end = hour.hour + HOUR
    if (end > from && hour.hour < to) {
      if (sum.openUsd === null) before = hour.priorUsd ?? before
      traders.add(hour.traders, Math.max(from - hour.hour, 0) / MINUTE)
    }
    if (hour.hour >= from && end <= to) {
      sum = mergeMinutes(sum, sumOfHour(hour))
      continue
    }
    for (const minute of hour.minutes) {
      if (minute.minute < from) before = minute.closeUsd ?? before
      else if (minute.minute < to) sum = mergeMinutes(sum, minute)
      else isNewest = false
    }
  }
  const { events, trades, buys, sells, liquidity, launches, volumeCash, volumeToken } = sum
  const isUnpriced = trades > 0 && sum.priced === 0
  const isCounted = isNewest && hours[0]?.of !== 'pool'
  return {
    ...{ from, to, events, trades, buys, sells, liquidity, launches },
    volumeMicroUsd: isUnpriced ? null : sum.volumeMicroUsd,
    buyMicroUsd: isUnpriced ? null : sum.buyMicroUsd,
    sellMicroUsd: isUnpriced ? null : sum.sellMicroUsd,
    unpriced: trades - sum.priced,
    volumeCash,
    volumeToken,
    get traders() {
      return isCounted ? traders.count : null
    },
    startUsd: before ?? sum.openUsd,
    endUsd: sum.closeUsd
  }
}

/** Returns the change of a window in percent, up to the owner's newest price. */
export function changeOf(
  { startUsd, endUsd }: Pick<OpenWindow, 'startUsd' | 'endUsd'>,
  lastUsd: UsdPrice
): number | null {
  if (lastUsd === 'unpriced') return null
  const start = startUsd ?? lastUsd
  return changePct(start, endUsd ?? start)
}

function changePct(from: UsdPrice, to: UsdPrice): number | null {
  return typeof from === 'number' && typeof to === 'number' ? ((to - from) / from) * 100 : null
}

/** A range of one interval's candles: from ≤ ts < to. */
export interface WindowPart {
  readonly interval: Interval
  readonly from: number
  readonly to: number
}

/**
 * Returns the candle ranges that make up the window of `seconds`: whole hours from 1h candles, the edges from 1m
 * candles, oldest first, no empty ranges. The window ends with the minute of `endTime`, the block time of the indexed
 * head (`windowSpan`).
 */
export function windowParts(endTime: number, seconds: number): WindowPart[] {
  const { from, to } = windowSpan(endTime, seconds)
  const firstHour = Math.min(bucketStart('1h', from + 3_599), to)
  const lastHour = Math.max(bucketStart('1h', to), firstHour)
  const parts: WindowPart[] = [
    { interval: '1m', from, to: firstHour },
    { interval: '1h', from: firstHour, to: lastHour },
    { interval: '1m', from: lastHour, to }
  ]
  return parts.filter((part) => part.from < part.to)
}

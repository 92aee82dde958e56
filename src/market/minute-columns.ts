import type { ActivityHour, UsdPrice } from './activity-rows.ts'
import { TraderUnion } from './traders.ts'
import { windowSpan, type MintWindow } from './windows.ts'

/** Numbers of a minute, by their place in it. */
export const MINUTE = 0
export const TRADES = 1
export const BUYS = 2
export const SELLS = 3
export const PRICED = 4
export const VOLUME_MICRO_USD = 5
export const BUY_MICRO_USD = 6
export const SELL_MICRO_USD = 7
export const VOLUME_CASH = 8
/** NaN if no row forms a price, and UNPRICED without a price in USD; likewise the next one. */
export const OPEN_USD = 9
export const CLOSE_USD = 10
/** Numbers of a minute. */
export const MINUTE_NUMBERS = 11
/** Stands for a price that has no value in USD: no price is negative. */
export const UNPRICED = -1

/** The fields that are sums over the minutes of a window. */
const SUMS = [
  TRADES,
  BUYS,
  SELLS,
  PRICED,
  VOLUME_MICRO_USD,
  BUY_MICRO_USD,
  SELL_MICRO_USD,
  VOLUME_CASH
] as const

const HOUR = 3_600
const SECONDS_OF_MINUTE = 60
const MINUTES_AT_FIRST = 128

/** An hour of columns. */
export interface ColumnHour extends Pick<ActivityHour, 'hour' | 'priorUsd' | 'traders'> {
  /** Number of its first minute, and how many it has. */
  readonly first: number
  readonly minutes: number
}

/**
 * Minutes of a mint's activity as columns of numbers, without an object a minute: as they are read to be folded once. They
 * have no sum of 2^53 or more.
 */
export class MinuteColumns {
  /** `MINUTE_NUMBERS` of each minute, ascending by time. */
  numbers = new Float64Array(MINUTES_AT_FIRST * MINUTE_NUMBERS)
  length = 0
  /** Oldest first. */
  readonly hours: ColumnHour[] = []

  /** Begins a minute, and returns the place of its numbers. */
  add(): number {
    const place = this.length * MINUTE_NUMBERS
    if (place === this.numbers.length) {
      const grown = new Float64Array(2 * place)
      grown.set(this.numbers)
      this.numbers = grown
    }
    this.length++
    return place
  }
}

/**
 * Folds the window of `seconds` that ends with the minute of `headTime`, like `foldWindow`, to the bit. Null if a sum does
 * not fit a number.
 */
export function foldColumns(
  { numbers, hours }: MinuteColumns,
  headTime: number,
  seconds: number,
  options: { readonly traders: boolean }
): MintWindow | null {
  const { from, to } = windowSpan(headTime, seconds)
  const sums = new Float64Array(MINUTE_NUMBERS)
  let open: UsdPrice = null
  let close: UsdPrice = null
  let before: UsdPrice = null
  let isNewest = true
  const traders = new TraderUnion()
  for (const { hour, priorUsd, traders: sketch, first, minutes } of hours) {
    if (hour + HOUR > from && hour < to) {
      if (open === null) before = priorUsd ?? before
      if (options.traders) traders.add(sketch, Math.max(from - hour, 0) / SECONDS_OF_MINUTE)
    }
    for (let minute = first; minute < first + minutes; minute++) {
      const place = minute * MINUTE_NUMBERS
      const start = numbers[place + MINUTE]!
      const closeUsd = priceOf(numbers[place + CLOSE_USD]!)
      if (start < from) before = closeUsd ?? before
      else if (start >= to) isNewest = false
      else {
        for (const field of SUMS) sums[field]! += numbers[place + field]!
        open ??= priceOf(numbers[place + OPEN_USD]!)
        close = closeUsd ?? close
      }
    }
  }
  if (!SUMS.every((field) => Number.isSafeInteger(sums[field]!))) return null
  const [trades, priced] = [sums[TRADES]!, sums[PRICED]!]
  const isUnpriced = trades > 0 && priced === 0
  const usd = (field: number): bigint | null => (isUnpriced ? null : BigInt(sums[field]!))
  return {
    ...{ from, to, trades, buys: sums[BUYS]!, sells: sums[SELLS]! },
    volumeMicroUsd: usd(VOLUME_MICRO_USD),
    buyMicroUsd: usd(BUY_MICRO_USD),
    sellMicroUsd: usd(SELL_MICRO_USD),
    unpriced: trades - priced,
    volumeCash: BigInt(sums[VOLUME_CASH]!),
    traders: options.traders && isNewest ? traders.count : null,
    startUsd: before ?? open,
    endUsd: close
  }
}

const priceOf = (number: number): UsdPrice =>
  Number.isNaN(number) ? null : number === UNPRICED ? 'unpriced' : number

import { humanAmount, powerOfTen, ratio } from './amount.ts'
import type { UsdPrice } from './activity-rows.ts'
import { priceUsd } from './cash-price.ts'
import type { Leg } from './legs.ts'
import type { PairRow, TradeRow } from './rows.ts'

// The least raw units of each leg, and the least value, of a trade whose price counts.
const LEG_UNITS_MIN = 1_000n
const CASH_USD_MIN = 0.01
const CASH_SOL_MIN = 0.0001
const RECENT_MAX = 20
const OUTLIER_FACTOR = 10
const AGREEING = 3
const AGREEMENT = 1.25
/** The square of the fixed point of a square root with 64 fractional bits. */
const ROOT_UNIT = 2n ** 128n

/**
 * Returns cash per token in human units, from the raw amounts: the double nearest to the true quotient (half a unit in
 * the last place). Null if no token moved.
 */
export function priceOf(cash: Leg, token: Leg): number | null {
  if (token.amount === 0n) return null
  const shift = token.decimals - cash.decimals
  return shift >= 0
    ? ratio(cash.amount * powerOfTen(shift), token.amount)
    : ratio(cash.amount, token.amount * powerOfTen(-shift))
}

/**
 * Returns cash per token in human units, as the double nearest to the true value. `root` is the square root of the
 * price in base units, times 2^64, as Meteora's programs state it.
 */
export function priceOfRoot(root: bigint, decimals: number, cashDecimals: number): number {
  const shift = decimals - cashDecimals
  const square = root * root
  return shift >= 0
    ? ratio(square * powerOfTen(shift), ROOT_UNIT)
    : ratio(square, ROOT_UNIT * powerOfTen(-shift))
}

/** Returns whether a trade is too small to form a price. `cashUsd` is null only for SOL without a price. */
export function isDust(cash: Leg, token: Leg, cashUsd: number | null): boolean {
  if (cash.amount < LEG_UNITS_MIN || token.amount < LEG_UNITS_MIN) return true
  const amount = humanAmount(cash.amount, cash.decimals)
  return cashUsd === null ? amount < CASH_SOL_MIN : amount * cashUsd < CASH_USD_MIN
}

/** Returns the USD price of a price-forming row, `unpriced` if its cash had no price; null for other rows. */
export function formedUsd(row: TradeRow): UsdPrice {
  return row.priceForming ? (priceUsd(row) ?? 'unpriced') : null
}

/** The prices with which the next one of a pair is compared. */
export type PriceLevel = Pick<PairRow, 'recent' | 'excluded'>

/**
 * Judges a price that is not dust, and returns the level after it. A pair's first price always forms. A price is
 * excluded if it is more than 10 times above or below the median of the last 20 price-forming ones. The median of an
 * even number of prices is the mean of the middle two.
 *
 * The level moves if three consecutive excluded prices agree: the highest is at most 1.25 times the lowest. Then the
 * third forms a price, and the next one is compared with these three alone.
 */
export function judgePrice(level: PriceLevel, price: number): { forming: boolean; level: PriceLevel } {
  if (!isOutlier(level.recent, price)) {
    const recent = level.recent.slice(Math.max(level.recent.length + 1 - RECENT_MAX, 0))
    recent.push(price)
    return { forming: true, level: { recent, excluded: NO_PRICES } }
  }
  const excluded = [...level.excluded, price].slice(-AGREEING)
  const moved = excluded.length === AGREEING && Math.max(...excluded) <= AGREEMENT * Math.min(...excluded)
  return moved
    ? { forming: true, level: { recent: excluded, excluded: NO_PRICES } }
    : { forming: false, level: { recent: level.recent, excluded } }
}

const NO_PRICES: readonly number[] = []

function isOutlier(recent: readonly number[], price: number): boolean {
  let [lowest, highest] = [Infinity, -Infinity]
  for (const each of recent) {
    if (each < lowest) lowest = each
    if (each > highest) highest = each
  }
  // A price near all of them is also near their median, so no sort is needed. This is the usual case, and includes an
  // empty list.
  if (price <= lowest * OUTLIER_FACTOR && price * OUTLIER_FACTOR >= highest) return false
  const middle = median(recent)
  return price > middle * OUTLIER_FACTOR || price * OUTLIER_FACTOR < middle
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

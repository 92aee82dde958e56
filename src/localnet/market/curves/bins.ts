import { ceilDiv, smaller } from './integers.ts'

/** A bin: raw amounts of both tokens at one price, without fees. */
export interface Bin {
  readonly x: bigint
  readonly y: bigint
}

/** Consecutive bins; `firstId` is the id of the first. */
export interface Bins {
  readonly firstId: number
  readonly bins: readonly Bin[]
}

/** The effect of a swap on one bin. */
export interface BinFill {
  readonly id: number
  readonly input: bigint
  readonly output: bigint
  readonly fee: bigint
}

const BITS = 128n
const BILLION = 1_000_000_000n

/** Maximum number of cached prices: many times the bins of all pools of a market. Above it the cache is cleared. */
const KNOWN_PRICES_MAX = 10_000
const knownPrices = new Map<number, bigint>()

/**
 * Returns a bin's price, Y per X in Q64.64: (1 + step/10,000)^id. Cached, because one account of bins needs 70 of them.
 */
export function binPrice(id: number, step: number): bigint {
  // Ids stay below 2^24 and steps below 2^16.
  const key = id * 2 ** 16 + step
  const known = knownPrices.get(key)
  if (known !== undefined) return known
  if (knownPrices.size >= KNOWN_PRICES_MAX) knownPrices.clear()
  const price = computePrice(id, step)
  knownPrices.set(key, price)
  return price
}

function computePrice(id: number, step: number): bigint {
  let power = ((10_000n + BigInt(step)) << BITS) / 10_000n
  let price = 1n << BITS
  for (let rest = Math.abs(id); rest > 0; rest >>= 1) {
    if (rest & 1) price = (price * power) >> BITS
    power = (power * power) >> BITS
  }
  return id < 0 ? (1n << (BITS + 64n)) / price : price >> (BITS - 64n)
}

/** Returns the id of the bin whose price is nearest to the given Y per X. */
export function binAtPrice(price: number, step: number): number {
  return Math.round(Math.log(price) / Math.log(1 + step / 10_000))
}

/**
 * Fills bins from the active one until the input is used up: downward for X in, upward for Y in. The fee is taken from the
 * input, in units of 1e-9 of it. Null if the bins run out or the output is zero.
 */
export function fillBins(
  { firstId, bins }: Bins,
  activeId: number,
  step: number,
  amountIn: bigint,
  xIn: boolean,
  fee: bigint
): readonly BinFill[] | null {
  const fills: BinFill[] = []
  let left = amountIn
  let out = 0n
  for (let id = activeId; left > 0n; id += xIn ? -1 : 1) {
    const bin = bins[id - firstId]
    if (bin === undefined) return null
    const there = xIn ? bin.y : bin.x
    if (there === 0n) continue
    const fill = fillBin(id, binPrice(id, step), there, left, xIn, fee)
    fills.push(fill)
    left -= fill.input + fill.fee
    out += fill.output
  }
  return out > 0n ? fills : null
}

function fillBin(id: number, price: bigint, there: bigint, left: bigint, xIn: boolean, fee: bigint): BinFill {
  const forAll = xIn ? ceilDiv(there << 64n, price) : ceilDiv(there * price, 1n << 64n)
  const feeOfAll = ceilDiv(forAll * fee, BILLION - fee)
  if (left >= forAll + feeOfAll) return { id, input: forAll, output: there, fee: feeOfAll }
  const taken = ceilDiv(left * fee, BILLION)
  const input = left - taken
  const worth = xIn ? (input * price) >> 64n : (input << 64n) / price
  return { id, input, output: smaller(worth, there), fee: taken }
}

/** Returns the bins after a swap. */
export function afterFills({ firstId, bins }: Bins, fills: readonly BinFill[], xIn: boolean): Bin[] {
  const after = [...bins]
  for (const { id, input, output } of fills) {
    const { x, y } = after[id - firstId]!
    after[id - firstId] = xIn ? { x: x + input, y: y - output } : { x: x - output, y: y + input }
  }
  return after
}

/** Spreads amounts evenly: Y over the bins up to the active one, X from it on. The remainder goes to the active bin. */
export function spreadEvenly(x: bigint, y: bigint, each: number): Bin[] {
  const count = BigInt(each + 1)
  const [ofX, ofY] = [x / count, y / count]
  return Array.from({ length: 2 * each + 1 }, (_, at): Bin => {
    if (at === each) return { x: x - ofX * BigInt(each), y: y - ofY * BigInt(each) }
    return at < each ? { x: 0n, y: ofY } : { x: ofX, y: 0n }
  })
}

/** Returns a share of every bin: rounded up for a deposit, down for a withdrawal. */
export function partOfBins(
  bins: readonly Bin[],
  part: bigint,
  whole: bigint,
  rounding: 'up' | 'down'
): readonly Bin[] {
  const share = (amount: bigint): bigint =>
    rounding === 'up' ? ceilDiv(amount * part, whole) : (amount * part) / whole
  return bins.map(({ x, y }) => ({ x: share(x), y: share(y) }))
}

export function sumOfBins(bins: readonly Bin[]): readonly [bigint, bigint] {
  return [bins.reduce((sum, { x }) => sum + x, 0n), bins.reduce((sum, { y }) => sum + y, 0n)]
}

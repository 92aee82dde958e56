import { ceilDiv, smaller } from './integers.ts'

/** An order that rests: a price in ticks, and how many base lots are left of it. */
export interface RestingOrder {
  readonly sequence: bigint
  readonly price: bigint
  readonly lots: bigint
}

/** The best order of each side stands first. */
export interface Book {
  readonly bids: readonly RestingOrder[]
  readonly asks: readonly RestingOrder[]
}

/** Lots of a market: a tick is one quote lot for so many base lots. */
export interface LotTerms {
  readonly baseLotsPerUnit: bigint
  readonly feeBps: bigint
}

export interface BookFill {
  readonly order: RestingOrder
  readonly lots: bigint
}

/** What an order took: quote lots are those of the makers, the fee besides. */
export interface Taken {
  readonly fills: readonly BookFill[]
  readonly baseLots: bigint
  readonly quoteLots: bigint
  readonly fee: bigint
}

const BASIS = 10_000n

/** Buys from the asks for no more than a budget in quote lots, fee included; null where that buys no lot. */
export function takeAsks(asks: readonly RestingOrder[], budget: bigint, terms: LotTerms): Taken | null {
  let left = ((budget * BASIS) / (BASIS + terms.feeBps)) * terms.baseLotsPerUnit
  const fills: BookFill[] = []
  for (const order of asks) {
    const lots = smaller(order.lots, left / order.price)
    if (lots === 0n) break
    fills.push({ order, lots })
    left -= lots * order.price
    if (lots < order.lots) break
  }
  const { baseLots, worth } = sumOf(fills)
  if (baseLots === 0n) return null
  const quoteLots = ceilDiv(worth, terms.baseLotsPerUnit)
  return { fills, baseLots, quoteLots, fee: ceilDiv(quoteLots * terms.feeBps, BASIS) }
}

/** Sells to the bids no more than so many base lots; null where that brings nothing. */
export function takeBids(bids: readonly RestingOrder[], most: bigint, terms: LotTerms): Taken | null {
  let left = most
  const fills: BookFill[] = []
  for (const order of bids) {
    const lots = smaller(order.lots, left)
    if (lots === 0n) break
    fills.push({ order, lots })
    left -= lots
  }
  const { baseLots, worth } = sumOf(fills)
  const quoteLots = worth / terms.baseLotsPerUnit
  const fee = ceilDiv(quoteLots * terms.feeBps, BASIS)
  return quoteLots > fee ? { fills, baseLots, quoteLots, fee } : null
}

/** The orders that are left of a side. */
export function afterTake(
  orders: readonly RestingOrder[],
  fills: readonly BookFill[]
): readonly RestingOrder[] {
  const filled = new Map(fills.map(({ order, lots }) => [order, lots]))
  return orders
    .map((order) => ({ ...order, lots: order.lots - (filled.get(order) ?? 0n) }))
    .filter(({ lots }) => lots > 0n)
}

function sumOf(fills: readonly BookFill[]): { readonly baseLots: bigint; readonly worth: bigint } {
  return {
    baseLots: fills.reduce((sum, { lots }) => sum + lots, 0n),
    worth: fills.reduce((sum, { order, lots }) => sum + order.price * lots, 0n)
  }
}

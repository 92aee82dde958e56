import { ceilDiv, smaller } from './integers.ts'

/** A resting order: its price in ticks and its remaining base lots. */
export interface RestingOrder {
  readonly sequence: bigint
  readonly price: bigint
  readonly lots: bigint
}

/** Both sides of a book, each with its best order first. */
export interface Book {
  readonly bids: readonly RestingOrder[]
  readonly asks: readonly RestingOrder[]
}

/** Lot sizes of a market: a tick is one quote lot per `baseLotsPerUnit` base lots. */
export interface LotTerms {
  readonly baseLotsPerUnit: bigint
  readonly feeBps: bigint
}

export interface BookFill {
  readonly order: RestingOrder
  readonly lots: bigint
}

/** The result of a taking order; `quoteLots` excludes the fee. */
export interface TakerExecution {
  readonly fills: readonly BookFill[]
  readonly baseLots: bigint
  readonly quoteLots: bigint
  readonly fee: bigint
}

const BASIS = 10_000n

/** Buys from the asks within a budget in quote lots, fee included; null if the budget buys no lot. */
export function takeAsks(
  asks: readonly RestingOrder[],
  budget: bigint,
  terms: LotTerms
): TakerExecution | null {
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

/** Sells at most `most` base lots to the bids; null if it earns nothing. */
export function takeBids(
  bids: readonly RestingOrder[],
  most: bigint,
  terms: LotTerms
): TakerExecution | null {
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

/** Returns the remaining orders of a side. */
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

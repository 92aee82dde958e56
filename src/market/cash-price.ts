/** A price in its cash, and the USD value of one unit of that cash at the time; each is null if unknown. */
export interface CashPrice {
  readonly price: number | null
  readonly cashUsd: number | null
}

/** Returns the price in USD (L2 of `latest-price.ts`); null if it has none. */
export function priceUsd({ price, cashUsd }: CashPrice): number | null {
  return price === null || cashUsd === null ? null : price * cashUsd
}

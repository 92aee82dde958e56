/** A price in its cash, and the USD value of one unit of that cash at the time; each is null when unknown. */
export interface CashPrice {
  readonly price: number | null
  readonly cashUsd: number | null
}

/** Returns the price in USD (L2 of `latest-price.ts`); null when it has none. */
export function priceUsd({ price, cashUsd }: CashPrice): number | null {
  return price === null || cashUsd === null ? null : price * cashUsd
}

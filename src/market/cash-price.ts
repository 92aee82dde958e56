/** A price in its cash, with what one unit of that cash was worth in USD at the time; either is null when unknown. */
export interface CashPrice {
  readonly price: number | null
  readonly cashUsd: number | null
}

/** The price in USD (L2 of `latest-price.ts`); null when it has none. */
export function priceUsd({ price, cashUsd }: CashPrice): number | null {
  return price === null || cashUsd === null ? null : price * cashUsd
}

import type { UsdPrice } from './activity-rows.ts'
import { priceUsd } from './cash-price.ts'
import type { LastPrice, PairRow } from './rows.ts'

/**
 * The price that every view serves: overview, price, trending, pools, curves, and the percentages of all of them.
 *
 * L1. The price of a token or of a pool is that of its newest price-forming trade; for a token over all its pairs.
 * L2. The USD price is that price times the USD value of its cash at the minute of that trade. That value is 1 for
 *     dollars. For SOL it is the price of the minute, whose trades are at most 60 minutes older (`solPriceAt`). If
 *     the cash had no price then, there is no USD price: an older trade's is not served instead.
 * L3. A change in percent compares the USD prices (L2) at both ends of a window. It is null if either price is
 *     missing (`windowOf`).
 */

/** A pair with its newest price-forming trade. */
export type PricedPair = PairRow & { readonly last: LastPrice }

/** Returns the pair with the newest price-forming trade of a mint (L1); null if no trade of the mint forms a price. */
export function newestPair(pairs: readonly PairRow[]): PricedPair | null {
  let newest: PricedPair | null = null
  for (const pair of pairs)
    if (isPriced(pair) && pair.last.cursor > (newest?.last.cursor ?? -1)) newest = pair
  return newest
}

function isPriced(pair: PairRow): pair is PricedPair {
  return pair.last !== null
}

/** Returns a mint's newest price in the form that activity uses: `unpriced` is a price without a USD price. */
export function newestUsd(pair: PricedPair | null): UsdPrice {
  return pair === null ? null : (priceUsd(pair.last) ?? 'unpriced')
}

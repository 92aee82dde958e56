import type { BuyBody, SellBody } from './pumpswap-events.ts'

/** A BuyEvent or SellEvent, with common field names. */
export interface Swap {
  readonly isBuy: boolean
  readonly body: BuyBody | SellBody
  readonly base: bigint
  /** The liquidity amount that the quote vault took or paid; excludes fees that stay in the vault until swept. */
  readonly quote: bigint
  /** The quote amount that the user paid or got. */
  readonly userQuote: bigint
  /** Index in the inner group of the call that stated it; null for a logged one. */
  readonly innerIndex: number | null
}

/** Converts a BuyEvent. */
export function bought(body: BuyBody, innerIndex: number | null): Swap {
  const { baseAmountOut, quoteAmountInWithLpFee } = body
  return {
    isBuy: true,
    body,
    base: baseAmountOut,
    quote: quoteAmountInWithLpFee,
    userQuote: paidByUser(body),
    innerIndex
  }
}

/**
 * Returns the quote amount that the user paid. A buy of an exact base states it as the user's amount. A buy of an exact
 * quote states the amount before all fees instead, which is less than the vault takes.
 */
function paidByUser(body: BuyBody): bigint {
  const { quoteAmountInWithLpFee, userQuoteAmountIn, protocolFee, coinCreatorFee, cashback } = body
  if (userQuoteAmountIn >= quoteAmountInWithLpFee) return userQuoteAmountIn
  return quoteAmountInWithLpFee + protocolFee + (coinCreatorFee ?? 0n) + (cashback ?? 0n)
}

/** Converts a SellEvent. */
export function sold(body: SellBody, innerIndex: number | null): Swap {
  const { baseAmountIn, quoteAmountOutWithoutLpFee, userQuoteAmountOut } = body
  return {
    isBuy: false,
    body,
    base: baseAmountIn,
    quote: quoteAmountOutWithoutLpFee,
    userQuote: userQuoteAmountOut,
    innerIndex
  }
}

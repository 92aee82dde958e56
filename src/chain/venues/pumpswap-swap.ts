import type { BuyBody, SellBody } from './pumpswap-events.ts'

/** What a BuyEvent and a SellEvent say, in the same words. */
export interface Swap {
  readonly isBuy: boolean
  readonly body: BuyBody | SellBody
  readonly base: bigint
  /** What the quote vault took or gave for liquidity; fees that stay in the vault until swept are beside it. */
  readonly quote: bigint
  /** What the user paid or got. */
  readonly userQuote: bigint
  /** Index in the inner group of the call that stated it; null for a logged one. */
  readonly innerIndex: number | null
}

/** What a BuyEvent says. */
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
 * A buy of an exact base states what the user paid as the user's amount. One of an exact quote turns two amounts
 * around: the user's is then the one before all fees, and less than what the vault takes.
 */
function paidByUser(body: BuyBody): bigint {
  const { quoteAmountInWithLpFee, userQuoteAmountIn, protocolFee, coinCreatorFee, cashback } = body
  if (userQuoteAmountIn >= quoteAmountInWithLpFee) return userQuoteAmountIn
  return quoteAmountInWithLpFee + protocolFee + (coinCreatorFee ?? 0n) + (cashback ?? 0n)
}

/** What a SellEvent says. */
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

import type { CurveReserves, TradeReserves } from '../events.ts'
import { isZeroPubkey, samePubkey, type Pubkey } from '../pubkey.ts'
import { NATIVE_MINT } from '../token-accounts.ts'
import type { TradeBody } from './pumpfun-events.ts'

export interface Quote {
  readonly mint: Pubkey
  readonly amount: bigint
  readonly virtual: bigint | undefined
  readonly real: bigint | undefined
}

/** Returns the quote leg: the coin that the event names, or SOL; events from before quote coins are in SOL. */
export function quoteOf(body: TradeBody): Quote {
  const { quoteMint, quoteAmount } = body
  if (quoteMint === undefined || quoteAmount === undefined || isNative(mintOrNative(quoteMint))) {
    return {
      mint: NATIVE_MINT,
      amount: body.solAmount,
      virtual: body.virtualSolReserves,
      real: body.realSolReserves
    }
  }
  return {
    mint: quoteMint,
    amount: quoteAmount,
    virtual: body.virtualQuoteReserves,
    real: body.realQuoteReserves
  }
}

/** Returns SOL for zeros, and for a body from before quote coins. */
export function mintOrNative(mint: Pubkey | undefined): Pubkey {
  return mint === undefined || isZeroPubkey(mint) ? NATIVE_MINT : mint
}

export function isNative(mint: Pubkey): boolean {
  return samePubkey(mint, NATIVE_MINT)
}

/** Returns the reserves that an event states; events of 2024 state only virtual ones. */
export function tradeReserves(body: TradeBody, quote: Quote): TradeReserves {
  const token = { real: body.realTokenReserves, virtual: body.virtualTokenReserves }
  const [paid, received] = body.isBuy ? [quote, token] : [token, quote]
  return {
    ...(paid.real !== undefined && { in: paid.real }),
    ...(received.real !== undefined && { out: received.real }),
    ...(paid.virtual !== undefined && { virtualIn: paid.virtual }),
    ...(received.virtual !== undefined && { virtualOut: received.virtual })
  }
}

export function curveReserves(body: TradeBody): CurveReserves {
  const { real, virtual } = quoteOf(body)
  return {
    virtualBase: body.virtualTokenReserves,
    ...(body.realTokenReserves === undefined ? {} : { realBase: body.realTokenReserves }),
    ...(real === undefined ? {} : { realQuote: real }),
    ...(virtual === undefined ? {} : { virtualQuote: virtual })
  }
}

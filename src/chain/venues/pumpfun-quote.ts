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

/** The quote leg: SOL, as in every event before quote coins, or the coin that the event names. */
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

/** Zeros stand for SOL, and so does a body from before quote coins. */
export function mintOrNative(mint: Pubkey | undefined): Pubkey {
  return mint === undefined || isZeroPubkey(mint) ? NATIVE_MINT : mint
}

export function isNative(mint: Pubkey): boolean {
  return samePubkey(mint, NATIVE_MINT)
}

/** Null for the events of 2024 that state only virtual reserves. */
export function tradeReserves(body: TradeBody, quote: Quote): TradeReserves | null {
  const { realTokenReserves, virtualTokenReserves } = body
  if (realTokenReserves === undefined || quote.real === undefined || quote.virtual === undefined) return null
  return body.isBuy
    ? { in: quote.real, out: realTokenReserves, virtualIn: quote.virtual, virtualOut: virtualTokenReserves }
    : { in: realTokenReserves, out: quote.real, virtualIn: virtualTokenReserves, virtualOut: quote.virtual }
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

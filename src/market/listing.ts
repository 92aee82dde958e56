import type { ChainEvent, Trade } from '../chain/events.ts'
import { samePubkey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { CashList } from './cash.ts'

/** The two mints under which an event is listed: the base is the token and the quote its cash. */
export interface Listing {
  readonly base: Pubkey
  /** Null if the event names only one mint. */
  readonly quote: Pubkey | null
  /** Whether the event is also listed under its quote, because neither mint is cash. */
  readonly quoteListed: boolean
}

/**
 * Returns an event's listing, which depends only on the cash list. Of two tokens the first named is the base, in a
 * trade the paid one. Null if it names no token.
 */
export function listingOf(event: ChainEvent, cash: CashList): Listing | null {
  const [first, second] = mintsOf(event)
  if (first === null || second === null) {
    const only = first ?? second
    if (only === null || cash.of(only) !== undefined) return null
    return { base: only, quote: null, quoteListed: false }
  }
  const cashSide = cash.sideOf({ inMint: first, outMint: second })
  return cashSide === 'in'
    ? { base: second, quote: first, quoteListed: false }
    : { base: first, quote: second, quoteListed: cashSide === null }
}

/** Returns the mints under which an event is listed: its tokens. */
export function listedMints(listing: Listing | null): Pubkey[] {
  if (listing === null) return []
  const { base, quote, quoteListed } = listing
  return quoteListed && quote !== null ? [base, quote] : [base]
}

/** The mints of a trade that a launchpad may have launched: all that are not cash. */
export function launchableMints(trade: Trade, cash: CashList): Pubkey[] {
  return [trade.inMint, trade.outMint].filter((mint) => cash.of(mint) === undefined)
}

/** The decimals of a mint as the event states them; null if it does not. */
export function decimalsOf(event: ChainEvent, mint: Pubkey): number | null {
  switch (event.kind) {
    case 'trade':
      if (samePubkey(event.inMint, mint)) return event.inDecimals
      return samePubkey(event.outMint, mint) ? event.outDecimals : null
    case 'liquidity':
      if (event.baseMint !== null && samePubkey(event.baseMint, mint)) return event.baseDecimals
      return event.quoteMint !== null && samePubkey(event.quoteMint, mint) ? event.quoteDecimals : null
    case 'launch':
      return samePubkey(event.baseMint, mint) ? event.decimals : null
    case 'curve':
    case 'pool':
      return null
  }
}

function mintsOf(event: ChainEvent): [Pubkey | null, Pubkey | null] {
  return event.kind === 'trade' ? [event.inMint, event.outMint] : [event.baseMint, event.quoteMint]
}

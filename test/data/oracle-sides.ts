import { address } from './oracle-bodies.ts'
import { CASH, isCash, type StoryEvent } from './oracle-story.ts'

/** Returns the token and the cash of an event, or its two tokens in the event's order. */
export function sidesOf({ event }: StoryEvent): [string | null, string | null] {
  const named = event.kind === 'trade' ? [event.inMint, event.outMint] : [event.baseMint, event.quoteMint]
  const [a, b] = named.map(address)
  if (a === null || b === null || a === undefined || b === undefined) {
    const only = a ?? b ?? null
    return [only === null || isCash(only) ? null : only, null]
  }
  // With two cash mints, the earlier in the list is the token.
  return CASH.indexOf(a) <= CASH.indexOf(b) ? [a, b] : [b, a]
}

export function decimalsIn({ event }: StoryEvent, mint: string): number | null {
  switch (event.kind) {
    case 'trade':
      if (address(event.inMint) === mint) return event.inDecimals
      return address(event.outMint) === mint ? event.outDecimals : null
    case 'liquidity':
      if (address(event.baseMint) === mint) return event.baseDecimals
      return address(event.quoteMint) === mint ? event.quoteDecimals : null
    case 'launch':
      return address(event.baseMint) === mint ? event.decimals : null
    default:
      return null
  }
}

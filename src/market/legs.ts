import type { Pubkey } from '../chain/pubkey.ts'

export type Side = 'in' | 'out'

/** The two legs of a trade; decoded trades and stored rows have them. */
export interface Fill {
  readonly inMint: Pubkey
  readonly outMint: Pubkey
  readonly inDecimals: number
  readonly outDecimals: number
  readonly inAmount: bigint
  readonly outAmount: bigint
}

export interface Leg {
  readonly mint: Pubkey
  readonly decimals: number
  /** Base units. */
  readonly amount: bigint
}

export function legOf(fill: Fill, side: Side): Leg {
  return side === 'in'
    ? { mint: fill.inMint, decimals: fill.inDecimals, amount: fill.inAmount }
    : { mint: fill.outMint, decimals: fill.outDecimals, amount: fill.outAmount }
}

export function otherSide(side: Side): Side {
  return side === 'in' ? 'out' : 'in'
}

import type { ChainEvent, CurveReserves, EventOrigin } from '../../src/chain/events.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { SOL } from './population.ts'

/** One side of a trade: a mint, its decimals, and base units. */
export interface Amount {
  readonly mint: Pubkey
  readonly decimals: number
  readonly amount: bigint
}

/** Converts an amount to base units, at least one. */
export function units(amount: number, decimals: number): bigint {
  return BigInt(Math.max(1, Math.round(amount * 10 ** decimals)))
}

export function legs(paid: Amount, received: Amount) {
  return {
    inMint: paid.mint,
    outMint: received.mint,
    inDecimals: paid.decimals,
    outDecimals: received.decimals,
    inAmount: paid.amount,
    outAmount: received.amount
  }
}

/** Returns a launch and the creation of its curve, at the origin's place in the chain. */
export function launchEvents(
  origin: EventOrigin,
  baseMint: Pubkey,
  number: number,
  reserves: CurveReserves
): ChainEvent[] {
  const { pool: curve, user: creator } = origin
  const mints = { baseMint, quoteMint: SOL, curve }
  const names = {
    name: `Synthetic token ${number}`,
    symbol: `SYN${number}`,
    uri: `https://ipfs.io/ipfs/bafkreidsyntheticsyntheticsyntheticsyntheticsynth${number}`
  }
  const supply = 1_000_000_000_000_000n
  return [
    { kind: 'launch', event: 'create', ...origin, ...mints, ...names, creator, decimals: 6, supply },
    { kind: 'curve', event: 'create', ...origin, ...mints, progressPct: 0, destination: null, reserves }
  ]
}

/** Returns the creation of a curve's destination pool, and the migration to it. */
export function migrationEvents(
  curve: EventOrigin,
  pool: EventOrigin,
  baseMint: Pubkey,
  vaults: { readonly baseVault: Pubkey; readonly quoteVault: Pubkey }
): ChainEvent[] {
  const mints = { baseMint, quoteMint: SOL }
  const initial = { initialBase: 206_900_000_000_000n, initialQuote: 84_990_000_000n }
  const leading = { curve: curve.pool, progressPct: 100, destination: pool.pool, reserves: null }
  return [
    { kind: 'pool', event: 'create', ...pool, ...mints, ...vaults, feeBps: 25, ...initial },
    { kind: 'curve', event: 'migrate', ...curve, ...mints, ...leading }
  ]
}

import { PubkeyTable } from './pubkey.ts'
import type { Venue } from './venue.ts'
import { raydiumAmmV4 } from './venues/raydium-amm-v4.ts'

/** Every venue that is decoded. */
export const VENUES: readonly Venue[] = [raydiumAmmV4]

export const VENUES_BY_PROGRAM = new PubkeyTable<Venue>(
  VENUES.flatMap((venue) => venue.programs.map((program) => [program, venue] as const))
)

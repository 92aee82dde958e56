import { PubkeyTable } from './pubkey.ts'
import type { Venue } from './venue.ts'
import { meteoraDammV1 } from './venues/meteora-damm-v1.ts'
import { meteoraDammV2 } from './venues/meteora-damm-v2.ts'
import { meteoraDbc } from './venues/meteora-dbc.ts'
import { meteoraDlmm } from './venues/meteora-dlmm.ts'
import { lifinity } from './venues/lifinity.ts'
import { moonshot } from './venues/moonshot.ts'
import { orcaWhirlpool } from './venues/orca-whirlpool.ts'
import { phoenix } from './venues/phoenix.ts'
import { pumpfun } from './venues/pumpfun.ts'
import { pumpswap } from './venues/pumpswap.ts'
import { raydiumAmmV4 } from './venues/raydium-amm-v4.ts'
import { raydiumClmm } from './venues/raydium-clmm.ts'
import { raydiumCpmm } from './venues/raydium-cpmm.ts'
import { raydiumLaunchlab } from './venues/raydium-launchlab.ts'
import { raydiumStable } from './venues/raydium-stable.ts'

/** Every decoded venue. */
export const VENUES: readonly Venue[] = [
  meteoraDlmm,
  meteoraDammV1,
  meteoraDammV2,
  meteoraDbc,
  lifinity,
  moonshot,
  orcaWhirlpool,
  phoenix,
  pumpfun,
  pumpswap,
  raydiumAmmV4,
  raydiumClmm,
  raydiumCpmm,
  raydiumLaunchlab,
  raydiumStable
]

export const VENUES_BY_PROGRAM = new PubkeyTable<Venue>(
  VENUES.flatMap((venue) => venue.programs.map((program) => [program, venue] as const))
)

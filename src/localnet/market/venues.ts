import type { VenueId } from '../../chain/venue-id.ts'
import type { LaunchpadVenue, MarketPool, PoolVenue } from './venue.ts'
import { lifinityPools } from './venues/lifinity.ts'
import { meteoraDammV1Pools } from './venues/meteora-damm-v1.ts'
import { meteoraDammV2Pools } from './venues/meteora-damm-v2.ts'
import { dbcCurves } from './venues/meteora-dbc.ts'
import { meteoraDlmmPools } from './venues/meteora-dlmm.ts'
import { moonshotCurves } from './venues/moonshot.ts'
import { orcaWhirlpoolPools } from './venues/orca-whirlpool.ts'
import { phoenixMarkets } from './venues/phoenix.ts'
import { pumpfunCurves } from './venues/pumpfun.ts'
import { pumpswapPools } from './venues/pumpswap.ts'
import { raydiumAmmV4Pools } from './venues/raydium-amm-v4.ts'
import { raydiumClmmPools } from './venues/raydium-clmm.ts'
import { raydiumCpmmPools } from './venues/raydium-cpmm.ts'
import { launchlabCurves } from './venues/raydium-launchlab.ts'
import { raydiumStablePools } from './venues/raydium-stable.ts'

/** Erases a pool's type; only its own venue reads its fields. */
function anyPool<Pool extends MarketPool>(venue: PoolVenue<Pool>): PoolVenue<MarketPool> {
  return venue as unknown as PoolVenue<MarketPool>
}

function anyCurve<Curve extends MarketPool>(venue: LaunchpadVenue<Curve>): LaunchpadVenue<MarketPool> {
  return venue
}

/** Every venue with pools. */
export const POOL_VENUES: readonly PoolVenue<MarketPool>[] = [
  anyPool(pumpswapPools),
  anyPool(raydiumCpmmPools),
  anyPool(raydiumAmmV4Pools),
  anyPool(raydiumClmmPools),
  anyPool(raydiumStablePools),
  anyPool(orcaWhirlpoolPools),
  anyPool(meteoraDlmmPools),
  anyPool(meteoraDammV1Pools),
  anyPool(meteoraDammV2Pools),
  anyPool(lifinityPools),
  anyPool(phoenixMarkets)
]

/** Every venue that launches coins. */
export const LAUNCHPADS: readonly LaunchpadVenue<MarketPool>[] = [
  anyCurve(pumpfunCurves),
  anyCurve(launchlabCurves(anyPool(raydiumCpmmPools))),
  anyCurve(dbcCurves(anyPool(meteoraDammV2Pools))),
  anyCurve(moonshotCurves(anyPool(raydiumAmmV4Pools)))
]

export function poolVenue(id: VenueId): PoolVenue<MarketPool> | undefined {
  return POOL_VENUES.find(({ venue }) => venue === id)
}

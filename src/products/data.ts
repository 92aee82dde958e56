import { names } from '../../actors/chain/names.ts'
import { ranking } from '../../actors/chain/ranking.ts'
import { child } from '../../actors/supervision/unit.ts'
import { bondingCurveRoutes } from '../http/routes/bonding-curve.ts'
import { candleRoutes } from '../http/routes/candles.ts'
import { launchRoutes } from '../http/routes/launches.ts'
import { poolActivityRoutes } from '../http/routes/pool-activity.ts'
import { poolRoutes } from '../http/routes/pool.ts'
import { priceRoutes } from '../http/routes/price.ts'
import { searchRoutes } from '../http/routes/search.ts'
import { statsRoutes } from '../http/routes/stats.ts'
import { tokenPoolRoutes } from '../http/routes/token-pools.ts'
import { tokenRoutes } from '../http/routes/token.ts'
import { tradeRoutes } from '../http/routes/trades.ts'
import { trendingRoutes } from '../http/routes/trending.ts'
import { walletTradeRoutes } from '../http/routes/wallet-trades.ts'
import { NameIndex } from '../views/name-index.ts'
import { RankingHandle } from '../views/ranking-handle.ts'
import { CASH } from './chain-capabilities.ts'
import { beside, capability, type Product } from './product.ts'

/** The sums of the last day, by which tokens are ranked. */
export const RANKING = capability(() => new RankingHandle())

/** Symbols and names of tokens. */
export const NAMES = capability(
  ({ budget, get }) => new NameIndex({ bytesMax: budget.names, cash: get(CASH) })
)

/** The Data API: DEX data over REST. */
export const DATA: Product = {
  name: 'data',
  roles: ['gateway'],
  settings: {},
  units: ({ feed, logger, ports: { clock }, get }) => {
    const live = get(RANKING)
    return [
      beside(
        'views',
        child('ranking', ranking({ feed, live, logger, clock })),
        child('names', names({ feed, names: get(NAMES), ranking: live, logger, clock }))
      )
    ]
  },
  routes: [
    launchRoutes,
    tradeRoutes,
    candleRoutes,
    priceRoutes,
    statsRoutes,
    trendingRoutes,
    tokenRoutes,
    tokenPoolRoutes,
    bondingCurveRoutes,
    poolRoutes,
    poolActivityRoutes,
    walletTradeRoutes,
    searchRoutes
  ]
}

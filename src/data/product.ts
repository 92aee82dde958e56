import { names } from '../../actors/data/names.ts'
import { ranking } from '../../actors/data/ranking.ts'
import { child } from '../../actors/supervision/unit.ts'
import { bondingCurveRoutes } from './routes/bonding-curve.ts'
import { candleRoutes } from './routes/candles.ts'
import { launchRoutes } from './routes/launches.ts'
import { poolActivityRoutes } from './routes/pool-activity.ts'
import { poolRoutes } from './routes/pool.ts'
import { priceRoutes } from './routes/price.ts'
import { searchRoutes } from './routes/search.ts'
import { statsRoutes } from './routes/stats.ts'
import { tokenPoolRoutes } from './routes/token-pools.ts'
import { tokenRoutes } from './routes/token.ts'
import { tradeRoutes } from './routes/trades.ts'
import { trendingRoutes } from './routes/trending.ts'
import { walletTradeRoutes } from './routes/wallet-trades.ts'
import { NameIndex } from './name-index.ts'
import { RankingHandle } from './ranking-handle.ts'
import { CASH } from '../ingest/capabilities.ts'
import { beside, capability, type Product } from '../kernel/compose/product.ts'

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

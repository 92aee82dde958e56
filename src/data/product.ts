import { names } from '../../actors/data/names.ts'
import { ranking } from '../../actors/data/ranking.ts'
import { child } from '../../actors/supervision/unit.ts'
import { allCandleRoutes } from './routes/all-candles.ts'
import { allTradeRoutes } from './routes/all-trades.ts'
import { bondingCurveRoutes } from './routes/bonding-curve.ts'
import { DATA_ERRORS } from './errors.ts'
import { candleRoutes } from './routes/candles.ts'
import { launchRoutes } from './routes/launches.ts'
import { marketReader } from './routes/market-reader.ts'
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
import { ACCOUNT_SERVICES } from '../accounts/product.ts'
import { SERVED_ARCHIVE } from '../archive/product.ts'
import { CASH, SOURCE_KIND } from '../ingest/capabilities.ts'
import { beside, type Product } from '../kernel/compose/product.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'
import { TRANSACTION_SERVICES } from '../transactions/product.ts'
import { NAMES, RANKING } from './capabilities.ts'
import { MintWindows } from './mint-windows.ts'

/** The Data API: DEX data over REST. */
export const DATA: Product = {
  name: 'data',
  roles: ['gateway'],
  listedAs: 'data',
  needs: ['accounts', 'transactions'],
  errors: DATA_ERRORS,
  units: ({ feed, logger, ports: { clock }, get }) => {
    const live = get(RANKING)
    const archive = get(SERVED_ARCHIVE)
    return [
      beside(
        'views',
        child('ranking', ranking({ feed, live, archive, logger, clock })),
        child('names', names({ feed, names: get(NAMES), ranking: live, archive, logger, clock }))
      )
    ]
  },
  routes: ({ config: { venues }, budget, get }) => {
    const needs = {
      venues,
      archive: get(SERVED_ARCHIVE),
      ranking: get(RANKING),
      names: get(NAMES),
      cash: get(CASH),
      sourceKind: get(SOURCE_KIND),
      accounts: get(ACCOUNT_SERVICES),
      transactions: get(TRANSACTION_SERVICES)
    }
    return (side) => {
      const marketOf = marketReader({ ...side, archive: needs.archive })
      const mintWindows = new MintWindows(() => marketOf().windows, side.feed, budget.windows)
      side.onClose(mintWindows.follow())
      side.showCache('rolled_mint', mintWindows)
      return routesWith({ ...side, ...needs, mintWindows }, [
        launchRoutes,
        tradeRoutes,
        allTradeRoutes,
        candleRoutes,
        allCandleRoutes,
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
      ])
    }
  }
}

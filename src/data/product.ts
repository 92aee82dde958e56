import { indexAnswers } from '../../actors/data/index-answers.ts'
import { indexPlace } from '../../actors/data/index-place.ts'
import { names } from '../../actors/data/names.ts'
import { ranking } from '../../actors/data/ranking.ts'
import { whileHeld } from '../../actors/data/while-held.ts'
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
import { beside, coordinationOf, type Product, type Spine } from '../kernel/compose/product.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'
import { TRANSACTION_SERVICES } from '../transactions/product.ts'
import { INDEX_METRICS, INDEX_PLACE, NAMES, RANKING } from './capabilities.ts'
import { IndexAsker } from './index-asker.ts'
import { MarketIndex } from './market-index.ts'
import { MintWindows } from './mint-windows.ts'
import type { IndexSizes } from './metrics.ts'
import type { NameIndex } from './name-index.ts'
import type { RankingHandle } from './ranking-handle.ts'

/** The Data API: DEX data over REST. */
export const DATA: Product = {
  name: 'data',
  roles: ['gateway'],
  listedAs: 'data',
  needs: ['accounts', 'transactions'],
  errors: DATA_ERRORS,
  metrics: [INDEX_METRICS],
  units: (kernel) => {
    const { config, feed, logger, ports, get } = kernel
    const { clock } = ports
    const [live, index, archive] = [get(RANKING), get(NAMES), get(SERVED_ARCHIVE)]
    const [place, metrics] = [get(INDEX_PLACE), get(INDEX_METRICS)]
    const ofRanking = ranking({ feed, live, archive, logger, clock })
    const ofNames = names({ feed, names: index, ranking: live, archive, logger, clock })
    const sizes = () => indexSizes(live, index)
    const placed = child('place', indexPlace({ place, sizes, metrics, clock, logger }))
    if (config.storage === 'embedded')
      return [beside('views', placed, child('ranking', ofRanking), child('names', ofNames))]
    const answers = indexAnswers<Spine>(
      { feed, clock, place, ranking: live, names: index, metrics },
      (given) => coordinationOf(kernel, given)
    )
    return [
      beside(
        'views',
        placed,
        child('ranking', whileHeld(place, ofRanking)),
        child(
          'names',
          whileHeld(place, ofNames, () => index.clear())
        ),
        child('answers', answers)
      )
    ]
  },
  routes: (kernel) => {
    const { config, budget, get } = kernel
    const { venues } = config
    const [place, metrics] = [get(INDEX_PLACE), get(INDEX_METRICS)]
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
    return (side, given) => {
      const { feed, clock } = side
      const { questions, history } = side.storage
      const hints = coordinationOf(kernel, given)
      const asker = questions === null ? null : new IndexAsker({ questions, hints, clock, metrics })
      side.onClose(() => asker?.close())
      const { ranking, names } = needs
      const index = new MarketIndex({ place, ranking, names, feed, clock, history, asker })
      const marketOf = marketReader({ ...side, archive: needs.archive })
      const mintWindows = new MintWindows(() => marketOf().windows, side.feed, budget.windows)
      side.onClose(mintWindows.follow())
      side.showCache('rolled_mint', mintWindows)
      return routesWith({ ...side, ...needs, index, mintWindows }, [
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

/** Estimated bytes of a ranked mint: its number, key and address, and its sums in three windows. */
const RANKED_MINT_BYTES = 350

function indexSizes(ranking: RankingHandle, names: NameIndex): ReturnType<IndexSizes> {
  const { mints, pairs, bytes } = ranking.current?.size ?? { mints: 0, pairs: 0, bytes: 0 }
  return {
    ranked_mints: { entries: mints, bytes: mints * RANKED_MINT_BYTES },
    ranked_minutes: { entries: pairs, bytes },
    names: { entries: names.size, bytes: names.bytes }
  }
}

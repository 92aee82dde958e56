import type { z } from 'zod'
import type { HOLDERS_PAGE } from '../../holders/bodies/holders.ts'
import type { HOLDINGS_PAGE } from '../../holders/bodies/holdings.ts'
import type { ME } from '../../access/bodies/me.ts'
import type { CANDLES } from '../../data/bodies/candle.ts'
import type { CURVE } from '../../data/bodies/curve.ts'
import type { LAUNCH } from '../../data/bodies/launch.ts'
import type { POOL } from '../../data/bodies/pool.ts'
import type { POOL_ACTIVITY } from '../../data/bodies/pool-activity.ts'
import type { SEARCH } from '../../data/bodies/search.ts'
import type { STATS } from '../../data/bodies/stats.ts'
import type { TOKEN } from '../../data/bodies/token.ts'
import type { TRADE, WALLET_TRADE } from '../../data/bodies/trade-schema.ts'
import type { TRENDING_ITEM } from '../../data/bodies/trending.ts'

/** Types of the answers, from the schemas that the service renders and documents them by. */

export type Me = z.output<typeof ME>
export type Stats = z.output<typeof STATS>
export type StatsWindow = Stats['windows']['1h']
export type TrendingItem = z.output<typeof TRENDING_ITEM>
export type Launch = z.output<typeof LAUNCH>
export type Token = z.output<typeof TOKEN>
export type Trade = z.output<typeof TRADE>
export type WalletTrade = z.output<typeof WALLET_TRADE>
export type Candles = z.output<typeof CANDLES>
export type Candle = Candles['data'][number]
export type Pool = z.output<typeof POOL>
export type PoolActivity = z.output<typeof POOL_ACTIVITY>
export type Curve = z.output<typeof CURVE>
export type SearchResult = z.output<typeof SEARCH>
export type SearchHit = SearchResult['data'][number]

export type Holders = z.output<typeof HOLDERS_PAGE>
export type Holdings = z.output<typeof HOLDINGS_PAGE>

/** A page of a list. */
export interface List<Row> {
  readonly data: readonly Row[]
  readonly nextCursor: string | null
}

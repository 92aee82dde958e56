import type { z } from 'zod'
import type { HOLDERS_PAGE } from '../../holders/bodies/holders.ts'
import type { HOLDINGS_PAGE } from '../../holders/bodies/holdings.ts'
import type { ME } from '../../access/bodies/me.ts'
import type { keyAnswer, tenantAnswer } from '../../access/bodies/api-key.ts'
import type { TREE } from '../../edge/bodies/tree.ts'
import type { COVERAGE } from '../../ingest/bodies/coverage.ts'
import type { COVERED_RANGES } from '../../ingest/bodies/covered-range.ts'
import type { DECODING } from '../../ingest/bodies/decoding.ts'
import type { accountList, coverageAnswer, eventList, totalsAnswer } from '../../revenue/bodies/revenue.ts'
import type { nodeAnswer } from '../../rpc/node-bodies.ts'
import type { STORAGE } from '../../store/bodies/storage.ts'
import type { bundleStatusAnswer } from '../../transactions/bodies/bundle.ts'
import type { submissionList } from '../../transactions/bodies/transaction.ts'
import type {
  attemptList,
  createdWebhookAnswer,
  testAnswer,
  webhookList
} from '../../webhooks/bodies/webhook.ts'
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

export type Webhooks = z.output<typeof webhookList>
export type Webhook = Webhooks['data'][number]
export type CreatedWebhook = z.output<typeof createdWebhookAnswer>
export type TestOutcome = z.output<typeof testAnswer>
export type Attempt = z.output<typeof attemptList>['data'][number]
export type Submission = z.output<typeof submissionList>['data'][number]
export type BundleStatus = z.output<typeof bundleStatusAnswer>
export type WatchedAccounts = z.output<typeof accountList>
export type RevenueTotals = z.output<typeof totalsAnswer>
export type RevenueRows = z.output<typeof eventList>
export type RevenueCoverage = z.output<typeof coverageAnswer>
export type Coverage = z.output<typeof COVERED_RANGES>
export type CoveredRange = Coverage['data'][number]
export type Tree = z.output<typeof TREE>
export type AdminCoverage = z.output<typeof COVERAGE>
export type Decoding = z.output<typeof DECODING>
export type StorageUse = z.output<typeof STORAGE>
export type Tenant = z.output<typeof tenantAnswer>
export type Key = z.output<typeof keyAnswer>
export type RpcNode = z.output<typeof nodeAnswer>

/** A page of a list. */
export interface List<Row> {
  readonly data: readonly Row[]
  readonly nextCursor: string | null
}

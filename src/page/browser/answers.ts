/** Types of the answers: those of the client, which are generated from the declarations of the endpoints. */
export type {
  AdminDecodingAnswer as Decoding,
  BondingCurve as Curve,
  BundleStatus,
  Candle,
  Candles,
  Coverage as AdminCoverage,
  CoveredRange,
  CoveredRanges as Coverage,
  CreatedWebhook,
  Holders,
  Holdings,
  Key,
  Launch,
  MeAnswer as Me,
  Metadata,
  Pool,
  PoolActivity,
  RevenueAccountsAnswer as WatchedAccounts,
  RevenueCoverage,
  RevenueEventsAnswer as RevenueRows,
  RevenueTotals,
  RpcNode,
  Search as SearchResult,
  SearchHit,
  Stats,
  StatsWindow,
  Storage as StorageUse,
  Submission,
  TenantUsage,
  Token,
  Trade,
  TrendingItem,
  Unit as Tree,
  WalletTrade,
  Webhook,
  WebhookAttempt as Attempt,
  WebhooksListAnswer as Webhooks,
  WebhooksTestAnswer as TestOutcome
} from '../../client/api.ts'

/** A page of a list. */
export interface List<Row> {
  readonly data: readonly Row[]
  readonly nextCursor: string | null
}

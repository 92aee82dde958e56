import type { AccountServices } from '../../accounts/services.ts'
import { mergedNames } from '../../accounts/bodies/metadata.ts'
import type { DataNeeds } from './needs.ts'
import { knownFacts, type Aged, type KnownFacts } from './known-mint.ts'
import { namesStatedBy } from './stated-names.ts'
import type { Storage } from '../../../storage/port.ts'
import { RANKED_WINDOW_NAMES, type Trend } from '../bodies/trending.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import { pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import type { CommitFeed } from '../../kernel/feed/commit-feed.ts'
import { digestOf } from '../../market/block-digest.ts'
import { extentOf } from '../../market/block-extent.ts'
import type { CashList } from '../../market/cash.ts'
import { newestUsd } from '../../market/latest-price.ts'
import { RANKED_WINDOWS, RANKS_MAX, type RankedWindow } from '../../market/ranking.ts'
import type { PoolRow } from '../../market/registry-rows.ts'
import type { SlotRow } from '../../market/rows.ts'
import type { BlockCommit } from '../../market/records.ts'
import { VALUED_POOLS_MAX } from '../../market/token-value.ts'
import { windowHours, windowOf, windowSpan } from '../../market/windows.ts'
import type { MarketStores } from '../../archive/market-stores.ts'
import { marketReader } from './market-reader.ts'
import { readPricedToken } from './valued-token.ts'

/** Maximum trends cached: every ranked mint in each of three windows. Above it the cache is cleared. */
const TRENDS_MAX = RANKS_MAX * RANKED_WINDOW_NAMES.length

/** Blocks without a request after which no trend is cached any more: a minute of the chain. */
const UNUSED_BLOCKS = 150

/** A trend with the cached facts of the mint's accounts. */
export interface KnownTrend extends Trend {
  readonly known: KnownFacts
  /** The readings of pools that its liquidity follows from. */
  readonly liquidity: Aged & Pick<KnownFacts, 'confirm'>
}

/**
 * Cache of facts about ranked mints, valid until a block changes the mint, its accounts or those of its pools are read, the
 * head enters another minute, or the archive or the past of the feed changes. A block changes few of the hundred largest mints.
 */
export class Trends {
  readonly #storage: Pick<Storage, 'pools' | 'tokens'>
  readonly #marketOf: () => MarketStores
  readonly #cash: CashList
  readonly #feed: CommitFeed
  readonly #accounts: AccountServices | null
  /** Trends by window and mint. */
  readonly #cached = new Map<string, KnownTrend>()
  #end = -Infinity
  /** The stores that provided the cached trends; another archive makes them stale. */
  #market: MarketStores
  /** Number of jumps of the feed. */
  #jumps = 0
  /** Blocks since the last request. */
  #blocksUnused = 0

  constructor(deps: Pick<DataNeeds, 'storage' | 'archive' | 'feed' | 'cash' | 'accounts'>) {
    const { storage, feed, cash, accounts } = deps
    this.#marketOf = marketReader(deps)
    this.#market = this.#marketOf()
    this.#accounts = accounts
    this.#storage = storage
    this.#cash = cash
    this.#feed = feed
  }

  get size(): number {
    return this.#cached.size
  }

  /** Follows the feed. Returns a function that stops following. */
  follow(): () => void {
    return this.#feed.follow({
      published: (commit) => this.#forget(commit),
      jumped: () => {
        this.#jumps++
        this.#cached.clear()
      },
      needs: () => (this.#cached.size > 0 && this.#blocksUnused < UNUSED_BLOCKS ? 'digest' : 'slot')
    })
  }

  async of(mint: Pubkey, window: RankedWindow, head: SlotRow): Promise<KnownTrend> {
    this.#blocksUnused = 0
    const { to } = windowSpan(head.blockTime, RANKED_WINDOWS[window])
    const market = this.#marketOf()
    if (to !== this.#end || market !== this.#market) this.#cached.clear()
    this.#end = to
    this.#market = market
    const key = keyOf(pubkeyMapKey(mint), window)
    const cached = this.#cached.get(key)
    if (cached !== undefined && (await isNewest(cached))) return cached
    const jumps = this.#jumps
    const trend = await this.#read(market, mint, RANKED_WINDOWS[window], head.blockTime)
    // A read that overlapped a commit, or a change of the past or the archive, may have missed the change.
    if (this.#feed.head === head && this.#jumps === jumps && this.#market === market) this.#cache(key, trend)
    return trend
  }

  async #read(market: MarketStores, mint: Pubkey, seconds: number, headTime: number): Promise<KnownTrend> {
    const known = await knownFacts(this.#accounts, mint)
    const from = windowSpan(headTime, seconds).from
    const token = await this.#storage.tokens.get(mint)
    const [{ hours }, archived, { launch, pair, pools, value, liquidity }] = await Promise.all([
      market.windows.mintHours(mint, windowHours(headTime, seconds), token?.activeHours),
      market.windows.archivedPools(mint, from, VALUED_POOLS_MAX),
      readPricedToken({ ...market, pools: this.#storage.pools }, mint, token, known, this.#accounts)
    ])
    const stated = namesStatedBy(this.#cash.of(mint), launch)
    const names = known.facts === null ? stated.names : mergedNames(known.facts, stated)
    // Counts traders now, so that the cache does not hold hours of activity.
    const activity = { ...windowOf(hours, headTime, seconds, newestUsd(pair)) }
    return {
      activity,
      names,
      value,
      pair,
      venues: venuesSince(from, [...pools, ...archived]),
      known,
      liquidity
    }
  }

  #cache(key: string, trend: KnownTrend): void {
    if (this.#cached.size === TRENDS_MAX) this.#cached.clear()
    this.#cached.set(key, trend)
  }

  #forget(commit: BlockCommit): void {
    this.#blocksUnused++
    if (this.#cached.size === 0) return
    if (extentOf(commit) === 'slot') return this.#cached.clear()
    for (const { mapKey } of digestOf(commit).mints)
      for (const window of RANKED_WINDOW_NAMES) this.#cached.delete(keyOf(mapKey, window))
  }
}

/** Returns the venues of the pools that traded at or after a time. */
function venuesSince(from: number, pools: readonly PoolRow[]): VenueId[] {
  const traded = pools.filter(({ lastTrade }) => lastTrade !== null && lastTrade.blockTime >= from)
  return [...new Set(traded.map(({ venue }) => venue))]
}

const keyOf = (mapKey: string, window: RankedWindow): string => `${window} ${mapKey}`

/** Tells whether no newer readings of accounts have replaced those of a trend. */
async function isNewest({ known, liquidity }: KnownTrend): Promise<boolean> {
  await Promise.all([known.confirm(), liquidity.confirm()])
  return known.isCurrent() && liquidity.isCurrent()
}

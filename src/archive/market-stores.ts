import type { Pubkey } from '../chain/pubkey.ts'
import type { PoolRow, TokenRow } from '../market/registry-rows.ts'
import type { LaunchRow, SlotRow } from '../market/rows.ts'
import { liveWindows, type WindowStores } from './window-stores.ts'
import type {
  ActivityStore,
  BlockStore,
  LaunchStore,
  PoolStore,
  Storage,
  TokenStore
} from '../../storage/port.ts'

/** The records of the market as the Data API serves them: live, and continued into an archive if there is one. */
export interface MarketStores extends Pick<
  Storage,
  'trades' | 'poolEvents' | 'candles' | 'pairs' | 'curves'
> {
  readonly tokens: MarketTokens
  readonly launches: MarketLaunches
  readonly pools: MarketPools
  readonly poolActivity: PoolActivity
  /** Rows of rolling windows: live if blocks are missing between the archive and the live store. */
  readonly windows: WindowStores
  readonly blocks: Pick<BlockStore, 'firstSince'>
  /** The newest block of the archive; null if there is no archive. Rows up to its slot are from the archive. */
  readonly archiveEnd: SlotRow | null
}

export interface MarketTokens {
  get(mint: Pubkey): Promise<TokenRow | null>
  /** Lists tokens as `TokenStore.list`. */
  list(page: Parameters<TokenStore['list']>[0]): Promise<readonly TokenSpan[]>
}

/** A token, the time of its first event and its last trade. */
export type TokenSpan = Pick<TokenRow, 'mint' | 'firstTime' | 'lastTrade'>

/** A pool, and whether only the archive knows it. */
export interface MarketPool extends PoolRow {
  /** Absent if a live block has named the pool. The reserves of an archived pool are null. */
  readonly isArchived?: true
  /**
   * Present if the live store has a pool of two tokens in reverse order: its volumes of the token are the volumes of the
   * other token.
   */
  readonly isReversedLive?: true
}

export interface MarketPools {
  get(pool: Pubkey): Promise<MarketPool | null>
  /** As `PoolStore.ofMint`. */
  ofMint(mint: Pubkey, page: Parameters<PoolStore['ofMint']>[1]): Promise<MarketPool[]>
}

export interface PoolActivity {
  /** Hours of a pool, as `ActivityStore.range`. */
  range(pool: Pubkey, range: Parameters<ActivityStore['range']>[2]): ReturnType<ActivityStore['range']>
}

export type LaunchQuery = Parameters<LaunchStore['page']>[0]

/** A page of launches. If it ends before the list does, `stoppedAt` says where to continue. */
export interface LaunchPage {
  readonly rows: readonly LaunchRow[]
  /** Cursor of the last launch examined, if a limit ended the search; null otherwise. */
  readonly stoppedAt: number | null
  /** Launches after `stoppedAt` that the offset still skips. */
  readonly offsetLeft: number
  /** Whether launches of the archive were read. Their status changes with the blocks of their mints. */
  readonly isArchiveRead: boolean
}

export interface MarketLaunches {
  get(mint: Pubkey): Promise<LaunchRow | null>
  /** As `LaunchStore.page`, within the limit of a search. */
  page(query: LaunchQuery): Promise<LaunchPage>
}

/** Returns the records of a store without an archive. */
export function liveStores(live: Storage): MarketStores {
  const { trades, poolEvents, candles, pairs, tokens, curves, pools, blocks, launches, activity } = live
  return {
    ...{ trades, poolEvents, candles, pairs, tokens, curves, pools, blocks },
    launches: {
      get: (mint) => launches.get(mint),
      page: async (query) => livePage(await launches.page(query))
    },
    poolActivity: { range: (pool, range) => activity.range('pool', pool, range) },
    windows: liveWindows(live),
    archiveEnd: null
  }
}

/** Returns a page of live launches, which the store reads to the end of its list. */
export const livePage = (rows: readonly LaunchRow[]): LaunchPage => ({
  rows,
  stoppedAt: null,
  offsetLeft: 0,
  isArchiveRead: false
})

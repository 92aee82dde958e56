import type { Pubkey } from '../src/chain/pubkey.ts'
import type {
  BlockCommit,
  Candle,
  CandleUpsert,
  Interval,
  LaunchRow,
  LaunchStatus,
  PairRow,
  PoolEventRow,
  SlotRow,
  SolPriceRow,
  TradeRow
} from '../src/market/rows.ts'

export type { BlockCommit, CandleUpsert }

/**
 * What the service needs of a store, in the words of the domain. Two promises hold for every adapter:
 * a block is visible to readers after all of it is durable and never before (INVARIANTS 4), and writing the same
 * block again changes nothing (INVARIANTS 5). Every method rejects with a ServiceError of code STORAGE_UNAVAILABLE when the store
 * cannot answer.
 */
export interface Storage {
  readonly blocks: BlockStore
  readonly trades: TradeStore
  readonly poolEvents: PoolEventStore
  readonly candles: CandleStore
  readonly launches: LaunchStore
  readonly pairs: PairStore
  readonly solPrices: SolPriceStore
  readonly keys: KeyStore
  /**
   * Resolves with the fault after which the store takes no write until it is opened again; pending as long as there
   * is none.
   */
  readonly failed: Promise<Error>
  /** Ends after everything accepted is durable. */
  close(): Promise<void>
}

export interface BlockStore {
  /**
   * Stores a block in one durable step; resolves after it is on disk. Slots come in ascending order: a slot at or
   * below the head is already stored, and nothing is written. Returns whether it was written.
   */
  commit(block: BlockCommit): Promise<boolean>
  /** The newest committed slot, null on an empty store. */
  head(): Promise<SlotRow | null>
  /** Whether a slot is committed. */
  has(slot: number): Promise<boolean>
}

export interface PageRequest {
  /** Only rows with a cursor below (order desc) or above (order asc) this one. */
  readonly from?: number
  /** Only rows whose cursor is at least (desc) or at most (asc) this one. */
  readonly until?: number
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface TradeStore {
  /** Rows listed under a mint, in cursor order; `limit` rows at most. An unknown mint has none. */
  ofMint(mint: Pubkey, page: PageRequest): Promise<TradeRow[]>
}

export interface PoolEventStore {
  /** Liquidity, curve and pool events of a pool, in cursor order; `limit` rows at most. */
  ofPool(pool: Pubkey, page: PageRequest): Promise<PoolEventRow[]>
}

export interface CandleStore {
  get(mint: Pubkey, cash: Pubkey, interval: Interval, ts: number): Promise<Candle | null>
  /** Buckets with from ≤ ts < to, the newest `limit` of them, oldest first. */
  range(
    mint: Pubkey,
    cash: Pubkey,
    interval: Interval,
    range: { readonly from: number; readonly to: number; readonly limit: number }
  ): Promise<Candle[]>
}

export interface LaunchStore {
  ofMint(mint: Pubkey): Promise<LaunchRow | null>
  /** Launches in cursor order, by their current status where one is given. */
  page(page: {
    readonly status?: LaunchStatus
    readonly from?: number
    readonly order: 'asc' | 'desc'
    readonly offset?: number
    readonly limit: number
  }): Promise<LaunchRow[]>
}

export interface PairStore {
  get(mint: Pubkey, cash: Pubkey): Promise<PairRow | null>
  /** Every pair of a mint, in no order; few, since cash mints are few. */
  ofMint(mint: Pubkey): Promise<PairRow[]>
}

export interface SolPriceStore {
  /** The newest price at or before a minute. */
  atOrBefore(minute: number): Promise<SolPriceRow | null>
}

/** An API key as stored: never the key itself. */
export interface KeyRow {
  readonly id: string
  /** SHA-256 of the whole key. */
  readonly hash: Uint8Array
  /** The part that may be shown. */
  readonly prefix: string
  readonly tenant: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly createdAtMs: number
}

export interface KeyStore {
  put(key: KeyRow): Promise<void>
  byHash(hash: Uint8Array): Promise<KeyRow | null>
  /** Every key, in order of creation; bounded by the operator, not by tenants. */
  all(): Promise<KeyRow[]>
}

import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { ActiveHours } from '../../src/market/active-hours.ts'
import type { ActivityHour, ActivityOf } from '../../src/market/activity-rows.ts'
import type { LogChannel, LogEntry, Allocator } from '../../src/market/log.ts'
import type { AddressOf, KeyedName, RecordName, RowOf, SingleName } from '../../src/market/records.ts'
import type { PoolRow, TokenRow } from '../../src/market/registry-rows.ts'
import type {
  Candle,
  Interval,
  LaunchRow,
  LaunchStatus,
  PairRow,
  PoolEventRow,
  SolPriceRow,
  TradeRow
} from '../../src/market/rows.ts'
import type { ColumnHour, MinuteColumns } from '../../src/market/minute-columns.ts'

/** The store of each record: its own, or by default that of its shape. */
export type RecordStores = {
  readonly [Name in RecordName]: Name extends keyof OwnStores
    ? OwnStores[Name]
    : Name extends SingleName
      ? SingleStore<Name>
      : Name extends KeyedName
        ? RecordStore<Name>
        : never
}

/** Stores with more queries than the shape of their record has. */
export interface OwnStores {
  readonly trades: TradeStore
  readonly poolEvents: PoolEventStore
  readonly log: LogStore
  readonly candles: CandleStore
  readonly launches: LaunchStore
  readonly pairs: PairStore
  readonly solPrices: SolPriceStore
  readonly activity: ActivityStore
  readonly tokens: TokenStore
  readonly pools: PoolStore
}

export interface RecordStore<Name extends KeyedName> {
  /** The newest row at an address, or null. */
  get(address: AddressOf<Name>): Promise<RowOf<Name> | null>
}

export interface SingleStore<Name extends SingleName> {
  /** Null if no block has written it. */
  get(): Promise<RowOf<Name> | null>
}

export interface PageRequest {
  /** Only rows with a cursor below (order desc) or above (order asc) this one. */
  readonly from?: number
  /** Only rows whose cursor is at least (desc) or at most (asc) this one. */
  readonly until?: number
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/**
 * A section of a trade that some readers do not use: the signature, the trader's amounts (`traderIn`, `traderOut`), or the
 * fees, reserves and route.
 */
export type TradeSection = 'signature' | 'traderAmounts' | 'details'

export interface TradePageRequest extends PageRequest {
  /** Sections that the reader does not use. A store may leave them empty: no bytes, 0, no fees, null. */
  readonly unused?: ReadonlySet<TradeSection> | undefined
}

export interface TradeStore {
  /** Rows listed under a mint, in cursor order; `limit` rows at most. An unknown mint has none. */
  ofMint(mint: Pubkey, page: TradePageRequest): Promise<TradeRow[]>
  /** Rows whose user is the wallet, in cursor order. A trade without a cash side gives the row of the mint paid in. */
  ofWallet(wallet: Pubkey, page: TradePageRequest): Promise<TradeRow[]>
}

export interface PoolEventStore {
  /** Liquidity, curve and pool events of a pool, in cursor order; `limit` rows at most. */
  ofPool(pool: Pubkey, page: PageRequest): Promise<PoolEventRow[]>
}

/** Selects the events of a channel. */
export interface LogPage {
  /** Only events with a cursor above this one. */
  readonly from?: number
  /** Only events whose cursor is at most this one. */
  readonly until?: number
  /** Maximum number of entries. */
  readonly limit: number
  /** Allocator for the data that is read; by default it has memory of its own. */
  readonly allocator?: Allocator
}

/** An answer ends once its bodies have this many bytes: about 3,000 events, which bounds the memory of a replay. */
export const LOG_ANSWER_BYTES = 4 * 2 ** 20

/**
 * Events that the stream has sent on the stored channels, as far back as its horizon. Also events that an amendment has put
 * above the head, to be sent before the next block.
 */
export interface LogStore {
  /**
   * A channel's entries with the events that a page requests, oldest first: at most `limit`, and fewer if the next one would
   * come after LOG_ANSWER_BYTES. Only an empty answer marks the end: callers continue after the last cursor
   * until then. For slots before the horizon some or all events may be gone.
   */
  read(channel: LogChannel, page: LogPage): Promise<LogEntry[]>
}

/** Selects buckets with from ≤ ts < to, the newest `limit` of them. */
export interface CandleRange {
  readonly from: number
  readonly to: number
  readonly limit: number
  /** The only prices that the reader uses. A store may return NaN for the others; null stays null. */
  readonly currency?: 'native' | 'usd'
}

export interface CandleStore extends RecordStore<'candles'> {
  /** Buckets of a range, oldest first. */
  range(mint: Pubkey, cash: Pubkey, interval: Interval, range: CandleRange): Promise<Candle[]>
}

export interface LaunchStore extends RecordStore<'launches'> {
  /** Launches in cursor order, by their current status where one is given. */
  page(page: {
    readonly status?: LaunchStatus
    readonly from?: number
    readonly order: 'asc' | 'desc'
    readonly offset?: number
    readonly limit: number
  }): Promise<LaunchRow[]>
}

export interface PairStore extends RecordStore<'pairs'> {
  /** Every pair of a mint, in no order; few, since cash mints are few. */
  ofMint(mint: Pubkey): Promise<PairRow[]>
  /** Every pair of each mint, in the order of the mints, at one block. */
  ofMints(mints: readonly Pubkey[]): Promise<readonly (readonly PairRow[])[]>
}

export interface SolPriceStore {
  /** The newest price at or before a minute. */
  atOrBefore(minute: number): Promise<SolPriceRow | null>
}

/** Selects hours: from ≤ hour < to. `active` are those with an event, as `ActivityStore.range` has them. */
export interface MinuteRange {
  readonly from: number
  readonly to: number
  readonly active?: ActiveHours | undefined
}

export interface ActivityStore extends RecordStore<'activity'> {
  /**
   * Hours of an owner with from ≤ hour < to that have an event, oldest first: the newest `limit` of them. `active` are the
   * hours with an event as a caller knows them: the others need not be read.
   */
  range(
    of: ActivityOf,
    owner: Pubkey,
    range: {
      readonly from: number
      readonly to: number
      readonly limit: number
      readonly active?: ActiveHours
    }
  ): Promise<ActivityHour[]>
  /**
   * Adds hours of a mint as `range` selects them to columns, oldest first. Null if one of their sums does not fit; then the
   * columns are of no use. Absent in a store that does not read columns faster than objects.
   */
  minutesOfMint?(mint: Pubkey, range: MinuteRange, into: MinuteColumns): Promise<readonly ColumnHour[] | null>
  /**
   * Lists the volume of every mint in one hour, in the order of mints: `limit` at most, after `after`. The last written row
   * of an hour counts; a mint without trades in it is not listed. Of hours that began more than 26 hours before the head's
   * some or all may be gone.
   */
  mintsOfHour(
    hour: number,
    page: { readonly after?: Pubkey; readonly limit: number }
  ): Promise<HourlyMintVolume[]>
}

/** A mint's trades of one hour, by minute. */
export interface HourlyMintVolume {
  readonly mint: Pubkey
  /** Oldest first; minutes with a trade alone. */
  readonly minutes: readonly {
    readonly minute: number
    readonly trades: number
    readonly volumeMicroUsd: bigint
  }[]
}

export interface TokenStore extends RecordStore<'tokens'> {
  /**
   * Lists the tokens of the store in an order of its own, which never changes: `limit` at most, after `after`, which need not
   * be in the store. A page is of one block; a token that a later block adds is listed if its place is after the page.
   */
  list(page: { readonly after?: Pubkey; readonly limit: number }): Promise<TokenRow[]>
  /** Compares two mints by the order of `list`: negative if the first one is listed before the other one. */
  readonly compare: (one: Pubkey, other: Pubkey) => number
}

export interface PoolStore extends RecordStore<'pools'> {
  /**
   * Pools listed under a mint, by `firstCursor`: pools with the mint as base, and pools with it as quote if it is not a cash
   * mint (`PoolRow.quoteListed`). A pool is listed by the block of its first cursor, and these facts never change.
   */
  ofMint(
    mint: Pubkey,
    page: { readonly from?: number; readonly order: 'asc' | 'desc'; readonly limit: number }
  ): Promise<PoolRow[]>
  /**
   * The pool whose vaults alone an address owns, if the address follows from the pool and is not the pool itself; otherwise
   * null. Pools that an older version stored are found after their next event.
   */
  ofVaultOwner(owner: Pubkey): Promise<PoolRow | null>
}

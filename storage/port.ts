import type { Pubkey } from '../src/chain/pubkey.ts'
import type { ActivityHour, ActivityOf } from '../src/market/activity-rows.ts'
import type { Amendment, Edit } from '../src/market/amendment.ts'
import type { KeptBlock } from '../src/market/kept-block.ts'
import type { LogChannel, LogEntry, Allocator } from '../src/market/log.ts'
import type { PoolRow } from '../src/market/registry-rows.ts'
import type { StoredBlock } from '../src/market/stored-block.ts'
import type {
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
import type {
  AddressOf,
  BlockCommit,
  KeyedName,
  RecordName,
  RowOf,
  SingleName
} from '../src/market/records.ts'

import type { DocumentStore } from './document-store.ts'

export type { BlockCommit, CandleUpsert }

/**
 * Port of the service to a store, in the words of the domain. Two promises hold for every adapter:
 * a block is visible to readers after all of it is durable and never before (INVARIANTS 4), and writing the same
 * block again changes nothing (INVARIANTS 5). Every method rejects with a ServiceError of code STORAGE_UNAVAILABLE when the store
 * cannot answer.
 */
export interface Storage extends RecordStores {
  readonly blocks: BlockStore
  readonly history: History
  readonly coverage: CoverageStore
  readonly documents: DocumentStore
  /** Whether other processes can have the store open. Such a store can be away for a while, and comes back by itself. */
  readonly isShared: boolean
  /** The newest blocks, for processes that follow the commits of others; null where the store is not shared. */
  readonly journal: Journal | null
  /** Estimated bytes of records in memory, and the most that they may take. */
  readonly recordCache: { readonly bytes: number; readonly bytesMax: number }
  /** Says what takes how many bytes; an estimate. */
  usage(): Promise<StorageUsage>
  /** Deletes what is past the retention; null where the store does so by itself, or keeps all. */
  readonly sweeper: Sweeper | null
  /**
   * Not null while the store does not answer: commits wait, reads reject. It ends by itself with the first answer.
   */
  readonly outage: Outage | null
  /**
   * Damage that was found when the store was opened, or that a read has met since, one line each for the operator; empty
   * for a sound store. Reads of what was lost reject, all others are answered. Blocks are not to be committed: they could
   * follow from rows that are lost.
   */
  readonly damage: readonly string[]
  /**
   * Losses of a repaired store, until it is made again; null for nothing, and of a cluster. No block is to be
   * committed before: it could follow from what is lost.
   */
  readonly losses: Losses | null
  /**
   * Resolves with the fault after which the store takes no write until it is opened again; pending as long as there
   * is none.
   */
  readonly failed: Promise<Error>
  /** Ends after everything accepted is durable. */
  close(): Promise<void>
}

/** Records that a repair could neither read nor make of others. */
export interface Losses {
  /** Kinds of which records are lost that follow from all blocks up to theirs, in words for the operator. */
  readonly folded: readonly string[]
  /** Whether records of gaps may be lost. */
  readonly gapsMayBeLost: boolean
  /** Whether a slot that is not stored may be a lost one. */
  mayHaveHeld(slot: number): boolean
  /** Gives what is stored of each slot, by slot. */
  blocks(): AsyncGenerator<StoredBlock>
  /** Opens an empty store for all blocks to be folded in, in place of an earlier one. Whoever opens it closes it. */
  scratch(): Promise<Storage>
  /** Gives what the scratch store, closed, has in the places of lost records, as parts of amendments. */
  made(): AsyncGenerator<Partial<Amendment>>
  /** Forgets the losses and changes the gaps, in one durable step. */
  settle(gaps: Edit<GapRow, number>): Promise<void>
}

/** The space that a store takes, by kind of rows, and the space that is left. */
export interface StorageUsage {
  readonly kinds: readonly KindUsage[]
  /** Bytes that the store may still take on its disk; null where that is on other machines. */
  readonly freeBytes: number | null
}

export interface KindUsage {
  /** In words for the operator. */
  readonly kind: string
  readonly bytes: number
  /**
   * How long rows stay: a number of seconds, counted back from the head's block time; `always`; or `needed`: until they
   * are replaced, so that blocks do not add to them without end.
   */
  readonly stays: number | 'always' | 'needed'
}

/**
 * Ends rows of trades and pool events and hours of activity once they are older than the retention. Candles, tokens, pools,
 * curves, launches, slots, gaps, prices and totals stay. The embedded store counts back from the head's block time; on a
 * cluster a row has a time to live from its write, so that old blocks which were written late stay for longer there.
 */
export interface Sweeper {
  /**
   * Does the next bounded step: hides what has expired from readers, or deletes some of what is hidden, or gives disk
   * back. Resolves with whether there is more to do now.
   */
  step(): Promise<boolean>
}

/** The newest committed blocks, whole, for a limited time. */
export interface Journal {
  /**
   * The blocks committed after a slot (null: from the first), oldest first, `limit` at most; empty when there are none
   * yet. Resolves with null when the journal no longer reaches back to the slot, or the slot was never committed: then
   * only the rows themselves say what was missed.
   */
  after(slot: number | null, limit: number): Promise<readonly BlockCommit[] | null>
}

/** A time in which the store does not answer. */
export interface Outage {
  /** Unix milliseconds of the first try that failed. */
  readonly sinceMs: number
  /** In one line, for the operator: what the store says, or does not. */
  readonly detail: string
}

export interface BlockStore {
  /**
   * Makes this process the only writer of blocks, and resolves with the newest committed slot as of then: whoever
   * claimed before commits nothing from here on. Ingest claims before it reads anything that it goes on from.
   *
   * `token` is the fencing token of a lease. A claim without a lease has null, and outranks every claim before it. Rejects
   * with LostClaim when a greater token has claimed before, and names that token; so do, without naming it, commits of
   * whoever claimed before. Where one process alone can have the store open, there is nobody to refuse.
   */
  claim(token: number | null): Promise<SlotRow | null>
  /**
   * Stores a block in one durable step; resolves after it is on disk. Slots come in ascending order: a slot at or
   * below the head is already stored, and nothing is written. Returns whether it was written. With `kept` it is
   * in the history until it is forgotten.
   *
   * Blocks may be given before those before them are answered: they are stored and answered in the order in which they
   * were given. With `after`, the slot of the one before, it rejects where that one has not become the head: who gives
   * several leaves no hole where one fails.
   */
  commit(block: BlockCommit, kept?: KeptBlock, after?: number): Promise<boolean>
  /** The newest committed slot, null on an empty store. */
  head(): Promise<SlotRow | null>
  /** Whether a slot is committed. */
  has(slot: number): Promise<boolean>
  /** A committed slot; null where it is none. */
  at(slot: number): Promise<SlotRow | null>
  /** Committed slots from one up to another, both included, ascending; who asks bounds how far they are apart. */
  between(first: number, last: number): Promise<SlotRow[]>
  /**
   * The first slot whose block time is at or after a time, null when there is none yet. Block times never fall from
   * slot to slot by more than a second or two; who needs the exact second looks at the rows.
   */
  firstSince(blockTime: number): Promise<number | null>
}

/** The newest committed blocks with what they were folded on, in one run up to the head, and what changes them. */
export interface History {
  /** Blocks that are kept, after a slot (null: from the first), by slot: `limit` at most. */
  after(slot: number | null, limit: number): Promise<KeptBlock[]>
  /** Forgets those up to a slot, included. */
  forget(until: number): Promise<void>
  /**
   * Changes what is stored of blocks up to the head, and the gaps between them, as whoever claimed last: all of it once
   * it resolves, and where it does not, all of it or nothing. Writing the same amendment again changes nothing. The
   * journal does not reach back behind it.
   */
  amend(amendment: Amendment, gaps: Edit<GapRow, number>): Promise<void>
  /**
   * A number that each amendment makes greater, as of the newest head or blocks that this process was told: with another
   * one what was told before may have changed.
   */
  amendments(): Promise<number>
}

/** The store of each record: that of its shape, where it has none of its own. */
export type RecordStores = {
  readonly [Name in RecordName]: Name extends keyof OwnStores
    ? OwnStores[Name]
    : Name extends SingleName
      ? SingleStore<Name>
      : Name extends KeyedName
        ? RecordStore<Name>
        : never
}

/** Stores that answer more than the shape of their record gives. */
export interface OwnStores {
  readonly trades: TradeStore
  readonly poolEvents: PoolEventStore
  readonly log: LogStore
  readonly candles: CandleStore
  readonly launches: LaunchStore
  readonly pairs: PairStore
  readonly solPrices: SolPriceStore
  readonly activity: ActivityStore
  readonly pools: PoolStore
}

export interface RecordStore<Name extends KeyedName> {
  /** The newest row at an address; null where there is none. */
  get(address: AddressOf<Name>): Promise<RowOf<Name> | null>
}

export interface SingleStore<Name extends SingleName> {
  /** Null where no block has written it. */
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

export interface TradeStore {
  /** Rows listed under a mint, in cursor order; `limit` rows at most. An unknown mint has none. */
  ofMint(mint: Pubkey, page: PageRequest): Promise<TradeRow[]>
  /** Rows whose user is the wallet, in cursor order; of a trade without a cash side the row of the mint paid in. */
  ofWallet(wallet: Pubkey, page: PageRequest): Promise<TradeRow[]>
}

export interface PoolEventStore {
  /** Liquidity, curve and pool events of a pool, in cursor order; `limit` rows at most. */
  ofPool(pool: Pubkey, page: PageRequest): Promise<PoolEventRow[]>
}

/** Which events of a channel are asked for. */
export interface LogPage {
  /** Only events with a cursor above this one. */
  readonly from?: number
  /** Only events whose cursor is at most this one. */
  readonly until?: number
  /** Parts at most. */
  readonly limit: number
  /** Where what is read may be put, as far as the caller needs it; memory of its own unless given. */
  readonly allocator?: Allocator
}

/** An answer has no further part once its bodies have so many bytes: some 3,000 events, which bounds the memory of a replay. */
export const LOG_ANSWER_BYTES = 4 * 2 ** 20

/**
 * Events that the stream has sent of blocks on the channels that are kept, as long as its horizon reaches back, and what an
 * amendment has put above the head, to be sent before the next block.
 */
export interface LogStore {
  /**
   * A channel's entries with the events that a page asks for, oldest first. There are `limit` at most, and fewer where the
   * next one would come after LOG_ANSWER_BYTES: who reads on asks for what is above the last cursor until there is
   * nothing, which alone says that there is no more. Of slots before the horizon some or all may be gone.
   */
  read(channel: LogChannel, page: LogPage): Promise<LogEntry[]>
}

export interface CandleStore extends RecordStore<'candles'> {
  /** Buckets with from ≤ ts < to, the newest `limit` of them, oldest first. */
  range(
    mint: Pubkey,
    cash: Pubkey,
    interval: Interval,
    range: { readonly from: number; readonly to: number; readonly limit: number }
  ): Promise<Candle[]>
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
}

export interface SolPriceStore {
  /** The newest price at or before a minute. */
  atOrBefore(minute: number): Promise<SolPriceRow | null>
}

export interface ActivityStore extends RecordStore<'activity'> {
  /**
   * Hours of an owner with from ≤ hour < to that have an event, oldest first: the newest `limit` of them.
   */
  range(
    of: ActivityOf,
    owner: Pubkey,
    range: { readonly from: number; readonly to: number; readonly limit: number }
  ): Promise<ActivityHour[]>
  /**
   * Lists the volume of every mint in one hour, in the order of mints: `limit` at most, after `after`. Of hours that began
   * more than 26 hours before the head's some or all may be gone.
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

export interface PoolStore extends RecordStore<'pools'> {
  /**
   * Pools listed under a mint, by `firstCursor`: those whose base it is, and those whose quote it is where the quote
   * is no cash (`PoolRow.quoteListed`). The block of its first cursor lists a pool, and these facts stay as they were.
   */
  ofMint(
    mint: Pubkey,
    page: { readonly from?: number; readonly order: 'asc' | 'desc'; readonly limit: number }
  ): Promise<PoolRow[]>
}

/** A stretch of slots, both ends included, whose blocks were given up. */
export interface GapRow {
  readonly from: number
  readonly to: number
  /** A word for the kind of reason, such as `pruned`. */
  readonly reason: string
  /** In one line, for the operator. */
  readonly detail: string
  /** Unix milliseconds of when it was given up. */
  readonly atMs: number
}

/** Where the rows begin that the retention keeps. */
export interface RowHorizon {
  /** Rows of trades and pool events with a cursor below this one are past the retention. */
  readonly cursor: number
  /** Their block times are below this one, but for a second or two; hours of activity that end by then are past it, too. */
  readonly time: number
}

/** Facts of the chain beside its blocks: genesis, gaps, horizon. */
export interface CoverageStore {
  /**
   * Where rows begin that are all kept; null where none has expired. The embedded store has nothing below it; a cluster may
   * still have some rows there, as it goes by the time of their writes.
   */
  horizon(): Promise<RowHorizon | null>
  /** The hash of the cluster's genesis, in base58; null while none is known. */
  genesis(): Promise<string | null>
  /** Sets it unless there is one; resolves with the one there is. */
  settleGenesis(hash: string): Promise<string>
  /** Adds a gap, in the place of one that begins at the same slot. What closes it is an amendment. */
  addGap(gap: GapRow): Promise<void>
  /** Gaps that begin after a slot (null: from the first), by slot: `limit` at most. */
  gaps(page: { readonly after: number | null; readonly limit: number }): Promise<GapRow[]>
}

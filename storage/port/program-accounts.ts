import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { AbandonedSlots } from './abandoned-slots.ts'

/** Bytes of a range that can be indexed: an address. */
export const INDEXED_BYTES_MAX = 32
/**
 * A page ends once its accounts have this many bytes of data: a reader renders them in about a millisecond. A single account
 * can have more, up to 10 MiB.
 */
export const PAGE_BYTES_MAX = 256 * 2 ** 10
/** A page has at most this many accounts: a reader renders them in one or two milliseconds. */
export const PAGE_ACCOUNTS_MAX = 500

/**
 * Maximum accounts of a mirrored program, and bytes of their data: more than the largest answer of a node has. A mirror of a
 * larger program stops, so that no partition of a cluster grows beyond its bound.
 */
export const PROGRAM_ACCOUNTS_MAX = 5_000_000
export const PROGRAM_DATA_BYTES_MAX = 512 * 2 ** 20
/** Partitions of the accounts of a program on a cluster, by the first bits of the address. */
export const ACCOUNT_BUCKETS = 64

/** Returns the partition of an account. Buckets ascend with the address. */
export const accountBucket = (address: Pubkey): number => address[0]! >> 2

/** A stored account; its owner is the program. */
export interface ProgramAccount {
  readonly lamports: bigint
  readonly executable: boolean
  /** u64. */
  readonly rentEpoch: bigint
  readonly data: Uint8Array
}

/** The state of an account from a slot on, until its next version. */
export interface AccountVersion {
  readonly address: Pubkey
  readonly slot: number
  /** Null if the account was closed, or left the program. */
  readonly account: ProgramAccount | null
}

/** The key of a version. */
export type VersionKey = Pick<AccountVersion, 'address' | 'slot'>

/** Bytes of the data by which a program's accounts are indexed. */
export interface IndexedRange {
  readonly offset: number
  /** Length in bytes, from 1 to INDEXED_BYTES_MAX. */
  readonly length: number
}

/** A lookup of the accounts that have these bytes in an index's range. */
export interface IndexLookup extends IndexedRange {
  /** Value bytes, as many as the range has. */
  readonly value: Uint8Array
}

/** Tells whether an account is selected by its data: the bytes from `from` to before `to`. It must not keep the bytes. */
export type DataMatcher = (bytes: Uint8Array, from: number, to: number) => boolean

export interface AccountsQuery {
  /** The slot whose state is read: of each account the newest version up to it. */
  readonly slot: number
  /** Only accounts with greater addresses. */
  readonly after?: Pubkey | undefined
  /** Maximum number of accounts in all pages; from 1. */
  readonly limit: number
  /** Maximum number of versions to examine; the pages may then have fewer accounts than `limit`. At least 1. */
  readonly examined: number
  /** Selects accounts by their data; by default all. */
  readonly matches?: DataMatcher | undefined
  /**
   * Complete indexes by which the accounts can be found: those that `matches` selects have the values of all of them. The
   * one with the fewest entries is read. If the list is empty, all accounts are examined.
   */
  readonly lookups?: readonly IndexLookup[] | undefined
  /** Versions of these slots are passed over. */
  readonly abandoned?: readonly AbandonedSlots[] | undefined
}

/** A page of an answer. Making it holds the event loop for several milliseconds at most. */
export interface AccountsPage {
  /**
   * Ascending by address, without closed accounts; may be empty. Their data may be views of memory that holds many accounts:
   * copy what outlives the answer.
   */
  readonly accounts: readonly (AccountVersion & { readonly account: ProgramAccount })[]
  /** The next page, or another read, begins after this address; null at the end. */
  readonly next: Pubkey | null
  /** The index that was read; null if all accounts were examined. */
  readonly index: IndexedRange | null
  /** Versions that this page examined; a version that an index names counts as those that a scan reads in its time. */
  readonly examined: number
  /** Number of these versions that were in memory; absent for 0. */
  readonly inMemory?: number
}

/** Progress of building an index. */
export interface IndexStep {
  /** Versions that were read. */
  readonly versions: number
  /** Continues after this address; null at the end. */
  readonly next: Pubkey | null
}

/**
 * The mirrored accounts of programs, by version. A version is written once and stays until it is dropped. So pages of a
 * paging run can show one slot while newer versions are written. Versions are facts of the chain: writing one again changes
 * nothing.
 *
 * An index has an entry of each version whose data has its range: the value, the address and the slot. No version is there
 * without its entries. After a crash an entry may exist without its version, so readers check the version itself.
 *
 * Every method rejects with STORAGE_UNAVAILABLE when the store cannot answer.
 */
export interface ProgramAccountStore {
  /**
   * Stores versions durably, with their entries in the indexes of `ranges`. Not atomic: readers request slots that are
   * complete.
   */
  put(program: Pubkey, versions: readonly AccountVersion[], ranges: readonly IndexedRange[]): Promise<void>
  /**
   * Reads the newest version of each address, in their order; null for an address that is not stored. Passes over versions of
   * abandoned slots.
   */
  newest(
    program: Pubkey,
    addresses: readonly Pubkey[],
    abandoned?: readonly AbandonedSlots[]
  ): Promise<(AccountVersion | null)[]>
  /**
   * Reads the given versions of addresses, in their order: the newest up to `slot`, or null. Passes over versions of abandoned
   * slots.
   */
  at(
    program: Pubkey,
    slot: number,
    addresses: readonly Pubkey[],
    abandoned?: readonly AbandonedSlots[]
  ): Promise<(AccountVersion | null)[]>
  /**
   * Yields accounts at a slot, ascending by address, in pages; at least one. Exact only for slots of which no version was
   * dropped. Nothing is read before a page is requested. A reader that leaves ends the generator (`return`), which closes
   * what it has open in the store.
   */
  pages(program: Pubkey, query: AccountsQuery): AsyncGenerator<AccountsPage, void>
  /** Yields all versions, ascending by address, newest first, in chunks that hold all versions of their addresses. */
  versions(program: Pubkey): AsyncIterable<readonly AccountVersion[]>
  /** Deletes versions, with their entries in the indexes of `ranges`. */
  drop(program: Pubkey, versions: readonly VersionKey[], ranges: readonly IndexedRange[]): Promise<void>
  /**
   * Stores durably the entries of the versions that are there, from the first address after `after` on, of about `examined`
   * versions. No version may be dropped meanwhile.
   */
  index(
    program: Pubkey,
    range: IndexedRange,
    from: { readonly after: Pubkey | null; readonly examined: number }
  ): Promise<IndexStep>
  /** Deletes all entries of an index. */
  unindex(program: Pubkey, range: IndexedRange): Promise<void>
  /** Deletes all versions and indexes of a program. */
  clear(program: Pubkey): Promise<void>
}

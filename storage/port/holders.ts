import type { Pubkey } from '../../src/chain/pubkey.ts'

/** A stored list of the holders of a mint. Each reading of all accounts from a node begins a list of its own. */
export interface HolderListId {
  readonly mint: Pubkey
  /** Number of the reading, from 1 to 2^31 - 1. From LARGE_READINGS on it is of a large list. */
  readonly reading: number
}

/**
 * Maximum accounts of a list: ten times those of the largest answer of a node. A larger one is refused, so that no partition
 * of a cluster grows beyond its bound.
 */
export const LIST_ACCOUNTS_MAX = 10_000_000
/** Maximum accounts of a list that is not large: on a cluster all its rows by amount may be in one partition. */
export const SMALL_LIST_ACCOUNTS_MAX = 500_000
/** The numbers of readings of large lists, whose rows by amount a cluster divides by address too. */
export const LARGE_READINGS = 2 ** 30

export const isLargeReading = (reading: number): boolean => reading >= LARGE_READINGS

/** Returns a number greater than those of the readings before it, of a large list or of another. */
export const nextReading = (readings: readonly number[], isLarge: boolean): number =>
  Math.max(...readings.map(orderOfReading)) + 1 + (isLarge ? LARGE_READINGS : 0)

/** Returns the place of a reading among those of its mint. */
export const orderOfReading = (reading: number): number => reading % LARGE_READINGS

/**
 * Kinds of rows of a list, with the bytes of their keys. Token accounts and owners are stored by address and by amount; then
 * follow sums of the list, and the changes of each block.
 */
export const HOLDER_ROW_KINDS = {
  account: 32,
  owner: 32,
  'owner-rank': 40,
  'account-rank': 40,
  sums: 0,
  change: 8
} as const
export type HolderRowKind = keyof typeof HOLDER_ROW_KINDS

/** The key of a row from a slot on. */
export interface HolderRowKey {
  readonly kind: HolderRowKind
  /** Key bytes, as many as the kind has. */
  readonly key: Uint8Array
  readonly slot: number
}

/** A row from a slot on, until its next version. */
export interface HolderRow extends HolderRowKey {
  /** Null if the row is gone from the slot on. */
  readonly value: Uint8Array | null
}

export type PresentRow = HolderRow & { readonly value: Uint8Array }

export interface HolderRowsQuery {
  /** The slot whose state is read: of each key the newest version up to it. */
  readonly slot: number
  /** Only rows with greater keys. */
  readonly after?: Uint8Array | undefined
  /** Maximum number of rows in the answer; from 1. */
  readonly limit: number
}

export interface HolderRowsPage {
  /** Ascending by key; rows that are gone are left out. */
  readonly rows: readonly PresentRow[]
  /** Whether more rows follow. */
  readonly hasMore: boolean
}

/**
 * The balances of mints whose holders were requested, by version. A version stays until it is dropped. So all pages of a
 * paging run show one slot while newer blocks are stored, and the blocks of a lost fork can be rolled back. Every method
 * rejects with STORAGE_UNAVAILABLE when the store cannot answer.
 */
export interface HolderStore {
  /** Stores versions durably, in place of earlier ones of the same slots. Not atomic: rows of kind `change` come first. */
  put(list: HolderListId, rows: readonly HolderRow[]): Promise<void>
  /** Reads the newest version up to a slot of each key, in the order of the keys; null if the row is absent or gone. */
  at(
    list: HolderListId,
    kind: HolderRowKind,
    slot: number,
    keys: readonly Uint8Array[]
  ): Promise<(PresentRow | null)[]>
  /** Reads a page of rows at a slot. Exact only for slots of which no version was dropped. */
  page(list: HolderListId, kind: HolderRowKind, query: HolderRowsQuery): Promise<HolderRowsPage>
  /** Deletes versions. */
  drop(list: HolderListId, rows: readonly HolderRowKey[]): Promise<void>
  /** Deletes a list. */
  clear(list: HolderListId): Promise<void>
}

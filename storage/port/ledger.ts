/**
 * Days for which rows of ledgers are retained: a year's window, and a month. On a cluster it is the TTL of the tables
 * (`013-ledger.cql`).
 */
export const LEDGER_DAYS = 400

/**
 * Slots of a range of sums, by level: 6 s, 102 s, 27 minutes, 7.3 hours, 4.9 days. A range is a whole number of those of the
 * level below, at most 16: so a window of any length takes few sums, and two blocks' worth of entries at its ends.
 */
export const LEDGER_SUM_SLOTS = [2 ** 4, 2 ** 8, 2 ** 12, 2 ** 16, 2 ** 20] as const

/** Packed entries of one owner in one block. */
export interface LedgerPage {
  readonly owner: string
  readonly slot: number
  readonly value: Uint8Array
}

/** Packed sums of one owner's entries in a range of slots. Ranges of a level are numbered from that of slot 0. */
export interface LedgerSum {
  readonly owner: string
  /** Index of LEDGER_SUM_SLOTS. */
  readonly level: number
  readonly number: number
  readonly value: Uint8Array
}

/** The packed state of one owner's sums. */
export interface LedgerMark {
  readonly owner: string
  readonly value: Uint8Array
}

/** Rows of ledgers that one writer stores. */
export interface LedgerRows {
  /** Fencing token of the writer. */
  readonly token: number
  readonly pages?: readonly LedgerPage[]
  readonly sums?: readonly LedgerSum[]
  readonly marks?: readonly LedgerMark[]
}

export interface LedgerPageQuery {
  /** The first and the last slot, both included. */
  readonly from: number
  readonly to: number
  readonly order: 'asc' | 'desc'
  /** Maximum number of pages in the answer; from 1. */
  readonly limit: number
}

/** Rows of one owner that are deleted, with those of lesser tokens at their places. */
export interface LedgerRowKeys {
  readonly token: number
  readonly owner: string
  readonly slots?: readonly number[]
  readonly sums?: readonly Pick<LedgerSum, 'level' | 'number'>[]
}

/**
 * The ledgers of owners: pages of entries by slot, and sums. Writes need no condition: of the rows that were written at one
 * place, the one of the greatest token counts, and later rows of one token replace earlier ones. Rows expire LEDGER_DAYS
 * after they were written, or some hours later. Every method rejects with STORAGE_UNAVAILABLE when the store cannot answer.
 */
export interface LedgerStore {
  /**
   * Stores rows durably. In the embedded store, all or none. On a cluster, sums are written once the pages are durable, and
   * marks once the sums are.
   */
  put(rows: LedgerRows): Promise<void>
  /** Lists the pages of a range of slots. */
  pages(owner: string, query: LedgerPageQuery): Promise<LedgerPage[]>
  /** Lists the sums of a level with from ≤ number < to, ascending: for ranges of at most a few thousand numbers. */
  sums(owner: string, level: number, from: number, to: number): Promise<LedgerSum[]>
  /** Reads the marks of owners, in their order. */
  marks(owners: readonly string[]): Promise<(Uint8Array | null)[]>
  /** Deletes rows durably. */
  drop(rows: LedgerRowKeys): Promise<void>
}

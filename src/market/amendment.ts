import type { KeptBlock } from './kept-block.ts'
import { byName, MANY, SINGLE } from './records.ts'
import type { AddressOf, ManyName, RowOf, SingleName } from './records.ts'
import type { SlotRow } from './rows.ts'

/**
 * Rows to put, each replacing any row at its address, and addresses to remove. If an address is in both lists, the
 * put row stays.
 */
export interface Edit<Row, Address> {
  readonly put: readonly Row[]
  readonly remove: readonly Address[]
}

/** Changes of records with any number of rows; lists in cursor order. */
export type RecordEdits = { readonly [Name in ManyName]: Edit<RowOf<Name>, AddressOf<Name>> }

/** The new rows of records with a single row; null if a record has no row. */
export type SingleRows = { readonly [Name in SingleName]: RowOf<Name> | null }

/**
 * Changes that turn the records of some blocks into those of other blocks: a missing block is inserted, or a block of
 * a lost fork is removed. Values are absolute, so the amendment is idempotent.
 */
export interface Amendment extends RecordEdits, SingleRows {
  /** The newest slot after the amendment; null if no slot remains. */
  readonly head: SlotRow | null
  readonly slots: Edit<SlotRow, number>
  readonly kept: Edit<KeptBlock, number>
}

/** An amendment that changes no row; `singles` are the store's current single rows. */
export function unchanged(head: SlotRow | null, singles: SingleRows): Amendment {
  const none = { put: [], remove: [] }
  const edits = byName<RecordEdits>(MANY, () => none)
  return { head, slots: none, ...edits, ...byName<SingleRows>(SINGLE, (name) => singles[name]), kept: none }
}

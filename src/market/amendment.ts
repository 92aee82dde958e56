import type { KeptBlock } from './kept-block.ts'
import { byName, MANY, SINGLE } from './records.ts'
import type { AddressOf, ManyName, RowOf, SingleName } from './records.ts'
import type { SlotRow } from './rows.ts'

/**
 * Rows that come, or take the place of those at their addresses, and rows that go. A row that is put stays where another one
 * with its address is removed.
 */
export interface Edit<Row, Address> {
  readonly put: readonly Row[]
  readonly remove: readonly Address[]
}

/** Changes of records with any number of rows; lists in cursor order. */
export type RecordEdits = { readonly [Name in ManyName]: Edit<RowOf<Name>, AddressOf<Name>> }

/** Records of one row as they are afterwards; null where there is none. */
export type SingleRows = { readonly [Name in SingleName]: RowOf<Name> | null }

/**
 * Changes that make of a store that has folded some blocks one that has folded others instead: with a block between that was
 * missing, or without one that a fork has lost. Values are absolute, so that it may be written again.
 */
export interface Amendment extends RecordEdits, SingleRows {
  /** The newest slot there is after it; null when none is left. */
  readonly head: SlotRow | null
  readonly slots: Edit<SlotRow, number>
  readonly kept: Edit<KeptBlock, number>
}

/** An amendment of no row, in a store that has the singles. */
export function unchanged(head: SlotRow | null, singles: SingleRows): Amendment {
  const none = { put: [], remove: [] }
  const edits = byName<RecordEdits>(MANY, () => none)
  return { head, slots: none, ...edits, ...byName<SingleRows>(SINGLE, (name) => singles[name]), kept: none }
}

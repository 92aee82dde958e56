import type { Amendment } from '../../src/market/amendment.ts'
import type { Commit, TableCommit } from './commit.ts'

/** A table of the store: its queries, and the rows that a commit of blocks or an amendment adds to it. */
export interface Table<Port> {
  readonly port: Port
  /** Adds the block's changes of this table to the commit, after the reads that they need; nothing is sent yet. */
  readonly stage: (commit: Commit) => Promise<void>
  /** Adds an amendment's changes of this table, as `stage` does. */
  readonly amend: (commit: TableCommit, amendment: Amendment) => Promise<void>
}

/** Keeps the last of several values with one key, at the place of the first: a record is written once a commit. */
export function lastOf<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  return [...new Map(values.map((value) => [keyOf(value), value])).values()]
}

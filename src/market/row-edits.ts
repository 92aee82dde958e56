import { pubkeyMapKey } from '../chain/pubkey.ts'
import type { Pubkey } from '../chain/pubkey.ts'

/** Rows by address during the fold of a block: the stored ones, and those set since. */
export class RowEdits<Row> {
  readonly #stored: (key: Pubkey) => Row | null
  readonly #entries = new Map<string, { row: Row | null; isSet: boolean }>()

  constructor(stored: (key: Pubkey) => Row | null) {
    this.#stored = stored
  }

  get(key: Pubkey): Row | null {
    return this.#entry(key).row
  }

  set(key: Pubkey, row: Row): void {
    this.change(key, () => row)
  }

  /** Replaces a row by the result of `change`, unless that is the old row or null; returns the result. */
  change<Changed extends Row | null>(key: Pubkey, change: (row: Row | null) => Changed): Changed {
    const entry = this.#entry(key)
    const row = change(entry.row)
    if (row !== null && row !== entry.row) {
      entry.row = row
      entry.isSet = true
    }
    return row
  }

  /** Returns the rows that were set, in the order in which they were first read. */
  changed(): Row[] {
    const rows: Row[] = []
    for (const { row, isSet } of this.#entries.values()) if (isSet && row !== null) rows.push(row)
    return rows
  }

  #entry(key: Pubkey): { row: Row | null; isSet: boolean } {
    const text = pubkeyMapKey(key)
    const known = this.#entries.get(text)
    if (known !== undefined) return known
    const entry = { row: this.#stored(key), isSet: false }
    this.#entries.set(text, entry)
    return entry
  }
}

import type { Key, KeyRange } from '../codec/keys.ts'
import type { FileDamage } from './engine-files/store-check.ts'

/**
 * Maximum listed records that reads found damaged. One is enough to stop ingest, and reads of further ones are refused too.
 */
const RECORDS_MAX = 100

/** A part of a file whose keys cannot be read. */
export type DamagedRange = FileDamage & { readonly keys: KeyRange }

/**
 * The ranges of keys that were in damaged parts of the store's files. A value found under such a key may be older than the
 * lost one, and a key that is not found may have existed. Readers get neither.
 */
export class DamagedKeys {
  readonly ranges: readonly DamagedRange[]
  /** Records that could not be read since the store was opened, one line each. */
  readonly #records = new Set<string>()

  constructor(damage: readonly FileDamage[]) {
    this.ranges = damage.filter((found): found is DamagedRange => found.keys !== null)
  }

  get isEmpty(): boolean {
    return this.ranges.length === 0
  }

  /** All damage, one line each for the operator. */
  get lines(): readonly string[] {
    return [...this.ranges.map(damageText), ...this.#records]
  }

  /** Whether a record could not be read since the store was opened: its files are not known to be sound. */
  get isMet(): boolean {
    return this.#records.size > 0
  }

  /** Adds a record that a read has found damaged; each counts once. */
  meet(line: string): void {
    if (this.#records.size < RECORDS_MAX) this.#records.add(line)
  }

  /** The damage that covers a key; null for a sound key. */
  at(key: Key): DamagedRange | null {
    return this.ranges.find(({ keys }) => isBefore(keys.gte, key, true) && isBefore(key, keys.lt)) ?? null
  }

  /** The first damage that overlaps a range of keys, or null. */
  within({ gte, lt }: KeyRange): DamagedRange | null {
    if (!isBefore(gte, lt)) return null
    return this.ranges.find(({ keys }) => isBefore(keys.gte, lt) && isBefore(gte, keys.lt)) ?? null
  }
}

/** Describes damage in words for the operator. */
export function damageText({ file, part, offset, length }: FileDamage): string {
  switch (part) {
    case 'missing':
      return `${file} is missing`
    case 'index':
      return `the index of ${file} is damaged, and with it all of its ${length} bytes`
    case 'filter':
      return `the filter of ${file} is damaged (${length} bytes from byte ${offset} on), which loses nothing`
    case 'block':
      return `${file} is damaged in the ${length} bytes from byte ${offset} on`
  }
}

const isBefore = (a: Key, b: Key, orSame = false): boolean => Buffer.compare(a, b) < (orSame ? 1 : 0)

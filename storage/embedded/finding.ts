import { keyText } from '../codec/keys.ts'
import type { Key } from '../codec/keys.ts'

/**
 * Something that memory knows about records and that costs a look at the disk to find again, such as which pages
 * there are. Whoever stages a change of the records keeps it true with `WriteBatch.remember`, and does so where it is
 * not known too: a reader may find it out while the change is written.
 */
export interface Finding<T> {
  /** One character, which is no letter of a kind of record. */
  readonly sign: string
  /** Bytes that the value takes in memory, estimated. */
  weigh(value: T): number
}

export const findingText = <T>(finding: Finding<T>, key: Key): string => finding.sign + keyText(key)

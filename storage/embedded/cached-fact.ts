import { keyText } from '../codec/keys.ts'
import type { Key } from '../codec/keys.ts'

/**
 * A fact about records, such as which pages exist. It is cached because finding it again costs a disk read. A change of the
 * records updates it with `WriteBatch.remember`, even if it is not cached: a reader may cache it while the change is
 * written.
 */
export interface CachedFact<T> {
  /** One character that is not the letter of a kind of record. */
  readonly sign: string
  /** Bytes that the value takes in memory, estimated. */
  weigh(value: T): number
}

export const cachedFactText = <T>(fact: CachedFact<T>, key: Key): string => fact.sign + keyText(key)

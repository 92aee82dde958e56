import { splitCursor } from '../../../src/market/cursor.ts'
import { keysOf, type Key, type KeyRange } from '../../codec/keys.ts'
import { ROW_KINDS } from '../../row-kinds.ts'

export type Letter = string

/** A range of keys that is lost, and why. */
export interface LostRange {
  readonly keys: KeyRange
  readonly reason: string
}

/** Names of the kinds of records for the operator, by the letters of their keys. */
const NAMES = new Map(ROW_KINDS.flatMap(({ letter, name }) => (letter === null ? [] : [[letter, name]])))

export const LETTERS: readonly Letter[] = [...NAMES.keys()]
export const nameOf = (letter: Letter): string => NAMES.get(letter) ?? letter

/** Kinds of which a range of keys can hold records. */
export function lettersIn(range: KeyRange): Letter[] {
  return LETTERS.filter((letter) => overlap(range, keysOf(letter)))
}

export function overlap(one: KeyRange, other: KeyRange): boolean {
  return Buffer.compare(one.gte, other.lt) < 0 && Buffer.compare(other.gte, one.lt) < 0
}

/**
 * The slots of the records that a range of keys can hold, both ends included; null if the keys do not tell. Keys of these
 * kinds end in a slot or a cursor, after an owner that both ends share.
 */
export function slotsIn({ gte, lt }: KeyRange, letter: Letter): { from: number; to: number } | null {
  const at = { b: 1, d: 1, j: 2, t: 33, w: 33, e: 33 }[letter]
  if (at === undefined || gte.length < at || !gte.subarray(0, at).equals(lt.subarray(0, at))) return null
  const [from, to] = [numberAt(gte, at, 0), numberAt(lt, at, 0xff)]
  const slotOf = (number: number): number => (at < 33 ? number : splitCursor(number).slot)
  return { from: slotOf(from), to: slotOf(Math.min(to, Number.MAX_SAFE_INTEGER)) }
}

/** A number of eight bytes; bytes that a shortened key lacks are read as `rest`. */
function numberAt(key: Key, at: number, rest: number): number {
  const bytes = Buffer.alloc(8, rest)
  key.copy(bytes, 0, at, Math.min(at + 8, key.length))
  return bytes.readUInt32BE(0) * 2 ** 32 + bytes.readUInt32BE(4)
}

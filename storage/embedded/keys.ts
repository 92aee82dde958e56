import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { Interval, LaunchStatus } from '../../src/market/rows.ts'
import { intervalCodes, launchStatusCodes } from './codes.ts'

/**
 * The keys of the store: a letter for the kind of record, what a reader asks for, then what orders the records
 * under it, numbers big-endian so that bytes sort as numbers do.
 *
 *   v                            format version
 *   b slot                       slot
 *   t mint cursor                a full page of a mint's trades, by its first cursor; all bits set: the open page
 *   e pool cursor                the same of a pool's events
 *   o mint cash                  the newest bucket of each interval
 *   c mint cash interval page    older buckets
 *   p mint cash                  pair
 *   l mint                       launch
 *   n cursor                     mint launched at a cursor
 *   s status cursor              the same of one status
 *   x minute                     sol price
 *   k hash                       API key
 */
export type Key = Buffer

/** Keys of one kind under one prefix, from `gte` up to but without `lt`. */
export interface KeyRange {
  readonly gte: Key
  readonly lt: Key
}

/** Above every cursor, so that the open page of a list of pages comes last. */
const OPEN = 0xff_ff_ff_ff

/** A key's text, one character a byte: what maps are keyed by. */
export function keyText(key: Key): string {
  return key.toString('latin1')
}

export const formatKey = (): Key => Buffer.from('v', 'latin1')
export const slotKey = (slot: number): Key => numbered('b', slot)
export const solPriceKey = (minute: number): Key => numbered('x', minute)
export const launchAtKey = (cursor: number): Key => numbered('n', cursor)

export function launchOfStatusKey(status: LaunchStatus, cursor: number): Key {
  const key = Buffer.allocUnsafe(10)
  key[0] = letter('s')
  key[1] = launchStatusCodes.codeOf(status)
  writeNumber(key, 2, cursor)
  return key
}

export const launchKey = (mint: Pubkey): Key => joined('l', mint)
export const apiKeyKey = (hash: Uint8Array): Key => joined('k', hash)
export const pairKey = (mint: Pubkey, cash: Pubkey): Key => joined('p', mint, cash)
export const openCandlesKey = (mint: Pubkey, cash: Pubkey): Key => joined('o', mint, cash)

export function candlePageKey(mint: Pubkey, cash: Pubkey, interval: Interval, page: number): Key {
  const key = joined('c', mint, cash, new Uint8Array(5))
  key[key.length - 5] = intervalCodes.codeOf(interval)
  key.writeUInt32BE(page, key.length - 4)
  return key
}

/** A list of row pages: the trades of a mint, the events of a pool. */
export type PageList = 't' | 'e'

export function pageKey(list: PageList, owner: Pubkey, firstCursor: number): Key {
  const key = joined(list, owner, new Uint8Array(8))
  writeNumber(key, 33, firstCursor)
  return key
}

export function openPageKey(list: PageList, owner: Pubkey): Key {
  const key = pageKey(list, owner, 0)
  key.writeUInt32BE(OPEN, 33)
  key.writeUInt32BE(OPEN, 37)
  return key
}

/** Every key that starts with these bytes. */
export function keysFrom(prefix: Key): KeyRange {
  const lt = Buffer.from(prefix)
  let last = lt.length - 1
  while (last > 0 && lt[last] === 255) last--
  lt[last]! += 1
  return { gte: prefix, lt: lt.subarray(0, last + 1) }
}

/** Every key of one kind. */
export const keysOf = (kind: string): KeyRange => keysFrom(Buffer.from(kind, 'latin1'))
export const pairKeysOf = (mint: Pubkey): KeyRange => keysFrom(joined('p', mint))
export const launchKeysOf = (status: LaunchStatus): KeyRange =>
  keysFrom(launchOfStatusKey(status, 0).subarray(0, 2))

function joined(kind: string, ...parts: readonly Uint8Array[]): Key {
  const key = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + part.length, 1))
  key[0] = letter(kind)
  let at = 1
  for (const part of parts) {
    key.set(part, at)
    at += part.length
  }
  return key
}

function numbered(kind: string, value: number): Key {
  const key = Buffer.allocUnsafe(9)
  key[0] = letter(kind)
  writeNumber(key, 1, value)
  return key
}

const letter = (kind: string): number => kind.charCodeAt(0)

function writeNumber(key: Key, at: number, value: number): void {
  key.writeUInt32BE(Math.floor(value / 2 ** 32), at)
  key.writeUInt32BE(value % 2 ** 32, at + 4)
}

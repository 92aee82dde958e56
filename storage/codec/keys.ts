import type { Pubkey } from '../../src/chain/pubkey.ts'
import { writeU64 } from '../../src/chain/u64-bytes.ts'
import type { ActivityOf } from '../../src/market/activity-rows.ts'
import type { LogAddress, LogChannel } from '../../src/market/log.ts'
import type { Interval, LaunchStatus } from '../../src/market/rows.ts'
import { activityOfCodes, intervalCodes, launchStatusCodes, logChannelCodes } from './codes.ts'
import { recentAddresses } from './recent-addresses.ts'

/**
 * The keys of the store: a letter for the kind of record, the address that readers request, then the order of the records
 * under it. Numbers are big-endian, so that bytes sort as numbers do.
 *
 *   v                            format version
 *   R                            the horizon of the retention
 *   b slot                       slot
 *   d slot                       a kept block with its undo data
 *   t mint cursor                a full page of a mint's trades, by its first cursor; all bits set: the open page
 *   w wallet cursor              a page of a wallet's trades, keyed likewise
 *   T wallet cursor              a page of references to a wallet's trades, keyed likewise; only in archives
 *   e pool cursor                a page of a pool's events, keyed likewise
 *   o mint cash                  the newest bucket of each interval
 *   c mint cash interval page    older buckets
 *   p mint                       the pairs of a mint
 *   a of owner hour              activity of an hour
 *   h hour mint                  hourly volume of a mint; deleted once it is a day old
 *   m mint                       token
 *   q pool                       pool
 *   r mint cursor                pool listed under a mint, by the cursor that first named it
 *   g mint                       bonding curve
 *   l mint                       launch
 *   n cursor                     mint launched at a cursor
 *   s status cursor              mint launched at a cursor, of one status
 *   j channel slot               the stream's events of a slot on a channel; deleted once past the horizon
 *   x minute                     sol price
 *   z                            totals
 *   f                            hash of the genesis
 *   u slot                       gap, by its first slot
 *   D                            documents (document-record-keys.ts)
 *   E                            ledgers (ledger-row.ts)
 *   L                            ranges of keys whose records a repair has lost
 *   y name                       tenant of an earlier version
 *   k hash                       API key of an earlier version
 *   i id                         hash of the API key of an earlier version with an id
 */
export type Key = Buffer

/** Keys of one kind under one prefix, from `gte` up to but without `lt`. */
export interface KeyRange {
  readonly gte: Key
  readonly lt: Key
}

/** A number above every cursor, so that the open page of a list of pages comes last. */
const OPEN = 0xff_ff_ff_ff
const UINT32_MAX = 0xff_ff_ff_ff

/** A key's text, one character a byte, for use as the key of a map. */
export function keyText(key: Key): string {
  return key.toString('latin1')
}

export const formatKey = (): Key => Buffer.from('v', 'latin1')
export const horizonKey = (): Key => Buffer.from('R', 'latin1')
export const lostRangesKey = (): Key => Buffer.from('L', 'latin1')
export const totalsKey = (): Key => Buffer.from('z', 'latin1')
export const slotKey = (slot: number): Key => numbered('b', slot)
export const keptBlockKey = (slot: number): Key => numbered('d', slot)
export const genesisKey = (): Key => Buffer.from('f', 'latin1')
export const gapKey = (from: number): Key => numbered('u', from)
export const solPriceKey = (minute: number): Key => numbered('x', minute)
export const launchAtKey = (cursor: number): Key => numbered('n', cursor)

export function launchOfStatusKey(status: LaunchStatus, cursor: number): Key {
  const key = Buffer.allocUnsafe(10)
  key[0] = letter('s')
  key[1] = launchStatusCodes.codeOf(status)
  writeU64(key, cursor, 2)
  return key
}

export function logKey(channel: LogChannel, slot: number): Key {
  const key = Buffer.allocUnsafe(10)
  key[0] = letter('j')
  key[1] = logChannelCodes.codeOf(channel)
  writeU64(key, slot, 2)
  return key
}

export const logAddressIn = (key: Key): LogAddress => ({
  channel: logChannelCodes.wordOf(key[1]!),
  slot: key.readUInt32BE(2) * 2 ** 32 + key.readUInt32BE(6)
})

/** The key of the one row at an address of a record with a letter. */
export const addressKey = (letter: string, address: Pubkey): Key => joined(letter, address)
export const pairsKey = (mint: Pubkey): Key => joined('p', mint)
export const openCandlesKey = (mint: Pubkey, cash: Pubkey): Key => joined('o', mint, cash)
export const earlierKeyKey = (hash: Uint8Array): Key => joined('k', hash)
export const earlierKeyIdKey = (id: string): Key => Buffer.from(`i${id}`, 'utf8')
export const earlierTenantKey = (name: string): Key => Buffer.from(`y${name}`, 'utf8')

/** The address in a record's key; it is not a view of the key's bytes. */
export const addressIn = (key: Key, at = 1): Pubkey => recentAddresses.at(key, at)

export function seriesKey(mint: Pubkey, cash: Pubkey, interval: Interval): Key {
  return joined('c', mint, cash, Uint8Array.of(intervalCodes.codeOf(interval)))
}

export const candlePageKey = (series: Key, page: number): Key => keyAt(series, page, 4)

/** Returns the range of the pages of a pair's series in all intervals. */
export const candlePagesOf = (mint: Pubkey, cash: Pubkey): KeyRange => keysFrom(joined('c', mint, cash))

/** Returns the range of the pages of a series. */
export const candlePagesIn = (series: Key): KeyRange => keysFrom(series)

export const pageOfCandleKey = (key: Key): number => key.readUInt32BE(key.length - 4)

/** Times before 1970 and after 2106 cannot be block times: they become the nearest possible one. */
const uint32 = (value: number): number => Math.min(Math.max(Math.ceil(value), 0), UINT32_MAX)

/** Returns the common prefix of the keys of an owner's hours. */
export const activityOwnerKey = (of: ActivityOf, owner: Pubkey): Key =>
  joined('a', Uint8Array.of(activityOfCodes.codeOf(of)), owner)

export const activityKey = (of: ActivityOf, owner: Pubkey, hour: number): Key =>
  keyAt(activityOwnerKey(of, owner), uint32(hour), 4)

export const hourOfActivityKey = (key: Key): number => key.readUInt32BE(34)

export function hourlyMintVolumeKey(hour: number, mint: Pubkey): Key {
  const key = joined('h', new Uint8Array(4), mint)
  key.writeUInt32BE(uint32(hour), 1)
  return key
}

export const mintPoolKey = (mint: Pubkey, firstCursor: number): Key => ownedAt('r', mint, firstCursor)

/** A list of row pages: the trades of a mint and of a wallet, the references of a wallet, the events of a pool. */
export type PageList = 't' | 'w' | 'T' | 'e'

export const pageKey = (list: PageList, owner: Pubkey, firstCursor: number): Key =>
  ownedAt(list, owner, firstCursor)

export function openPageKey(list: PageList, owner: Pubkey): Key {
  const key = pageKey(list, owner, 0)
  key.writeUInt32BE(OPEN, 33)
  key.writeUInt32BE(OPEN, 37)
  return key
}

/** Returns the first cursor of a page; for an open page, a number above all cursors. */
export const cursorOfPageKey = (key: Key): number => Number(key.readBigUInt64BE(33))

export const isOpenPageKey = (key: Key): boolean => key.readUInt32BE(33) === OPEN

/** A key that ends in a number of this many bytes. */
export function keyAt(prefix: Key, position: number, bytes: 4 | 8): Key {
  const key = Buffer.allocUnsafe(prefix.length + bytes)
  key.set(prefix)
  if (bytes === 4) key.writeUInt32BE(position, prefix.length)
  else writeU64(key, position, prefix.length)
  return key
}

/** Returns the next key in byte order. */
export const keyAfter = (key: Key): Key => Buffer.concat([key, Buffer.of(0)])

/** Returns the range of all keys with a prefix. */
export function keysFrom(prefix: Key): KeyRange {
  const lt = Buffer.from(prefix)
  let last = lt.length - 1
  while (last > 0 && lt[last] === 255) last--
  lt[last]! += 1
  return { gte: prefix, lt: lt.subarray(0, last + 1) }
}

/** Returns the range of all keys of a kind, given its letter. */
export const keysOf = (kind: string): KeyRange => keysFrom(Buffer.from(kind, 'latin1'))
export const mintPoolKeysOf = (mint: Pubkey): KeyRange => keysFrom(joined('r', mint))
export const hourlyMintVolumeKeysOf = (hour: number): KeyRange =>
  keysFrom(hourlyMintVolumeKey(hour, new Uint8Array(32)).subarray(0, 5))
export const logKeysOf = (channel: LogChannel): KeyRange => keysFrom(logKey(channel, 0).subarray(0, 2))
export const launchKeysOf = (status: LaunchStatus): KeyRange =>
  keysFrom(launchOfStatusKey(status, 0).subarray(0, 2))

/** The keys of a list that a page requests, where keys end in a cursor: only cursors below (desc) or above (asc) `from`. */
export function keysBeyond(
  all: KeyRange,
  keyAt: (cursor: number) => Key,
  page: { readonly from?: number; readonly order: 'asc' | 'desc' }
): KeyRange {
  if (page.from === undefined) return all
  const from = keyAt(Math.min(Math.max(page.from, 0), Number.MAX_SAFE_INTEGER))
  return page.order === 'desc' ? { gte: all.gte, lt: from } : { gte: keyAfter(from), lt: all.lt }
}

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

function ownedAt(kind: string, owner: Pubkey, cursor: number): Key {
  const key = Buffer.allocUnsafe(41)
  key[0] = letter(kind)
  key.set(owner, 1)
  writeU64(key, cursor, 33)
  return key
}

function numbered(kind: string, value: number): Key {
  const key = Buffer.allocUnsafe(9)
  key[0] = letter(kind)
  writeU64(key, value, 1)
  return key
}

const letter = (kind: string): number => kind.charCodeAt(0)

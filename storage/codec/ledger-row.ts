import { keyAfter, keysFrom, type Key, type KeyRange } from './keys.ts'
import { BYTES, COUNT, fields, TEXT } from './fields.ts'
import type { RecordKind } from './record.ts'

/**
 * The keys of ledgers in the embedded store, after the letter `E`. On a cluster they only enter the checksums of values.
 * Numbers are big-endian.
 *
 *   0x00 time owner stretch           an owner's rows that expire then, by the stretch of slots
 *   length owner 0x01 slot            page of entries
 *   length owner 0x02 level number    sums of a range of slots
 *   length owner 0x03                 state of the sums
 */
const LETTER = 69 // E
const PAGE = 1
const SUM = 2
const MARK = 3
const SLOT_BYTES = 8

/** A row with the fencing token of its writer. */
export interface LedgerRecord {
  readonly token: number
  readonly value: Uint8Array
}

export const ledgerRowKind: RecordKind<LedgerRecord> = {
  name: 'row of a ledger',
  ...fields<LedgerRecord>({ token: COUNT, value: BYTES }),
  weigh: ({ value }) => 200 + value.length
}

/** A stretch of slots of one owner, whose rows expire together. */
export interface LedgerStretch {
  readonly owner: string
  readonly stretch: number
}

export const ledgerStretchKind: RecordKind<LedgerStretch> = {
  name: 'expiry of rows of a ledger',
  ...fields<LedgerStretch>({ owner: TEXT, stretch: COUNT }),
  weigh: () => 200
}

export const ledgerPageKey = (owner: string, slot: number): Key => {
  const key = sectionKey(owner, PAGE, SLOT_BYTES)
  writeU64(key, slot, key.length - SLOT_BYTES)
  return key
}

export function ledgerSumKey(owner: string, level: number, number: number): Key {
  const key = sectionKey(owner, SUM, 1 + SLOT_BYTES)
  key[key.length - SLOT_BYTES - 1] = level
  writeU64(key, number, key.length - SLOT_BYTES)
  return key
}

export const ledgerMarkKey = (owner: string): Key => sectionKey(owner, MARK, 0)

/** The number that the key of a page or of sums ends with. */
export const numberInLedgerKey = (key: Key): number =>
  key.readUInt32BE(key.length - SLOT_BYTES) * 2 ** 32 + key.readUInt32BE(key.length - 4)

/** Tells whether a ledger's key is of sums, or of their state: they are computed again from pages. */
export const isSumOfLedger = (key: Key): boolean =>
  key[0] === LETTER && key[1] !== 0 && [SUM, MARK].includes(key[2 + key[1]!]!)

/** Pages of slots, both ends included. */
export const ledgerPageKeys = (owner: string, from: number, to: number): KeyRange => ({
  gte: ledgerPageKey(owner, from),
  lt: keyAfter(ledgerPageKey(owner, Math.min(to, Number.MAX_SAFE_INTEGER)))
})

export const ledgerSumKeys = (owner: string, level: number, from: number, to: number): KeyRange => ({
  gte: ledgerSumKey(owner, level, from),
  lt: ledgerSumKey(owner, level, to)
})

export function ledgerExpiryKey(expiresAtMs: number, { owner, stretch }: LedgerStretch): Key {
  const tail = sectionKey(owner, PAGE, SLOT_BYTES)
  writeU64(tail, stretch, tail.length - SLOT_BYTES)
  const key = Buffer.alloc(2 + SLOT_BYTES + tail.length)
  key[0] = LETTER
  writeU64(key, Math.max(0, Math.ceil(expiresAtMs)), 2)
  key.set(tail, 2 + SLOT_BYTES)
  return key
}

/** All that has expired at a time. */
export function ledgerExpiriesUntil(nowMs: number): KeyRange {
  const lt = Buffer.alloc(2 + SLOT_BYTES)
  lt[0] = LETTER
  writeU64(lt, nowMs + 1, 2)
  return { gte: keysFrom(Buffer.of(LETTER, 0)).gte, lt }
}

function sectionKey(owner: string, section: number, bytes: number): Key {
  const length = Buffer.byteLength(owner)
  // The first byte tells an owner from an expiry, and no owner's keys are within those of another.
  if (length === 0 || length > 255) throw new RangeError(`${owner} is no owner of a ledger`)
  const key = Buffer.allocUnsafe(3 + length + bytes)
  key[0] = LETTER
  key[1] = length
  key.write(owner, 2, 'utf8')
  key[2 + length] = section
  return key
}

function writeU64(key: Key, value: number, at: number): void {
  key.writeUInt32BE(Math.floor(value / 2 ** 32), at)
  key.writeUInt32BE(value % 2 ** 32, at + 4)
}

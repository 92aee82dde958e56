import { writeInvertedSlot } from '../../src/chain/slot-bytes.ts'
import { HOLDER_ROW_KINDS } from '../port/holders.ts'
import type { HolderListId, HolderRow, HolderRowKey, HolderRowKind } from '../port/holders.ts'
import type { Key, KeyRange } from './keys.ts'
import { keysFrom } from './keys.ts'

/**
 * Rows of holder lists in a store of their own: the key is mint, reading, kind, the row's key, and the slot with its bits
 * inverted, so that the newest version of a row comes first. The value is a flag and the row's bytes. Numbers are big-endian.
 */
const READING_AT = 32
const KIND_AT = 36
const ROW_AT = 37
const SLOT_BYTES = 8
const SLOT_BITS = 2n ** 64n - 1n
const GONE = Buffer.of(0)

/** Numbers of the kinds in keys; they stay. */
export const HOLDER_ROW_CODES: Readonly<Record<HolderRowKind, number>> = {
  account: 1,
  owner: 2,
  'owner-rank': 3,
  'account-rank': 4,
  sums: 5,
  change: 6
}

export function holderRowKey(list: HolderListId, { kind, key, slot }: HolderRowKey): Key {
  const bytes = Buffer.allocUnsafe(ROW_AT + key.length + SLOT_BYTES)
  writeList(bytes, list)
  bytes[KIND_AT] = HOLDER_ROW_CODES[kind]
  bytes.set(key, ROW_AT)
  writeInvertedSlot(bytes, slot, ROW_AT + key.length)
  return bytes
}

/** Returns the writes of rows, in their order. Their keys and values are pieces of one allocation. */
export function writesOfRows(
  list: HolderListId,
  rows: readonly HolderRow[]
): { type: 'put'; key: Key; value: Buffer }[] {
  const head = Buffer.allocUnsafe(KIND_AT)
  writeList(head, list)
  let size = 0
  for (const { key, value } of rows) size += ROW_AT + key.length + SLOT_BYTES + 1 + (value?.length ?? 0)
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  return rows.map(({ kind, key, slot, value }) => {
    const slotAt = at + ROW_AT + key.length
    const valueAt = slotAt + SLOT_BYTES
    bytes.set(head, at)
    bytes[at + KIND_AT] = HOLDER_ROW_CODES[kind]
    bytes.set(key, at + ROW_AT)
    writeInvertedSlot(bytes, slot, slotAt)
    bytes[valueAt] = value === null ? 0 : 1
    if (value !== null) bytes.set(value, valueAt + 1)
    const end = valueAt + 1 + (value?.length ?? 0)
    const put = {
      type: 'put' as const,
      key: bytes.subarray(at, valueAt),
      value: bytes.subarray(valueAt, end)
    }
    at = end
    return put
  })
}

/** Returns the keys of rows, in their order, as pieces of one allocation. */
export function keysOfRows(list: HolderListId, rows: readonly HolderRowKey[]): Key[] {
  const head = Buffer.allocUnsafe(KIND_AT)
  writeList(head, list)
  const bytes = Buffer.allocUnsafe(rows.reduce((sum, { key }) => sum + ROW_AT + key.length + SLOT_BYTES, 0))
  let at = 0
  return rows.map(({ kind, key, slot }) => {
    const slotAt = at + ROW_AT + key.length
    bytes.set(head, at)
    bytes[at + KIND_AT] = HOLDER_ROW_CODES[kind]
    bytes.set(key, at + ROW_AT)
    writeInvertedSlot(bytes, slot, slotAt)
    const stored = bytes.subarray(at, slotAt + SLOT_BYTES)
    at = slotAt + SLOT_BYTES
    return stored
  })
}

/** Returns the range of all rows of a list. */
export function rowsOfList(list: HolderListId): KeyRange {
  const bytes = Buffer.allocUnsafe(KIND_AT)
  writeList(bytes, list)
  return keysFrom(bytes)
}

/** Returns the range of the rows of one kind. */
export function rowsOfKind(list: HolderListId, kind: HolderRowKind): KeyRange {
  const bytes = Buffer.allocUnsafe(ROW_AT)
  writeList(bytes, list)
  bytes[KIND_AT] = HOLDER_ROW_CODES[kind]
  return keysFrom(bytes)
}

/** Returns a key above all versions of a row, and below those of the next one. */
export function afterHolderRow(list: HolderListId, kind: HolderRowKind, key: Uint8Array): Key {
  return Buffer.concat([holderRowKey(list, { kind, key, slot: 0 }), Buffer.of(255)])
}

/** Returns the row's key in a stored key, not copied. */
export const rowKeyIn = (key: Key, kind: HolderRowKind): Buffer =>
  key.subarray(ROW_AT, ROW_AT + HOLDER_ROW_KINDS[kind])

/** Tells whether two stored keys of one list have the same row. */
export const isOfRow = (key: Key, other: Key): boolean =>
  key.length === other.length &&
  key.compare(other, KIND_AT, other.length - SLOT_BYTES, KIND_AT, key.length - SLOT_BYTES) === 0

export const slotOfRow = (key: Key): number =>
  Number(SLOT_BITS - key.readBigUInt64BE(key.length - SLOT_BYTES))

export const packRow = (value: Uint8Array | null): Buffer =>
  value === null ? GONE : Buffer.concat([Buffer.of(1), value])

/** Returns the bytes of a packed row, copied; null for one that is gone. */
export const unpackRow = (packed: Uint8Array): Uint8Array | null =>
  packed[0] === 0 ? null : Uint8Array.from(packed.subarray(1))

function writeList(bytes: Buffer, { mint, reading }: HolderListId): void {
  bytes.set(mint)
  bytes.writeUInt32BE(reading, READING_AT)
}

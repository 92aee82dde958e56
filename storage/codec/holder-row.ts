import { readInvertedU64, writeInvertedU64 } from '../../src/chain/u64-bytes.ts'
import { HOLDER_ROW_KINDS } from '../port/holders.ts'
import type { HolderListId, HolderRow, HolderRowKey, HolderRowKind } from '../port/holders.ts'
import type { Key, KeyRange } from './keys.ts'
import { keysFrom } from './keys.ts'

/**
 * Rows of holder lists in a store of their own. The key is mint, reading, kind, the row's key, and the slot with its bits
 * inverted, so that the newest version of a row comes first. The value is a flag and the row's bytes. Numbers are
 * big-endian.
 */
const READING_AT = 32
const KIND_AT = 36
const ROW_AT = 37
const SLOT_BYTES = 8
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

export function holderRowKey(list: HolderListId, row: HolderRowKey): Key {
  const bytes = Buffer.allocUnsafe(keyBytesOf(row))
  writeRowKey(bytes, 0, headOf(list), row)
  return bytes
}

/** Returns the writes of rows, in their order. Their keys and values are pieces of one allocation. */
export function writesOfRows(
  list: HolderListId,
  rows: readonly HolderRow[]
): { type: 'put'; key: Key; value: Buffer }[] {
  const head = headOf(list)
  const bytes = Buffer.allocUnsafe(
    rows.reduce((sum, row) => sum + keyBytesOf(row) + 1 + (row.value?.length ?? 0), 0)
  )
  let at = 0
  return rows.map((row) => {
    const { value } = row
    const valueAt = writeRowKey(bytes, at, head, row)
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
  const head = headOf(list)
  const bytes = Buffer.allocUnsafe(rows.reduce((sum, row) => sum + keyBytesOf(row), 0))
  let at = 0
  return rows.map((row) => {
    const end = writeRowKey(bytes, at, head, row)
    const key = bytes.subarray(at, end)
    at = end
    return key
  })
}

const keyBytesOf = ({ key }: HolderRowKey): number => ROW_AT + key.length + SLOT_BYTES

/** Writes the key of a row, of a list with this head. Returns where it ends. */
function writeRowKey(bytes: Buffer, at: number, head: Buffer, { kind, key, slot }: HolderRowKey): number {
  const slotAt = at + ROW_AT + key.length
  bytes.set(head, at)
  bytes[at + KIND_AT] = HOLDER_ROW_CODES[kind]
  bytes.set(key, at + ROW_AT)
  writeInvertedU64(bytes, slot, slotAt)
  return slotAt + SLOT_BYTES
}

/** Returns the range of all rows of a list. */
export function rowsOfList(list: HolderListId): KeyRange {
  return keysFrom(headOf(list))
}

/** Returns the range of the rows of one kind. */
export function rowsOfKind(list: HolderListId, kind: HolderRowKind): KeyRange {
  return keysFrom(Buffer.concat([headOf(list), Buffer.of(HOLDER_ROW_CODES[kind])]))
}

/** Returns a key above all versions of a row, and below those of the next one. */
export function afterHolderRow(list: HolderListId, kind: HolderRowKind, key: Uint8Array): Key {
  return Buffer.concat([holderRowKey(list, { kind, key, slot: 0 }), Buffer.of(255)])
}

/** Returns the row's key in a stored key, not copied. */
export const rowKeyIn = (key: Key, kind: HolderRowKind): Buffer =>
  key.subarray(ROW_AT, ROW_AT + HOLDER_ROW_KINDS[kind])

/** Tells whether two stored keys of one list name one row. */
export const isOfRow = (key: Key, other: Key): boolean =>
  key.length === other.length &&
  key.compare(other, KIND_AT, other.length - SLOT_BYTES, KIND_AT, key.length - SLOT_BYTES) === 0

export const slotOfRow = (key: Key): number => readInvertedU64(key, key.length - SLOT_BYTES)

export const packRow = (value: Uint8Array | null): Buffer =>
  value === null ? GONE : Buffer.concat([Buffer.of(1), value])

/** Returns the bytes of a packed row, copied; null for one that is gone. */
export const unpackRow = (packed: Uint8Array): Uint8Array | null =>
  packed[0] === 0 ? null : new Uint8Array(packed.subarray(1))

/** Returns what the keys of all rows of a list begin with. */
function headOf({ mint, reading }: HolderListId): Buffer {
  const head = Buffer.allocUnsafe(KIND_AT)
  head.set(mint)
  head.writeUInt32BE(reading, READING_AT)
  return head
}

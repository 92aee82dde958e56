import type { Pubkey } from '../../src/chain/pubkey.ts'
import { readInvertedU64, writeInvertedU64 } from '../../src/chain/u64-bytes.ts'
import type { IndexedRange, IndexLookup, VersionKey } from '../port/program-accounts.ts'
import { keysFrom, type Key, type KeyRange } from './keys.ts'

/**
 * Index entries, in the same engine as the versions: the key is MARK, program, offset, length, the value, the address, and
 * the slot with its bits inverted. The entries of a value ascend by address, and for an address the newest is first. Numbers
 * are big-endian; the value of an entry is empty.
 */
const PROGRAM_AT = 32
const OFFSET_AT = 64
const LENGTH_AT = 68
const VALUE_AT = 69
const ADDRESS_BYTES = 32
const SLOT_BYTES = 8

/** Stands where versions have their program. No program has this address: it is not a point of the curve. */
const MARK = Buffer.alloc(32, 255)

/** Returns the bytes of a range, not copied; null if the data is too short. */
export const valueIn = (data: Uint8Array, { offset, length }: IndexedRange): Uint8Array | null =>
  data.length < offset + length ? null : data.subarray(offset, offset + length)

/** Returns the keys of the entries of a version, given its data. */
export const entryKeysOf = (
  program: Pubkey,
  { address, slot }: VersionKey,
  data: Uint8Array,
  ranges: readonly IndexedRange[]
): Key[] =>
  ranges.flatMap((range) => {
    const value = valueIn(data, range)
    return value === null ? [] : [entryKey(program, { ...range, value }, address, slot)]
  })

/** Returns the range of all entries of a program. */
export const entriesOfProgram = (program: Pubkey): KeyRange => keysFrom(Buffer.concat([MARK, program]))

/** Returns the range of all entries of an index. */
export const entriesOfIndex = (program: Pubkey, range: IndexedRange): KeyRange =>
  keysFrom(head(program, range))

/** Returns the range of the entries of a value, from the address after `after` on. */
export function entriesOfValue(program: Pubkey, lookup: IndexLookup, after: Pubkey | undefined): KeyRange {
  const { gte, lt } = keysFrom(Buffer.concat([head(program, lookup), lookup.value]))
  if (after === undefined) return { gte, lt }
  return { gte: Buffer.concat([entryKey(program, lookup, after, 0), Buffer.of(255)]), lt }
}

/** Returns the version of an entry, with a copy of its address. */
export function versionOfEntry(key: Key): VersionKey {
  const slotAt = key.length - SLOT_BYTES
  return {
    address: new Uint8Array(key.subarray(slotAt - ADDRESS_BYTES, slotAt)),
    slot: readInvertedU64(key, slotAt)
  }
}

function head(program: Pubkey, { offset, length }: IndexedRange): Buffer {
  const key = Buffer.allocUnsafe(VALUE_AT)
  writeHead(key, program, offset, length)
  return key
}

function entryKey(
  program: Pubkey,
  { offset, length, value }: IndexLookup,
  address: Pubkey,
  slot: number
): Key {
  const slotAt = VALUE_AT + length + ADDRESS_BYTES
  const key = Buffer.allocUnsafe(slotAt + SLOT_BYTES)
  writeHead(key, program, offset, length)
  key.set(value, VALUE_AT)
  key.set(address, VALUE_AT + length)
  writeInvertedU64(key, slot, slotAt)
  return key
}

function writeHead(key: Buffer, program: Pubkey, offset: number, length: number): void {
  key.set(MARK)
  key.set(program, PROGRAM_AT)
  key.writeUInt32BE(offset, OFFSET_AT)
  key[LENGTH_AT] = length
}

import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { Key } from './keys.ts'
import { ADDRESS_AT, VERSION_KEY_BYTES } from './program-account.ts'

/**
 * Versions of a program's accounts in one piece of memory, in the order of their keys. Of each: the length of the value
 * (u32, big-endian), the key without the program (address and inverted slot), and the value. A scan compares bytes in place,
 * where an engine's entry costs two objects.
 */
const ADDRESS_BYTES = 32
const KEY_BYTES = VERSION_KEY_BYTES - ADDRESS_AT
const KEY_AT = 4
/** Offset of a version's value from the version's own. */
export const VALUE_AT = KEY_AT + KEY_BYTES

/** A stored version, or a change of one: without a value it is dropped. */
export interface VersionChange {
  readonly key: Key
  readonly value: Uint8Array | null
}

/** Bytes that a version takes. */
export const packedBytes = (value: Uint8Array): number => VALUE_AT + value.length

/** Packs versions, ascending by key. */
export function packVersions(versions: readonly (readonly [Key, Uint8Array])[]): Uint8Array {
  let size = 0
  for (const [, value] of versions) size += packedBytes(value)
  const bytes = unfilled(size)
  let at = 0
  for (const [key, value] of versions) at = writeVersion(bytes, at, key, value)
  return bytes
}

/** Returns the offset after the version at an offset. */
export const versionEnd = (bytes: Uint8Array, at: number): number => at + VALUE_AT + readU32(bytes, at)

/** Returns a copy of the address of the version at an offset. */
export const addressAt = (bytes: Uint8Array, at: number): Pubkey =>
  bytes.slice(at + KEY_AT, at + KEY_AT + ADDRESS_BYTES)

/** Returns the slot of the version at an offset. */
export const slotAt = (bytes: Uint8Array, at: number): number =>
  (~readU32(bytes, at + KEY_AT + ADDRESS_BYTES) >>> 0) * 2 ** 32 +
  (~readU32(bytes, at + KEY_AT + ADDRESS_BYTES + 4) >>> 0)

/** Tells whether two versions in one piece of memory are of one address. */
export function isSameAddress(bytes: Uint8Array, at: number, other: number): boolean {
  for (let i = KEY_AT; i < KEY_AT + ADDRESS_BYTES; i++) if (bytes[at + i] !== bytes[other + i]) return false
  return true
}

/** Returns the offset of the first version of a greater address, or the end. */
export function offsetAfter(bytes: Uint8Array, address: Pubkey): number {
  let at = 0
  while (at < bytes.length && !isGreater(bytes, at + KEY_AT, address)) at = versionEnd(bytes, at)
  return at
}

function isGreater(bytes: Uint8Array, from: number, address: Pubkey): boolean {
  for (let i = 0; i < ADDRESS_BYTES; i++)
    if (bytes[from + i] !== address[i]) return bytes[from + i]! > address[i]!
  return false
}

/** Returns packed versions with changes, ascending by key, at most one of each. */
export function mergeVersions(bytes: Uint8Array, changes: readonly VersionChange[]): Uint8Array {
  let size = bytes.length
  for (const { value } of changes) if (value !== null) size += packedBytes(value)
  const merged = unfilled(size)
  let to = 0
  let at = 0
  for (const { key, value } of changes) {
    const from = at
    let order = 1
    while (at < bytes.length && (order = compareKey(bytes, at, key)) < 0) at = versionEnd(bytes, at)
    merged.set(bytes.subarray(from, at), to)
    to += at - from
    if (at < bytes.length && order === 0) at = versionEnd(bytes, at)
    if (value !== null) to = writeVersion(merged, to, key, value)
  }
  merged.set(bytes.subarray(at), to)
  to += bytes.length - at
  // A view would retain the memory of dropped versions.
  return to === size ? merged : merged.slice(0, to)
}

/**
 * Returns the offsets at which packed versions are cut into parts of about a size, each with all versions of its addresses.
 */
export function cutsOf(bytes: Uint8Array, size: number): readonly number[] {
  const cuts = [0]
  let before = 0
  for (let at = 0; at < bytes.length; at = versionEnd(bytes, at)) {
    if (at - cuts.at(-1)! >= size && !isSameAddress(bytes, at, before)) cuts.push(at)
    before = at
  }
  cuts.push(bytes.length)
  return cuts
}

/** Returns the offset of the last version; packed versions must not be empty. */
export function lastVersionAt(bytes: Uint8Array): number {
  let last = 0
  for (let at = 0; at < bytes.length; at = versionEnd(bytes, at)) last = at
  return last
}

function compareKey(bytes: Uint8Array, at: number, key: Key): number {
  for (let i = 0; i < KEY_BYTES; i++) {
    const difference = bytes[at + KEY_AT + i]! - key[ADDRESS_AT + i]!
    if (difference !== 0) return difference
  }
  return 0
}

function writeVersion(bytes: Uint8Array, at: number, key: Key, value: Uint8Array): number {
  const { length } = value
  bytes[at] = length >>> 24
  bytes[at + 1] = length >>> 16
  bytes[at + 2] = length >>> 8
  bytes[at + 3] = length
  for (let i = 0; i < KEY_BYTES; i++) bytes[at + KEY_AT + i] = key[ADDRESS_AT + i]!
  bytes.set(value, at + VALUE_AT)
  return at + VALUE_AT + length
}

function readU32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}

/** Allocates memory of its own whose bytes are all written next. */
function unfilled(size: number): Uint8Array {
  const { buffer } = Buffer.allocUnsafeSlow(size)
  return new Uint8Array(buffer)
}

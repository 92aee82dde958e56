import type { Pubkey } from '../../src/chain/pubkey.ts'
import { readInvertedU64, writeInvertedU64 } from '../../src/chain/u64-bytes.ts'
import type { ProgramAccount } from '../port/program-accounts.ts'
import type { Key, KeyRange } from './keys.ts'
import { keysFrom } from './keys.ts'

/**
 * Versions of accounts in a store of their own. The key is program, address, and the slot with its bits inverted, so that
 * the newest version of an account comes first. The value is a flag, lamports, rent epoch and the data; a version without an
 * account is the flag alone. Numbers are big-endian.
 */
export const ADDRESS_AT = 32
const SLOT_AT = 64
export const VERSION_KEY_BYTES = 72
const CLOSED = 0
const PRESENT = 1
const EXECUTABLE = 2
/** Offset of the data in a packed account. */
export const DATA_AT = 17

export function versionKey(program: Pubkey, address: Pubkey, slot: number): Key {
  const key = Buffer.allocUnsafe(VERSION_KEY_BYTES)
  key.set(program)
  key.set(address, ADDRESS_AT)
  writeInvertedU64(key, slot, SLOT_AT)
  return key
}

/** Returns the range of all versions of a program. */
export const versionsOf = (program: Pubkey): KeyRange => keysFrom(Buffer.from(program))

/** Returns a key above all versions of an address, and below those of the next one. */
export function afterAddress(program: Pubkey, address: Pubkey): Key {
  const key = Buffer.alloc(VERSION_KEY_BYTES + 1, 255)
  key.set(program)
  key.set(address, ADDRESS_AT)
  return key
}

/** Returns a copy of the address in a key. `Uint8Array.from` would take ten times as long. */
export const addressOfVersion = (key: Key): Pubkey => new Uint8Array(key.subarray(ADDRESS_AT, SLOT_AT))

/** Tells whether two keys of one program have the same address. */
export const isOfAddress = (key: Key, other: Key): boolean =>
  key.compare(other, ADDRESS_AT, SLOT_AT, ADDRESS_AT, SLOT_AT) === 0

export const slotOfVersion = (key: Key): number => readInvertedU64(key, SLOT_AT)

export function packAccount(account: ProgramAccount | null): Buffer {
  if (account === null) return Buffer.of(CLOSED)
  const bytes = Buffer.allocUnsafe(DATA_AT + account.data.length)
  bytes[0] = PRESENT | (account.executable ? EXECUTABLE : 0)
  bytes.writeBigUInt64BE(account.lamports, 1)
  bytes.writeBigUInt64BE(account.rentEpoch, 9)
  bytes.set(account.data, DATA_AT)
  return bytes
}

/** Tells whether a packed account at an offset is closed. */
export const isClosedAt = (bytes: Uint8Array, at: number): boolean => bytes[at] === CLOSED

/** Returns the data of a packed account, not copied; null for one that is closed. */
export const dataOf = (packed: Uint8Array): Uint8Array | null =>
  packed[0] === CLOSED ? null : packed.subarray(DATA_AT)

/** Reads a packed account, with a copy of its data; null for one that is closed. */
export function unpackAccount(packed: Uint8Array): ProgramAccount | null {
  if (isClosedAt(packed, 0)) return null
  const account = viewAccount(packed, 0, packed.length)
  return { ...account, data: new Uint8Array(account.data) }
}

/** Reads an account that is packed in some bytes and not closed. Its data is a view of them. */
export function viewAccount(bytes: Uint8Array, from: number, to: number): ProgramAccount {
  const view = new DataView(bytes.buffer, bytes.byteOffset + from)
  return {
    executable: (bytes[from]! & EXECUTABLE) !== 0,
    lamports: view.getBigUint64(1),
    rentEpoch: view.getBigUint64(9),
    data: new Uint8Array(bytes.buffer, bytes.byteOffset + from + DATA_AT, to - from - DATA_AT)
  }
}

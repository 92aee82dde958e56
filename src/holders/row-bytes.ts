import type { Pubkey } from '../chain/pubkey.ts'
import { writeU64 } from '../chain/u64-bytes.ts'

/**
 * Bytes of the rows of holder lists. Numbers are big-endian. An amount in a key is inverted, so that the largest
 * sorts first.
 */

const U64_BITS = 2n ** 64n - 1n

/** A token account with tokens: the value of a row of kind `account`. */
export interface HeldBalance {
  readonly owner: Pubkey
  readonly amount: bigint
}

export function packBalance(balance: HeldBalance): Uint8Array {
  const bytes = Buffer.allocUnsafe(40)
  writeBalance(bytes, 0, balance)
  return bytes
}

/** Writes a packed balance at a place. */
export function writeBalance(bytes: Buffer, at: number, { owner, amount }: HeldBalance): void {
  bytes.writeBigUInt64BE(amount, at)
  bytes.set(owner, at + 8)
}

/** Reads a packed balance at a place. */
export const unpackBalance = (bytes: Uint8Array, at = 0): HeldBalance => ({
  amount: u64(bytes, at),
  owner: bytes.slice(at + 8, at + 40)
})

/** The balance of an owner in all of its accounts: the value of a row of kind `owner`. */
export interface OwnerBalance {
  readonly amount: bigint
  /** Token accounts with tokens. */
  readonly accounts: number
}

export function packOwner(balance: OwnerBalance): Uint8Array {
  const bytes = Buffer.allocUnsafe(12)
  writeOwner(bytes, 0, balance)
  return bytes
}

/** Writes the packed balance of an owner at a place. */
export function writeOwner(bytes: Buffer, at: number, { amount, accounts }: OwnerBalance): void {
  bytes.writeBigUInt64BE(amount, at)
  bytes.writeUInt32BE(accounts, at + 8)
}

/** Reads the packed balance of an owner at a place. */
export const unpackOwner = (bytes: Uint8Array, at = 0): OwnerBalance => ({
  amount: u64(bytes, at),
  accounts: u32(bytes, at + 8)
})

/** Returns the key of a row by amount. */
export function rankKey(amount: bigint, address: Pubkey): Uint8Array {
  const bytes = Buffer.allocUnsafe(40)
  bytes.writeBigUInt64BE(U64_BITS - amount)
  bytes.set(address, 8)
  return bytes
}

export const inRankKey = (key: Uint8Array): { readonly amount: bigint; readonly address: Pubkey } => ({
  amount: U64_BITS - u64(key, 0),
  address: key.slice(8, 40)
})

/** Packs a number of accounts: the value of a row of kind `owner-rank`. */
export function packCount(count: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(count)
  return bytes
}

export const unpackCount = (bytes: Uint8Array): number => u32(bytes, 0)

/** Sums of a list. */
export interface HolderSums {
  readonly owners: number
  readonly accounts: number
  /** Base units in all accounts. */
  readonly held: bigint
  /** Sum of the squares of the owners' amounts. */
  readonly squares: bigint
}

/** Bytes of packed sums. */
const SUMS_BYTES = 40

export function packSums({ owners, accounts, held, squares }: HolderSums): Uint8Array {
  const bytes = Buffer.allocUnsafe(SUMS_BYTES)
  bytes.writeUInt32BE(owners)
  bytes.writeUInt32BE(accounts, 4)
  writeU128(bytes, 8, held)
  writeU128(bytes, 24, squares)
  return bytes
}

/** Reads packed sums at a place. */
export const unpackSums = (bytes: Uint8Array, at = 0): HolderSums => ({
  owners: u32(bytes, at),
  accounts: u32(bytes, at + 4),
  held: u128(bytes, at + 8),
  squares: u128(bytes, at + 24)
})

/** The slot of all rows of a list's snapshot, below that of every block. Only rows of its log have the slots of their blocks. */
export const BASE_SLOT = 0

/** Sums of a snapshot, with the slot of the last block that changed them. */
export interface SlotSums {
  readonly sums: HolderSums
  readonly slot: number
}

export function packSlotSums({ sums, slot }: SlotSums): Uint8Array {
  const bytes = Buffer.allocUnsafe(SUMS_BYTES + 8)
  bytes.set(packSums(sums))
  writeU64(bytes, slot, SUMS_BYTES)
  return bytes
}

export const unpackSlotSums = (bytes: Uint8Array): SlotSums => ({
  sums: unpackSums(bytes),
  slot: Number(u64(bytes, SUMS_BYTES))
})

/** Returns the key of the row with the changes of a slot. */
export function changeKey(slot: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(8)
  writeU64(bytes, slot, 0)
  return bytes
}

export const slotInChangeKey = (key: Uint8Array): number => Number(u64(key, 0))

/** Copying into a view is faster than a view of each value's bytes. */
const copied = new Uint8Array(8)
const copiedView = new DataView(copied.buffer)

function u64(bytes: Uint8Array, at: number): bigint {
  for (let i = 0; i < 8; i++) copied[i] = bytes[at + i]!
  return copiedView.getBigUint64(0)
}

const u32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
const u128 = (bytes: Uint8Array, at: number): bigint => (u64(bytes, at) << 64n) | u64(bytes, at + 8)

function writeU128(bytes: Buffer, at: number, value: bigint): void {
  bytes.writeBigUInt64BE(value >> 64n, at)
  bytes.writeBigUInt64BE(value & U64_BITS, at + 8)
}

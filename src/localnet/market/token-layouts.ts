import type { Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { samePubkey } from '../../chain/pubkey.ts'

/**
 * Account data of the token programs, in the memory layout of their state structs; Token-2022 adds a type and
 * extensions.
 */

const TOKEN_ACCOUNT_BYTES = 165
const MINT_BYTES = 82
const AMOUNT_AT = 64
const SUPPLY_AT = 36

/**
 * Tail of a Token-2022 account created by the associated-token program: account type 2, then ImmutableOwner (7), empty.
 */
const ACCOUNT_TYPE_AND_IMMUTABLE_OWNER = [2, 7, 0, 0, 0]

/** Returns the lamports that make an account of `dataLength` bytes exempt from rent. */
export function rentExempt(dataLength: number): bigint {
  return BigInt(128 + dataLength) * 6960n
}

/**
 * Returns the data of an initialized token account without tokens. `immutable` selects Token-2022's form of associated
 * ones.
 */
export function newTokenAccount(mint: Pubkey, owner: Pubkey, immutable: boolean): Uint8Array {
  const data = new Uint8Array(TOKEN_ACCOUNT_BYTES + (immutable ? ACCOUNT_TYPE_AND_IMMUTABLE_OWNER.length : 0))
  data.set(mint, 0)
  data.set(owner, 32)
  data[108] = 1
  if (samePubkey(mint, NATIVE_MINT)) {
    data[109] = 1
    viewOf(data).setBigUint64(113, rentExempt(data.length), true)
  }
  if (immutable) data.set(ACCOUNT_TYPE_AND_IMMUTABLE_OWNER, TOKEN_ACCOUNT_BYTES)
  return data
}

/** Returns the data of an initialized mint without supply. */
export function newMint(decimals: number, authority: Pubkey | null): Uint8Array {
  const data = new Uint8Array(MINT_BYTES)
  if (authority !== null) {
    data[0] = 1
    data.set(authority, 4)
  }
  data[44] = decimals
  data[45] = 1
  return data
}

/** Names and address of a token's metadata, with the bytes that the metadata program reserves for each. */
const METADATA_TEXTS = [
  ['name', 32],
  ['symbol', 10],
  ['uri', 200]
] as const
type MetadataTexts = Readonly<Record<(typeof METADATA_TEXTS)[number][0], string>>

/** Returns the data of a metadata account: version 1, without creators, immutable. */
export function metadataOf(mint: Pubkey, authority: Pubkey, texts: MetadataTexts): Uint8Array {
  const fields = METADATA_TEXTS.map(([field, size]) => {
    const text = new TextEncoder().encode(texts[field])
    const bytes = new Uint8Array(4 + size)
    viewOf(bytes).setUint32(0, size, true)
    bytes.set(text, 4)
    return bytes
  })
  // After the names: seller fee u16, no creators, no primary sale, immutable.
  return Uint8Array.from([4, ...authority, ...mint, ...fields.flatMap((field) => [...field]), 0, 0, 0, 0, 0])
}

export const tokenAccount = {
  is: (data: Uint8Array): boolean =>
    data.length === TOKEN_ACCOUNT_BYTES || (data.length > TOKEN_ACCOUNT_BYTES && data[165] === 2),
  // Copies: they outlive the data, and a view takes as much memory.
  mint: (data: Uint8Array): Pubkey => data.slice(0, 32),
  owner: (data: Uint8Array): Pubkey => data.slice(32, 64),
  amount: (data: Uint8Array): bigint => viewOf(data).getBigUint64(AMOUNT_AT, true),
  isNative: (data: Uint8Array): boolean => data[109] === 1,
  nativeReserve: (data: Uint8Array): bigint => viewOf(data).getBigUint64(113, true),
  setAmount: (data: Uint8Array, amount: bigint): void => viewOf(data).setBigUint64(AMOUNT_AT, amount, true)
}

export const mintAccount = {
  is: (data: Uint8Array): boolean => data.length === MINT_BYTES && data[45] === 1,
  decimals: (data: Uint8Array): number => data[44]!,
  supply: (data: Uint8Array): bigint => viewOf(data).getBigUint64(SUPPLY_AT, true),
  setSupply: (data: Uint8Array, supply: bigint): void => viewOf(data).setBigUint64(SUPPLY_AT, supply, true),
  /** Removes the mint authority. */
  dropAuthority: (data: Uint8Array): void => void data.fill(0, 0, 36)
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength)
}

import { pubkeyToBase58, type Pubkey } from './pubkey.ts'

/*
 * Numbers of 48 bits that stand for accounts in indexes over many transactions. A source has an address as bytes or as
 * text, and decoding a text takes longer than all else here: each form has a hash of its own, and who searches an account
 * searches both. Both are taken from the middle of an address: addresses of one maker may share their beginning or end
 * (vanity addresses). Two of the 10,000 accounts of a mainnet block share a hash once in five million blocks.
 */

/** Returns the hash of an address of 32 bytes that begins at an offset. */
export function hashOfKeyBytes(bytes: Uint8Array, at = 0): number {
  const low = wordAt(bytes, at + 8) ^ wordAt(bytes, at + 18) ^ wordAt(bytes, at + 28)
  const high = (bytes[at + 12]! ^ bytes[at + 22]!) | ((bytes[at + 13]! ^ bytes[at + 23]!) << 8)
  return high * 2 ** 32 + (low >>> 0)
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

/** Returns the hash of an address in base58. */
export function hashOfKeyText(text: string): number {
  // FNV-1a over the last characters and twelve others, 70 bits; a text has at least 32.
  let low = 0x811c9dc5
  for (let i = text.length - 4; i < text.length; i++) low = fnv(low, text.charCodeAt(i))
  let high = low
  for (let i = 10; i < 16; i++) high = fnv(high, text.charCodeAt(i))
  low = high
  for (let i = 16; i < 22; i++) low = fnv(low, text.charCodeAt(i))
  return (high >>> 16) * 2 ** 32 + (low >>> 0)
}

const fnv = (hash: number, character: number): number => Math.imul(hash ^ character, 0x01000193)

/** Returns both hashes of an address. */
export const accountHashes = (key: Pubkey): readonly [number, number] => [
  hashOfKeyBytes(key),
  hashOfKeyText(pubkeyToBase58(key))
]

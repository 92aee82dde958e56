import { pubkeyToBase58, type Pubkey } from './pubkey.ts'

/*
 * Numbers of 48 bits that stand for accounts in indexes over many transactions. A source has an address as bytes or
 * as text, and decoding a text takes longer than everything else here. So each form has its own hash, and a search
 * for an account uses both. Both hashes use the middle of an address, because addresses of one maker may share their
 * beginning or end (vanity addresses). They also use the last characters, where numbered addresses differ. Two of the
 * 10,000 accounts of a mainnet block share a hash once in a million blocks.
 */

/** Returns the hash of an address of 32 bytes that begins at an offset. */
export function hashOfKeyBytes(bytes: Uint8Array, at = 0): number {
  const low =
    (bytes[at + 12]! ^ bytes[at + 31]!) |
    (bytes[at + 13]! << 8) |
    (bytes[at + 14]! << 16) |
    (bytes[at + 15]! << 24)
  return (bytes[at + 16]! | (bytes[at + 17]! << 8)) * 2 ** 32 + (low >>> 0)
}

/** Returns the hash of an address in base58. */
export function hashOfKeyText(text: string): number {
  // FNV-1a over ten characters, 58 bits; a text has at least 32. Reading a character takes longer than mixing it.
  let low = fnv(0x811c9dc5, text.charCodeAt(text.length - 1))
  for (let i = 12; i < 18; i++) low = fnv(low, text.charCodeAt(i))
  let high = low
  for (let i = 18; i < 21; i++) high = fnv(high, text.charCodeAt(i))
  return ((high ^ (high >>> 16)) & 0xffff) * 2 ** 32 + (low >>> 0)
}

const fnv = (hash: number, character: number): number => Math.imul(hash ^ character, 0x01000193)

/** Returns both hashes of an address. */
export const accountHashes = (key: Pubkey): readonly [number, number] => [
  hashOfKeyBytes(key),
  hashOfKeyText(pubkeyToBase58(key))
]

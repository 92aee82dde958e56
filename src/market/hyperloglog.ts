import type { Pubkey } from '../chain/pubkey.ts'

const HASH_BITS = 48
/** Number of values of half a hash. A hash has two halves of 24 bits, so that each is a small integer. */
export const HALF = 2 ** 24

/** Returns the 48-bit hash by which a key is counted. It is mixed, because vanity addresses are not random. */
export function keyHash(key: Pubkey): number {
  return (murmur3(key, 0x2f0b4c53) >>> 8) * HALF + (murmur3(key, 0x6d1e8aa7) >>> 8)
}

/** Returns the register of a hash, out of 2^precision. */
export function registerOf(hash: number, precision: number): number {
  return hash % 2 ** precision
}

/** Returns the place of the first set bit above those that select the register; one past the last if no bit is set. */
export function rankOf(hash: number, precision: number): number {
  const high = Math.floor(hash / HALF)
  if (high > 0) return Math.clz32(high) - 7
  const low = (hash % HALF) >>> precision
  return 24 + (low > 0 ? Math.clz32(low) - 8 - precision : 24 - precision) + 1
}

/**
 * Estimates the number of distinct hashes from the registers' highest ranks: Ertl's estimator (arXiv 1702.01284,
 * algorithm 6), unbiased at any count. Its standard error is 1.04 / √registers.
 */
export function estimateDistinct(registers: Uint8Array): number {
  const size = registers.length
  const highest = HASH_BITS - Math.log2(size) + 1
  const counts = new Uint32Array(highest + 1)
  for (const rank of registers) counts[rank]!++
  let z = size * tau(1 - counts[highest]! / size)
  for (let rank = highest - 1; rank >= 1; rank--) z = 0.5 * (z + counts[rank]!)
  z += size * sigma(counts[0]! / size)
  return (size * size) / (2 * Math.LN2 * z)
}

function sigma(share: number): number {
  if (share === 1) return Infinity
  let x = share
  let y = 1
  let z = x
  for (let last = NaN; z !== last;) {
    x *= x
    last = z
    z += x * y
    y += y
  }
  return z
}

function tau(share: number): number {
  if (share === 0 || share === 1) return 0
  let x = share
  let y = 1
  let z = 1 - x
  for (let last = NaN; z !== last;) {
    x = Math.sqrt(x)
    last = z
    y *= 0.5
    z -= (1 - x) ** 2 * y
  }
  return z / 3
}

/** Computes the 32-bit MurmurHash3 of a key's eight words. */
function murmur3(key: Pubkey, seed: number): number {
  let hash = seed
  for (let at = 0; at < 32; at += 4) {
    const word = key[at]! | (key[at + 1]! << 8) | (key[at + 2]! << 16) | (key[at + 3]! << 24)
    const mixed = Math.imul(word, 0xcc9e2d51)
    hash ^= Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64
  }
  hash ^= 32
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

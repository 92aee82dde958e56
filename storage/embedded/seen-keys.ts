/** Keys that are remembered, at most: 512 KB of memory. */
const SLOTS = 2 ** 17
const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193
/**
 * Characters at each end of a key that are hashed: its kind and eight bytes of an address, and the end of what tells records of one
 * address from each other.
 */
const ENDS = 9

/**
 * Remembers which keys were met, as their hashes. A key is forgotten once another one takes its slot, and is seldom taken for
 * another: both only move the moment from which a record is cached.
 */
export class SeenKeys {
  readonly #hashes = new Uint32Array(SLOTS)

  /** Returns whether a key was met before, and remembers it. */
  meet(key: string): boolean {
    let hash = FNV_OFFSET
    const { length } = key
    for (let at = 0; at < length; at++) {
      if (at === ENDS && length > 2 * ENDS) at = length - ENDS
      hash = Math.imul(hash ^ key.charCodeAt(at), FNV_PRIME)
    }
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1)
    const isSeen = this.#hashes[slot] === hash >>> 0
    this.#hashes[slot] = hash
    return isSeen
  }
}

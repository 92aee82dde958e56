import type { Pubkey } from '../../src/chain/pubkey.ts'

const ADDRESS_BYTES = 32
/** A power of two. */
const PLACES = 1024

/**
 * Addresses that were read lately, one for each value of some of its bits: rows of a page name the same few again and
 * again, and an array of its own for each is most of what reading a row leaves to be collected. Nobody changes an address.
 */
class RecentAddresses {
  readonly #places: (Pubkey | undefined)[] = Array.from({ length: PLACES })

  /** The address whose bytes are at a place of others. */
  at(bytes: Uint8Array, start = 0): Pubkey {
    const place = (bytes[start]! | (bytes[start + 1]! << 8)) & (PLACES - 1)
    const known = this.#places[place]
    if (known !== undefined && isAt(known, bytes, start)) return known
    const address = new Uint8Array(ADDRESS_BYTES)
    for (let i = 0; i < ADDRESS_BYTES; i++) address[i] = bytes[start + i]!
    return (this.#places[place] = address)
  }
}

export const recentAddresses = new RecentAddresses()

function isAt(address: Pubkey, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < ADDRESS_BYTES; i++) if (address[i] !== bytes[start + i]) return false
  return true
}

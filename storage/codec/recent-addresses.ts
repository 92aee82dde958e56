import type { Pubkey } from '../../src/chain/pubkey.ts'

const ADDRESS_BYTES = 32
/** Slots of the cache; a power of two. */
const PLACES = 1024

/**
 * A cache of recently read addresses, one for each value of some of their bits. Rows of a page repeat the same few
 * addresses, and separate arrays would be most of the garbage of reading a row. Addresses are never changed.
 */
class RecentAddresses {
  readonly #places: (Pubkey | undefined)[] = Array.from({ length: PLACES })

  /** Returns the address at an offset of some bytes, cached if it was read recently. */
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

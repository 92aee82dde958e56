import { samePubkey, type Pubkey } from '../chain/pubkey.ts'

const EMPTY = -1

/**
 * Assigns numbers from 0 to addresses, in the order of their first use. Keyed by bytes: a Map would need a text for
 * each address.
 */
export class AddressNumbers {
  /** The addresses, by number. */
  readonly addresses: Pubkey[] = []
  /** Open-addressing hash table of numbers with linear probing. At most half of the slots are used. */
  readonly #places: Int32Array
  readonly #mask: number

  /** `countMax` is the maximum number of different addresses. */
  constructor(countMax: number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(2 * countMax, 2)))
    this.#places = new Int32Array(places).fill(EMPTY)
    this.#mask = places - 1
  }

  /** Returns the number of the address at the start of the bytes; a new address is copied. */
  of(bytes: Uint8Array): number {
    // The first bytes are effectively random: an address is a hash, a curve point, or chosen by its last characters.
    let at = (bytes[0]! | (bytes[1]! << 8) | (bytes[2]! << 16) | (bytes[3]! << 24)) & this.#mask
    for (;;) {
      const number = this.#places[at]!
      if (number === EMPTY) {
        this.#places[at] = this.addresses.length
        return this.addresses.push(bytes.slice(0, 32)) - 1
      }
      if (samePubkey(this.addresses[number]!, bytes)) return number
      at = (at + 1) & this.#mask
    }
  }
}

import { samePubkey, type Pubkey } from '../chain/pubkey.ts'

const EMPTY = -1

/** Numbers addresses from 0, in the order in which they come. By their bytes: a Map would need a text of each. */
export class AddressNumbers {
  /** The addresses, by number. */
  readonly addresses: Pubkey[] = []
  /** Numbers by hash; a place that is taken leads to the next one. At most half of the places are taken. */
  readonly #places: Int32Array
  readonly #mask: number

  /** `countMax` is the maximum number of different addresses. */
  constructor(countMax: number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(2 * countMax, 2)))
    this.#places = new Int32Array(places).fill(EMPTY)
    this.#mask = places - 1
  }

  /** Returns the number of the address that some bytes begin with; a new one is copied. */
  of(bytes: Uint8Array): number {
    // Its first bytes are as good as random: an address is a hash, a point of the curve, or chosen by its last characters.
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

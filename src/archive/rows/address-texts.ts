import type { Pubkey } from '../../chain/pubkey.ts'

/** Addresses that are cached, 250 bytes each. */
const CACHED_MAX = 40_000

/** A cache of addresses by their text: rows repeat a few programs, pools, mints and traders. */
export class AddressTexts {
  readonly #decode: (text: string) => Pubkey | null
  readonly #addresses = new Map<string, Pubkey>()

  /** Takes a function that decodes a text. Texts that are not addresses, for which it returns null, are not cached. */
  constructor(decode: (text: string) => Pubkey | null) {
    this.#decode = decode
  }

  /** Returns the address of a text, the same object for equal texts; null if the text is not an address. */
  addressOf(text: string): Pubkey | null {
    const known = this.#addresses.get(text)
    if (known !== undefined) return known
    const address = this.#decode(text)
    if (address === null) return null
    if (this.#addresses.size >= CACHED_MAX) this.#addresses.clear()
    this.#addresses.set(text, address)
    return address
  }
}

import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'

/**
 * Small numbers for mints, so that columns can name them in four bytes. A mint has its number for as long as somebody
 * holds it; then it is given to another.
 */
export class MintNumbers {
  readonly #numbers = new Map<string, number>()
  readonly #mints: Pubkey[] = []
  /** How many hold each; 0 of a number that is free. */
  readonly #holders: number[] = []
  readonly #free: number[] = []

  /** How many mints have a number. */
  get size(): number {
    return this.#numbers.size
  }

  /** Every number given out so far is below it. */
  get end(): number {
    return this.#mints.length
  }

  /** The number of a mint; a new one, held by nobody yet, if it has none. */
  of(mint: Pubkey): number {
    const key = pubkeyMapKey(mint)
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#free.pop() ?? this.#mints.length
    // A copy, since a decoded key can be a view of the bytes of a whole transaction.
    this.#mints[number] = mint.slice()
    this.#holders[number] = 0
    this.#numbers.set(key, number)
    return number
  }

  mint(number: number): Pubkey {
    const mint = this.#mints[number]
    if (mint === undefined) throw new RangeError(`no mint has the number ${number}`)
    return mint
  }

  hold(number: number): void {
    this.#holders[number]!++
  }

  release(number: number): void {
    if (--this.#holders[number]! > 0) return
    this.#numbers.delete(pubkeyMapKey(this.mint(number)))
    this.#free.push(number)
  }
}

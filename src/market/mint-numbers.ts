import { pubkeyOfMapKey, type Pubkey } from '../chain/pubkey.ts'

/**
 * Assigns small numbers to mints, so that columns store them in four bytes. A mint keeps its number while it has
 * references; then the number is reused.
 */
export class MintNumbers {
  readonly #numbers = new Map<string, number>()
  /** Map keys, the strings that `#numbers` has. */
  readonly #keys: string[] = []
  /** Number of references to each number; 0 for a free one. */
  readonly #holders: number[] = []
  readonly #free: number[] = []

  /** Number of mints with a number. */
  get size(): number {
    return this.#numbers.size
  }

  /** Upper bound, exclusive, of all numbers assigned so far. */
  get end(): number {
    return this.#keys.length
  }

  /** Returns the number of a mint by its map key; assigns one, with no references, to a new mint. */
  of(mapKey: string): number {
    const known = this.#numbers.get(mapKey)
    if (known !== undefined) return known
    const number = this.#free.pop() ?? this.#keys.length
    this.#keys[number] = mapKey
    this.#holders[number] = 0
    this.#numbers.set(mapKey, number)
    return number
  }

  /** Returns the number of a mint by its map key; undefined if the mint is not numbered. */
  find(mapKey: string): number | undefined {
    return this.#numbers.get(mapKey)
  }

  /** Returns the mint of a number that is in use. Throws a RangeError on one that was never assigned. */
  mint(number: number): Pubkey {
    const key = this.#keys[number]
    if (key === undefined) throw new RangeError(`no mint has the number ${number}`)
    return pubkeyOfMapKey(key)
  }

  /** Returns the map key of a number that is in use. */
  mapKey(number: number): string {
    return this.#keys[number]!
  }

  hold(number: number): void {
    this.#holders[number]!++
  }

  release(number: number): void {
    if (--this.#holders[number]! > 0) return
    this.#numbers.delete(this.mapKey(number))
    this.#free.push(number)
  }
}

/** Keys of each of two sets: about 1 MB of keys of 32 characters. */
const KEYS_MAX = 5_000

/** Remembers the last keys: at least `keysMax` of them, and at most twice as many. */
export class RecentKeys {
  readonly #keysMax: number
  #newer = new Set<string>()
  #older = new Set<string>()

  constructor(keysMax = KEYS_MAX) {
    this.#keysMax = keysMax
  }

  has(key: string): boolean {
    return this.#newer.has(key) || this.#older.has(key)
  }

  add(key: string): void {
    this.#newer.add(key)
    if (this.#newer.size < this.#keysMax) return
    this.#older = this.#newer
    this.#newer = new Set()
  }
}

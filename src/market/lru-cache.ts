/**
 * An LRU cache of values by address. Each block ends with `evict`. It evicts the least recently used values beyond
 * the limit, and all values unused for twice `quietBlocks` (INVARIANTS 10).
 */
export class LruCache<T> {
  readonly #name: string
  readonly #max: number
  readonly #quietBlocks: number
  /** Maps keep insertion order, so inserting an entry again makes it the newest. */
  #values = new Map<string, T>()
  /** Entries that were not used since the maps were last swapped. */
  #quiet = new Map<string, T>()
  #blocks = 0

  /** `name` is that of the record, for errors. */
  constructor(name: string, max: number, quietBlocks: number) {
    this.#name = name
    this.#max = max
    this.#quietBlocks = quietBlocks
  }

  get size(): number {
    return this.#values.size + this.#quiet.size
  }

  /** Returns the value and marks it as the most recently used; undefined if it is not cached. */
  renew(key: string): T | undefined {
    const value = this.peek(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.set(key, value)
    return value
  }

  get(key: string): T {
    const value = this.peek(key)
    if (value === undefined) throw new Error(`a row of ${this.#name} was not loaded`)
    return value
  }

  set(key: string, value: T): void {
    this.#values.set(key, value)
    this.#quiet.delete(key)
  }

  /** Returns the value without marking it as used; undefined if it is not cached. */
  peek(key: string): T | undefined {
    const value = this.#values.get(key)
    return value === undefined ? this.#quiet.get(key) : value
  }

  evict(): void {
    if (++this.#blocks >= this.#quietBlocks) {
      this.#blocks = 0
      this.#quiet = this.#values
      this.#values = new Map()
    }
    for (const values of [this.#quiet, this.#values])
      for (const key of values.keys()) {
        if (this.size <= this.#max) return
        values.delete(key)
      }
  }
}

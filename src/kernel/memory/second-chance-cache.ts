/** Memory use of a cache. */
export interface CacheUse {
  readonly bytes: number
  readonly bytesMax: number
}

/** Estimated bytes of an entry without its value: the key's text and the map's slot. Used only for the estimate. */
export const ENTRY_BYTES = 200

interface Entry<T> {
  value: T
  bytes: number
  /** Whether it was used since the clock hand last passed it. */
  used: boolean
}

/**
 * A second-chance (clock) cache. Once its estimated bytes exceed the maximum, entries are evicted in order. An entry
 * that was used since the hand last passed it stays. This is nearly LRU, but a use moves no entry.
 */
export class SecondChanceCache<T> {
  readonly #bytesMax: number
  readonly #onEvict: (key: string, value: T) => void
  /** In the order of eviction. */
  readonly #entries = new Map<string, Entry<T>>()
  /**
   * The clock hand. It continues where it stopped: a map retains the slots of deleted entries for a while, and a new
   * iterator would skip all of them again. Restarting took most of the time of filling a store.
   */
  #hand = this.#entries.entries()
  #bytes = 0

  /**
   * Takes the limit in bytes, and a function that is called with each evicted entry. The function must not use the
   * cache.
   */
  constructor(bytesMax: number, onEvict: (key: string, value: T) => void = () => undefined) {
    this.#bytesMax = bytesMax
    this.#onEvict = onEvict
  }

  /** Estimated bytes in use; at most the maximum after each `set`. */
  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#entries.size
  }

  /** The keys in the order of eviction. */
  keys(): Iterable<string> {
    return this.#entries.keys()
  }

  /** Returns the value of a key without marking it as used; undefined if it is not cached. */
  peek(key: string): T | undefined {
    return this.#entries.get(key)?.value
  }

  /** Returns the value of a key and marks it as used; undefined if it is not cached. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.used = true
    return entry.value
  }

  /** Sets the value of a key and evicts entries until the cache is within its limit. */
  set(key: string, value: T, valueBytes: number): void {
    const bytes = valueBytes + ENTRY_BYTES
    const entry = this.#entries.get(key)
    if (entry === undefined) this.#entries.set(key, { value, bytes, used: false })
    else {
      this.#bytes -= entry.bytes
      entry.value = value
      entry.bytes = bytes
      entry.used = true
    }
    this.#bytes += bytes
    if (this.#bytes > this.#bytesMax) this.#makeRoom()
  }

  /** Updates the bytes of a value that has grown, without marking it as used, and evicts like `set`. */
  weigh(key: string, valueBytes: number): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    const bytes = valueBytes + ENTRY_BYTES
    this.#bytes += bytes - entry.bytes
    entry.bytes = bytes
    if (this.#bytes > this.#bytesMax) this.#makeRoom()
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  #makeRoom(): void {
    while (this.#bytes > this.#bytesMax) {
      const hand = this.#hand.next()
      if (hand.done === true) {
        this.#hand = this.#entries.entries()
        continue
      }
      const [key, entry] = hand.value
      this.#entries.delete(key)
      if (entry.used) {
        entry.used = false
        this.#entries.set(key, entry)
      } else {
        this.#bytes -= entry.bytes
        this.#onEvict(key, entry.value)
      }
    }
  }
}

/** How much of its memory a cache has in use. */
export interface CacheUse {
  readonly bytes: number
  readonly bytesMax: number
}

/** What an entry takes beside its value: the key's text, the map's slot. Chosen. */
const ENTRY_BYTES = 200

interface Entry<T> {
  value: T
  bytes: number
  /** Whether it was used since its last turn. */
  used: boolean
}

/**
 * Values in memory, by key. Once their estimated bytes exceed the maximum they go in turn, and one that was used since
 * its last turn stays for another: nearly the least recently used, and a use costs no move.
 */
export class SecondChance<T> {
  readonly #bytesMax: number
  /** In turn. */
  readonly #entries = new Map<string, Entry<T>>()
  /**
   * Whose turn it is. It goes on where it stopped: a map keeps the places of deleted entries for a while, and to begin
   * anew is to pass them all again, which took most of the time of a store that was being filled.
   */
  #turn = this.#entries.entries()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Estimated bytes in use; after each `set` at most the maximum. */
  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#entries.size
  }

  /** In turn. */
  keys(): Iterable<string> {
    return this.#entries.keys()
  }

  /** The value of a key, as one that is used; undefined when there is none. */
  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.used = true
    return entry.value
  }

  /** Puts a value in place of the key's, and lets others go while they are too much. */
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
      const turn = this.#turn.next()
      if (turn.done === true) {
        this.#turn = this.#entries.entries()
        continue
      }
      const [key, entry] = turn.value
      this.#entries.delete(key)
      if (entry.used) {
        entry.used = false
        this.#entries.set(key, entry)
      } else this.#bytes -= entry.bytes
    }
  }
}

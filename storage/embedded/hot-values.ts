/** What an entry takes beside its value: the key's text, the map's slot. Chosen. */
const ENTRY_BYTES = 200

/** A record's value as its bytes, for as long as nobody has asked for it. */
export class Packed {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

interface Entry {
  readonly value: unknown
  readonly bytes: number
}

/**
 * Values in memory, by key; the least recently used go first once their estimated bytes exceed the maximum.
 * A stored null says that the key is known to be absent.
 */
export class HotValues {
  readonly #bytesMax: number
  /** In order of use, the oldest first. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Undefined when nothing is known of the key. */
  get(key: string): unknown {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: unknown, valueBytes: number): void {
    const bytes = valueBytes + ENTRY_BYTES
    this.delete(key)
    this.#entries.set(key, { value, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }
}

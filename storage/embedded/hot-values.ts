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
  value: unknown
  bytes: number
  /** Whether it was used since it was last looked at for room. */
  used: boolean
}

/**
 * Values in memory, by key. Once their estimated bytes exceed the maximum they go in turn, and one that was used since
 * its last turn stays for another: nearly the least recently used, and a use costs no move.
 * A stored null says that the key is known to be absent.
 */
export class HotValues {
  readonly #bytesMax: number
  /** In turn. */
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
    entry.used = true
    return entry.value
  }

  set(key: string, value: unknown, valueBytes: number): void {
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

  #makeRoom(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) return
      this.#entries.delete(key)
      if (entry.used) {
        entry.used = false
        this.#entries.set(key, entry)
      } else this.#bytes -= entry.bytes
    }
  }
}

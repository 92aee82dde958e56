/** Bytes of the memory that one text after another uses: a page of 200 trades. */
const SHARED_BYTES = 384 * 1024
/** Most bytes of a character of a text, by UTF-16 unit. */
const BYTES_PER_UNIT = 3

let shared: Buffer | null = Buffer.allocUnsafeSlow(SHARED_BYTES)

/**
 * Gathers texts as UTF-8. One long string of them would be copied three times, in memory that the engine takes from the
 * system for each. A text must be closed: then the next one uses its memory.
 */
export class GatheredText {
  #bytes: Buffer
  readonly #isShared: boolean
  #length = 0
  #isAscii = true

  constructor() {
    this.#isShared = shared !== null
    this.#bytes = shared ?? Buffer.allocUnsafeSlow(SHARED_BYTES)
    shared = null
  }

  /** The bytes gathered so far, valid until the next text is added. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Whether all characters are ASCII. */
  get isAscii(): boolean {
    return this.#isAscii
  }

  add(text: string): void {
    const room = this.#length + BYTES_PER_UNIT * text.length
    if (room > this.#bytes.length) this.#grow(room)
    const written = this.#bytes.write(text, this.#length, 'utf8')
    if (written !== text.length) this.#isAscii = false
    this.#length += written
  }

  close(): void {
    if (this.#isShared)
      shared = this.#bytes.length === SHARED_BYTES ? this.#bytes : Buffer.allocUnsafeSlow(SHARED_BYTES)
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafeSlow(2 * length)
    grown.set(this.bytes)
    this.#bytes = grown
  }
}

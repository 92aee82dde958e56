import { renderingMemory } from './rendering-memory.ts'

/** Bytes that a text begins with: most pages of 100 trades fit. */
const FIRST_BYTES = 192 * 1024
/** Most bytes of a character of a text, by UTF-16 unit. */
const BYTES_PER_UNIT = 3
/** Share of the memory that a text has to fill, so that it is kept where it was gathered. */
const FILLED_MIN = 3 / 4

/**
 * Gathers texts as UTF-8, in memory that is used again. One long string of them would be copied three times, in memory that the
 * engine takes from the system for each. A text ends with `take` or `close`.
 */
export class GatheredText {
  #memory = renderingMemory.take(FIRST_BYTES)
  #length = 0
  #isAscii = true

  /** The bytes gathered so far, valid until the next text is added or the text ends. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length)
  }

  /** Whether all characters are ASCII. */
  get isAscii(): boolean {
    return this.#isAscii
  }

  add(text: string): void {
    const room = this.#length + BYTES_PER_UNIT * text.length
    if (room > this.#memory.length) this.#grow(room)
    const written = this.#memory.write(text, this.#length, 'utf8')
    if (written !== text.length) this.#isAscii = false
    this.#length += written
  }

  /** Ends the text. Returns memory that begins with its bytes, and is little larger; its owner gives it to `renderingMemory`. */
  take(): Buffer {
    if (this.#length >= FILLED_MIN * this.#memory.length) return this.#memory
    const memory = renderingMemory.take(this.#length)
    memory.set(this.bytes)
    this.close()
    return memory
  }

  /** Ends the text. */
  close(): void {
    renderingMemory.give(this.#memory)
  }

  #grow(length: number): void {
    const grown = renderingMemory.take(2 * length)
    grown.set(this.bytes)
    renderingMemory.give(this.#memory)
    this.#memory = grown
  }
}

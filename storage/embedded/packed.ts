/**
 * Reads of a cached page that decode its bytes. The next read decodes it for good: the garbage collector copies and marks
 * each object of a decoded page, which takes as long as decoding it a few times, and most pages are read once or twice.
 */
const READS_MAX = 3

/**
 * A record's value as its bytes. They are stored as a string, a character a byte: for so few bytes an array takes ten times
 * as long to create and to collect.
 */
export class Packed {
  readonly #latin1: string
  #reads = 0

  /** Copies the bytes. */
  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#latin1 = Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
  }

  get length(): number {
    return this.#latin1.length
  }

  /** Counts a read. Returns whether the value is to be cached decoded from now on. */
  isReadOften(): boolean {
    return ++this.#reads > READS_MAX
  }

  bytes(): Uint8Array {
    return Buffer.from(this.#latin1, 'latin1')
  }
}

/** Reads the integers and byte strings of the engine's files; a read past the end throws a RangeError. */
export class FileReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get at(): number {
    return this.#at
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** An integer in groups of seven bits, low ones first. */
  count(): number {
    let value = 0
    for (let scale = 1; scale <= 2 ** 49; scale *= 128) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new RangeError('the bytes end within an integer')
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    throw new RangeError('an integer has more than eight bytes')
  }

  /** The next bytes, not copied. */
  bytes(length: number): Buffer {
    const start = this.#at
    if (start + length > this.#bytes.length) throw new RangeError('the bytes end early')
    this.#at = start + length
    return this.#bytes.subarray(start, this.#at)
  }

  /** Bytes whose number is before them, not copied. */
  counted(): Buffer {
    return this.bytes(this.count())
  }
}

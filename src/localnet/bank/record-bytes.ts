const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Writes records. Counts are little-endian base 128, raw amounts eight bytes, little-endian. */
export class RecordWriter {
  #bytes = Buffer.alloc(65_536)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Returns a copy of the written bytes and resets the writer. */
  take(): Uint8Array {
    return new Uint8Array(this.drain())
  }

  /** Returns the written bytes, valid until the next write, and resets the writer. */
  drain(): Uint8Array {
    const written = this.#bytes.subarray(0, this.#length)
    this.#length = 0
    return written
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  /** Writes an integer from 0 to 2^53 − 1. */
  count(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not a count`)
    this.#reserve(8)
    for (; value > 127; value = Math.floor(value / 128)) this.#bytes[this.#length++] = (value % 128) | 128
    this.#bytes[this.#length++] = value
  }

  /** Writes an unsigned integer of 64 bits. */
  amount(value: bigint): void {
    if (BigInt.asUintN(64, value) !== value) throw new RangeError(`${value} is not an amount`)
    this.#reserve(8)
    this.#view.setBigUint64(this.#length, value, true)
    this.#length += 8
  }

  /** Writes bytes without their length, which the reader knows. */
  fixed(bytes: Uint8Array, length: number): void {
    if (bytes.length !== length) throw new RangeError(`${bytes.length} bytes where ${length} belong`)
    this.#reserve(length)
    this.#bytes.set(bytes, this.#length)
    this.#length += length
  }

  bytes(bytes: Uint8Array): void {
    this.count(bytes.length)
    this.fixed(bytes, bytes.length)
  }

  text(text: string): void {
    const length = Buffer.byteLength(text)
    this.count(length)
    this.#reserve(length)
    this.#length += this.#bytes.write(text, this.#length)
  }

  list<T>(items: readonly T[], write: (item: T) => void): void {
    this.count(items.length)
    for (const item of items) write(item)
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const grown = Buffer.alloc(Math.max(this.#length + more, this.#bytes.length * 2))
    grown.set(this.#bytes)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}

/** Reads the output of RecordWriter; a read past the end throws a RangeError. Bytes are views, not copies. */
export class RecordReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at: number

  constructor(bytes: Uint8Array, at = 0) {
    // Slices of a Buffer are Buffers; slices of a plain array over the same bytes are plain.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#at = at
  }

  byte(): number {
    return this.#bytes[this.#advance(1)]!
  }

  count(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte()
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }

  amount(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true)
  }

  fixed(length: number): Uint8Array {
    const start = this.#advance(length)
    return this.#bytes.subarray(start, start + length)
  }

  bytes(): Uint8Array {
    return this.fixed(this.count())
  }

  text(): string {
    return decoder.decode(this.bytes())
  }

  list<T>(read: () => T): T[] {
    return Array.from({ length: this.count() }, read)
  }

  #advance(length: number): number {
    const start = this.#at
    if (start + length > this.#bytes.length) throw new RangeError('the record ends early')
    this.#at = start + length
    return start
  }
}

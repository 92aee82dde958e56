const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads what ByteWriter wrote, from the start; a read past the end throws a RangeError. */
export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at: number

  constructor(bytes: Uint8Array, at = 0) {
    // A Buffer's slice is no copy and gives Buffers; the plain array over the same bytes has neither habit.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#at = at
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  byte(): number {
    return this.#bytes[this.#advance(1)]!
  }

  count(): number {
    let value = 0
    // Most are small: shifts below 31 bits are several times faster than products.
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte()
      value |= (byte & 127) << shift
      if (byte < 128) return value
    }
    for (let scale = 2 ** 28; ; scale *= 128) {
      const byte = this.byte()
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }

  offset(): number {
    const folded = this.count()
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2
  }

  optionalCount(): number | null {
    const value = this.count()
    return value === 0 ? null : value - 1
  }

  amount(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 49n) {
      let chunk = 0
      for (let group = 0, scale = 1; group < 7; group++, scale *= 128) {
        const byte = this.byte()
        chunk += (byte & 127) * scale
        if (byte < 128) return shift === 0n ? BigInt(chunk) : value | (BigInt(chunk) << shift)
      }
      value |= BigInt(chunk) << shift
    }
  }

  float(): number {
    return this.#view.getFloat64(this.#advance(8), true)
  }

  /** A copy of the next bytes: a row kept in memory does not hold the page it came from. */
  fixed(length: number): Uint8Array {
    const start = this.#advance(length)
    return this.#bytes.slice(start, start + length)
  }

  optionalFloat(): number | null {
    return this.byte() === 0 ? null : this.float()
  }

  optionalAmount(): bigint | null {
    return this.byte() === 0 ? null : this.amount()
  }

  optionalFixed(length: number): Uint8Array | null {
    return this.byte() === 0 ? null : this.fixed(length)
  }

  /** Bytes whose number is before them. */
  bytes(): Uint8Array {
    return this.fixed(this.count())
  }

  /** The bytes that are left, not copied; they stay to be read. */
  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at)
  }

  text(): string {
    const length = this.count()
    const start = this.#advance(length)
    return decoder.decode(this.#bytes.subarray(start, start + length))
  }

  texts(): string[] {
    return Array.from({ length: this.count() }, () => this.text())
  }

  #advance(length: number): number {
    const start = this.#at
    if (start + length > this.#bytes.length) throw new RangeError('the value ends early')
    this.#at = start + length
    return start
  }
}

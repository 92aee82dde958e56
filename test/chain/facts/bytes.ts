/** Writes unsigned integers as LEB128 and bytes as they are. */
export class FactWriter {
  #bytes = new Uint8Array(1 << 16)
  #size = 0

  /** An unsigned integer, seven bits a byte, the lowest first. */
  uint(value: number | bigint): void {
    let rest = BigInt(value)
    if (rest < 0n) throw new RangeError('an unsigned integer')
    do {
      const low = Number(rest & 127n)
      rest >>= 7n
      this.#byte(rest === 0n ? low : low | 128)
    } while (rest !== 0n)
  }

  /** A signed integer; small ones of either sign are short. */
  int(value: bigint): void {
    this.uint(value < 0n ? -2n * value - 1n : 2n * value)
  }

  /** An unsigned integer or null. */
  optional(value: number | null): void {
    this.uint(value === null ? 0 : value + 1)
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#size)
    this.#size += bytes.length
  }

  /** Bytes with their number before them. */
  sized(bytes: ArrayLike<number>): void {
    this.uint(bytes.length)
    this.raw(Uint8Array.from(bytes))
  }

  text(text: string): void {
    this.sized(new TextEncoder().encode(text))
  }

  list<T>(items: readonly T[], write: (item: T) => void): void {
    this.uint(items.length)
    items.forEach(write)
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#size)
  }

  #byte(byte: number): void {
    this.#reserve(1)
    this.#bytes[this.#size++] = byte
  }

  #reserve(size: number): void {
    if (this.#size + size <= this.#bytes.length) return
    const grown = new Uint8Array(2 * (this.#bytes.length + size))
    grown.set(this.#bytes)
    this.#bytes = grown
  }
}

/** Reads the output of FactWriter; throws a RangeError where the bytes end early. */
export class FactReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  bigUint(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.raw(1)[0]!
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }

  uint(): number {
    return Number(this.bigUint())
  }

  int(): bigint {
    const value = this.bigUint()
    return value % 2n === 0n ? value / 2n : -(value + 1n) / 2n
  }

  optional(): number | null {
    const value = this.uint()
    return value === 0 ? null : value - 1
  }

  /** A view of the next bytes. */
  raw(size: number): Uint8Array {
    if (size > this.left) throw new RangeError('the bytes end early')
    this.#at += size
    return this.#bytes.subarray(this.#at - size, this.#at)
  }

  sized(): Uint8Array {
    return this.raw(this.uint())
  }

  text(): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.sized())
  }

  list<T>(read: () => T): T[] {
    return Array.from({ length: this.uint() }, read)
  }
}

import type { Pubkey } from '../../src/chain/pubkey.ts'
import { recentAddresses } from './recent-addresses.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Up to this length bytes are copied one by one, which is faster than a call of the engine's copy. */
const FEW_BYTES = 64
const floatBytes = new Uint8Array(8)
const floatView = new DataView(floatBytes.buffer)
/** The two halves of a number below 2^64, which becomes a big integer in a quarter of the time of a conversion. */
const halves = new Uint32Array(2)
const joined = new BigUint64Array(halves.buffer)

/** Stands for an amount that a double may not hold. */
export const LARGE = -2

/** Reads the bytes of a ByteWriter in the order of the writes. A read past the end throws a RangeError. */
export class ByteReader {
  readonly #bytes: Uint8Array
  #at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes
    this.#at = at
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  byte(): number {
    const at = this.#at
    if (at === this.#bytes.length) throw endedEarly()
    this.#at = at + 1
    return this.#bytes[at]!
  }

  count(): number {
    const first = this.byte()
    if (first < 128) return first
    let value = first & 127
    // Most are small: shifts below 31 bits are several times faster than products.
    for (let shift = 7; shift < 28; shift += 7) {
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
        if (byte < 128) return shift === 0n ? wide(chunk) : value | (wide(chunk) << shift)
      }
      value |= wide(chunk) << shift
    }
  }

  /** Skips an amount or a count. */
  skipAmount(): void {
    while (this.byte() >= 128);
  }

  /** Reads an amount as a number; LARGE for an amount of 2^53 or more. */
  safeAmount(): number {
    const amount = this.count()
    // A sum of more bits was rounded, but it is not below 2^53.
    return amount <= Number.MAX_SAFE_INTEGER ? amount : LARGE
  }

  float(): number {
    // Copying is faster than a view of each value's bytes.
    const start = this.#advance(8)
    for (let i = 0; i < 8; i++) floatBytes[i] = this.#bytes[start + i]!
    return floatView.getFloat64(0, true)
  }

  /** Returns a copy of the next bytes, so that a cached row does not keep its page in memory. */
  fixed(length: number): Uint8Array {
    const start = this.#advance(length)
    const copy = new Uint8Array(length)
    if (length > FEW_BYTES) copy.set(this.#bytes.subarray(start, start + length))
    else for (let i = 0; i < length; i++) copy[i] = this.#bytes[start + i]!
    return copy
  }

  /** Reads an address; a recently read equal one is returned instead of a copy. */
  address(): Pubkey {
    return recentAddresses.at(this.#bytes, this.#advance(32))
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

  /** Reads bytes preceded by their length. */
  bytes(): Uint8Array {
    return this.fixed(this.count())
  }

  /** Returns a view of the remaining bytes without consuming them. */
  rest(): Uint8Array {
    const { buffer, byteOffset, byteLength } = this.#bytes
    return new Uint8Array(buffer, byteOffset + this.#at, byteLength - this.#at)
  }

  /** Returns the remaining bytes as a string, a character each, without consuming them. */
  restLatin1(): string {
    const { buffer, byteOffset, byteLength } = this.#bytes
    return Buffer.from(buffer, byteOffset, byteLength).toString('latin1', this.#at)
  }

  /** Skips the remaining bytes. */
  skipRest(): void {
    this.#at = this.#bytes.length
  }

  /** Skips bytes, and returns the place of the first. */
  skip(length: number): number {
    return this.#advance(length)
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
    if (start + length > this.#bytes.length) throw endedEarly()
    this.#at = start + length
    return start
  }
}

const endedEarly = (): RangeError => new RangeError('the value ends early')

/** Returns a safe integer as a big integer. */
function wide(value: number): bigint {
  halves[0] = value
  halves[1] = value / 2 ** 32
  return joined[0]!
}

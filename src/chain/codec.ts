import type { Pubkey } from './pubkey.ts'

/** Reads consecutive little-endian values. Past the end it returns zeros and sets `short`. */
export class ByteReader {
  offset: number
  short = false
  readonly #bytes: Uint8Array
  readonly #view: DataView

  constructor(bytes: Uint8Array, offset = 0) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.offset = offset
  }

  get left(): number {
    return this.#bytes.length - this.offset
  }

  take(size: number): number {
    const at = this.offset
    if (at + size > this.#bytes.length) {
      this.short = true
      return -1
    }
    this.offset = at + size
    return at
  }

  u8(): number {
    const at = this.take(1)
    return at < 0 ? 0 : this.#bytes[at]!
  }

  u16(): number {
    const at = this.take(2)
    return at < 0 ? 0 : this.#view.getUint16(at, true)
  }

  u32(): number {
    const at = this.take(4)
    return at < 0 ? 0 : this.#view.getUint32(at, true)
  }

  i16(): number {
    const at = this.take(2)
    return at < 0 ? 0 : this.#view.getInt16(at, true)
  }

  i32(): number {
    const at = this.take(4)
    return at < 0 ? 0 : this.#view.getInt32(at, true)
  }

  u64(): bigint {
    const at = this.take(8)
    return at < 0 ? 0n : this.#view.getBigUint64(at, true)
  }

  i64(): bigint {
    const at = this.take(8)
    return at < 0 ? 0n : this.#view.getBigInt64(at, true)
  }

  bytes(size: number): Uint8Array {
    const at = this.take(size)
    return at < 0 ? new Uint8Array(size) : this.#bytes.subarray(at, at + size)
  }
}

/** Collects consecutive little-endian values; the inverse of ByteReader. */
export class ByteWriter {
  readonly #parts: number[] = []

  bytes(bytes: Uint8Array): void {
    for (const byte of bytes) this.#parts.push(byte)
  }

  uint(value: bigint, size: number): void {
    let rest = BigInt.asUintN(size * 8, value)
    for (let i = 0; i < size; i++) {
      this.#parts.push(Number(rest & 255n))
      rest >>= 8n
    }
  }

  finish(): Uint8Array {
    return Uint8Array.from(this.#parts)
  }
}

/** Reads and writes one type in Borsh form; integers are little-endian. */
export interface Codec<T> {
  /** Name of the type for property tests and documents: `u64`, `pubkey`, `vec<…>`. */
  readonly type: string
  read(reader: ByteReader): T
  write(writer: ByteWriter, value: T): void
}

function uint(size: 1 | 2 | 4, read: (reader: ByteReader) => number): Codec<number> {
  return { type: `u${size * 8}`, read, write: (writer, value) => writer.uint(BigInt(value), size) }
}

export const u8 = uint(1, (reader) => reader.u8())
export const u16 = uint(2, (reader) => reader.u16())
export const u32 = uint(4, (reader) => reader.u32())

export const i16: Codec<number> = {
  type: 'i16',
  read: (reader) => reader.i16(),
  write: (writer, value) => writer.uint(BigInt(value), 2)
}

export const i32: Codec<number> = {
  type: 'i32',
  read: (reader) => reader.i32(),
  write: (writer, value) => writer.uint(BigInt(value), 4)
}

export const u64: Codec<bigint> = {
  type: 'u64',
  read: (reader) => reader.u64(),
  write: (writer, value) => writer.uint(value, 8)
}

export const i64: Codec<bigint> = {
  type: 'i64',
  read: (reader) => reader.i64(),
  write: (writer, value) => writer.uint(value, 8)
}

export const u128: Codec<bigint> = {
  type: 'u128',
  read: (reader) => reader.u64() | (reader.u64() << 64n),
  write: (writer, value) => writer.uint(value, 16)
}

export const i128: Codec<bigint> = {
  type: 'i128',
  read: (reader) => reader.u64() | (reader.i64() << 64n),
  write: (writer, value) => writer.uint(value, 16)
}

export const bool: Codec<boolean> = {
  type: 'bool',
  read: (reader) => reader.u8() !== 0,
  write: (writer, value) => writer.uint(value ? 1n : 0n, 1)
}

export const pubkey: Codec<Pubkey> = {
  type: 'pubkey',
  read: (reader) => reader.bytes(32),
  write: (writer, value) => writer.bytes(value)
}

const utf8 = new TextDecoder()
const utf8Encoder = new TextEncoder()

/** A u32 byte length, then UTF-8. Invalid bytes read as U+FFFD. */
export const string: Codec<string> = {
  type: 'string',
  read(reader) {
    const size = reader.u32()
    if (size > reader.left) {
      reader.short = true
      return ''
    }
    return utf8.decode(reader.bytes(size))
  },
  write(writer, value) {
    const bytes = utf8Encoder.encode(value)
    writer.uint(BigInt(bytes.length), 4)
    writer.bytes(bytes)
  }
}

/** One byte, 0 for null or 1 followed by the value. */
export function option<T>(codec: Codec<T>): Codec<T | null> {
  return {
    type: `option<${codec.type}>`,
    read: (reader) => (reader.u8() === 0 ? null : codec.read(reader)),
    write(writer, value) {
      writer.uint(value === null ? 0n : 1n, 1)
      if (value !== null) codec.write(writer, value)
    }
  }
}

/** A u32 count, then the items. A count that exceeds the remaining bytes sets `short`. */
export function vec<T>(codec: Codec<T>): Codec<T[]> {
  return {
    type: `vec<${codec.type}>`,
    read(reader) {
      const count = reader.u32()
      const items: T[] = []
      if (count > reader.left) reader.short = true
      for (let i = 0; i < count && !reader.short; i++) items.push(codec.read(reader))
      return items
    },
    write(writer, value) {
      writer.uint(BigInt(value.length), 4)
      for (const item of value) codec.write(writer, item)
    }
  }
}

/** A fixed number of items without a count. */
export function array<T>(codec: Codec<T>, size: number): Codec<T[]> {
  return {
    type: `array<${codec.type}, ${size}>`,
    read: (reader) => Array.from({ length: size }, () => codec.read(reader)),
    write(writer, value) {
      for (const item of value) codec.write(writer, item)
    }
  }
}

export type Fields = Readonly<Record<string, Codec<unknown>>>
export type Values<F extends Fields> = { -readonly [K in keyof F]: F[K] extends Codec<infer T> ? T : never }

/** Fields in the order of their declaration, without padding or length. */
export function struct<F extends Fields>(fields: F): Codec<Values<F>> {
  const entries = Object.entries(fields)
  return {
    type: `struct<${entries.map(([name, codec]) => `${name}: ${codec.type}`).join(', ')}>`,
    read(reader) {
      const value: Record<string, unknown> = {}
      for (const [name, codec] of entries) value[name] = codec.read(reader)
      return value as Values<F>
    },
    write(writer, value) {
      for (const [name, codec] of entries) codec.write(writer, value[name])
    }
  }
}

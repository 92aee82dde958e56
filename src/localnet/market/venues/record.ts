import type { Pubkey } from '../../../chain/pubkey.ts'

/**
 * Bytes of instructions, events and accounts, written from field lists as programs publish them:
 * `pool:pubkey amountIn:u64 transferFee?:u64 activationPoint:option<u64> padding?:u8[90] liquidity:u128@360`.
 * Integers are little-endian, `string` and `vec` begin with a u32 length, `option` with a tag byte. A field marked `?`
 * is optional and defaults to zero, empty or null; `@` gives its offset. The decoder has its own layouts: tests compare
 * both, so that an error in either shows.
 */

/** Maximum data size that the runtime passes to a program; a longer record is a RangeError. */
const LIMIT_BYTES = 10_240

interface Scalars {
  readonly u8: number
  readonly u16: number
  readonly u32: number
  readonly i32: number
  readonly u64: bigint
  readonly i64: bigint
  readonly u128: bigint
  readonly i128: bigint
  readonly bool: boolean
  readonly pubkey: Pubkey
  readonly string: string
  /** Raw bytes, such as another record. */
  readonly bytes: Uint8Array
}

type Value<T extends string> = T extends keyof Scalars
  ? Scalars[T]
  : T extends `option<${infer Inner}>`
    ? Value<Inner> | null
    : T extends `vec<${infer Inner}>` | `${infer Inner}[${number}]`
      ? readonly Value<Inner>[]
      : never

/** The words of a text, separated by spaces and newlines. */
export type Words<S extends string> = S extends `${infer Line}\n${infer Rest}`
  ? WordsOfLine<Line> | Words<Rest>
  : WordsOfLine<S>
type WordsOfLine<S extends string, Found = never> = S extends `${infer Word} ${infer Rest}`
  ? WordsOfLine<Rest, Found | Word>
  : Exclude<Found | S, ''>

type Needed<W> = W extends `${string}?:${string}` ? never : W extends `${infer Name}:${string}` ? Name : never
type Optional<W> = W extends `${infer Name}?:${string}` ? Name : never
type ValueIn<W> = W extends `${string}:${infer Type}@${number}`
  ? Value<Type>
  : W extends `${string}:${infer Type}`
    ? Value<Type>
    : never

/** The values of a field list, by name. */
export type Values<F extends string> = {
  readonly [W in Words<F> as Needed<W>]: ValueIn<W>
} & {
  readonly [W in Words<F> as Optional<W>]?: ValueIn<W>
}

/** Writes a discriminator and the fields after it. */
export type RecordWriter<F extends string> = (values: Values<F>) => Uint8Array

type Writes = (value: unknown) => void

/** Builds the writer of a record from its discriminator, in hexadecimal, and its fields. */
export function record<const F extends string>(discriminatorHex: string, fields: F): RecordWriter<F> {
  const discriminator = Uint8Array.fromHex(discriminatorHex)
  const writers = wordsOf(fields).map(readField)
  return (values) => {
    out.begin(discriminator)
    for (const write of writers) write(values)
    return out.finish()
  }
}

/** Builds the writer of an account of a fixed size; bytes without a field are zero. */
export function account<const F extends string>(
  sizeBytes: number,
  discriminatorHex: string,
  fields: F
): RecordWriter<F> {
  const write = record(discriminatorHex, fields)
  return (values) => {
    out.clear(sizeBytes)
    write(values)
    return out.finish(sizeBytes)
  }
}

/** Splits a table at spaces and newlines. */
export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function readField(word: string): (values: object) => void {
  const [, name, type, offset] = /^(\w+)\??:([^@]+)(?:@(\d+))?$/.exec(word) ?? []
  if (name === undefined || type === undefined) throw new Error(`no field: ${word}`)
  const write = writerOf(type)
  return (values) => {
    if (offset !== undefined) out.seek(Number(offset))
    write((values as Readonly<Record<string, unknown>>)[name])
  }
}

/** A buffer in which a record is written before its length is known. */
class Scratch {
  readonly #bytes = new Uint8Array(LIMIT_BYTES)
  readonly #view = new DataView(this.#bytes.buffer)
  #at = 0

  begin(discriminator: Uint8Array): void {
    this.#at = 0
    this.bytes(discriminator)
  }

  /** Sets the first bytes to zero, before a record is written over them at offsets. */
  clear(size: number): void {
    this.#bytes.fill(0, 0, size)
  }

  seek(offset: number): void {
    this.#at = offset
  }

  finish(size = this.#at): Uint8Array {
    if (this.#at > size) throw new RangeError(`fields end at ${this.#at} in an account of ${size} bytes`)
    return this.#bytes.slice(0, size)
  }

  bytes(value: Uint8Array): void {
    this.#bytes.set(value, this.#at)
    this.#at += value.length
  }

  zeros(size: number): void {
    this.bytes(new Uint8Array(size))
  }

  u8(value: number): void {
    this.#view.setUint8(this.#at, value)
    this.#at += 1
  }

  u16(value: number): void {
    this.#view.setUint16(this.#at, value, true)
    this.#at += 2
  }

  u32(value: number): void {
    this.#view.setUint32(this.#at, value, true)
    this.#at += 4
  }

  u64(value: bigint): void {
    this.#view.setBigUint64(this.#at, value, true)
    this.#at += 8
  }

  u128(value: bigint): void {
    this.u64(value)
    this.u64(value >> 64n)
  }
}

const out = new Scratch()
const utf8 = new TextEncoder()
const NOTHING = new Uint8Array()

/** Writers by type; `undefined` becomes zero, empty or null. */
const SCALARS: { readonly [T in keyof Scalars]: (value: Scalars[T] | undefined) => void } = {
  u8: (value = 0) => out.u8(value),
  u16: (value = 0) => out.u16(value),
  u32: (value = 0) => out.u32(value),
  i32: (value = 0) => out.u32(value),
  u64: (value = 0n) => out.u64(value),
  i64: (value = 0n) => out.u64(value),
  u128: (value = 0n) => out.u128(value),
  i128: (value = 0n) => out.u128(value),
  bool: (value = false) => out.u8(value ? 1 : 0),
  pubkey: (value) => (value === undefined ? out.zeros(32) : out.bytes(value)),
  string(value = '') {
    const bytes = utf8.encode(value)
    out.u32(bytes.length)
    out.bytes(bytes)
  },
  bytes: (value = NOTHING) => out.bytes(value)
}

function writerOf(type: string): Writes {
  const scalar = (SCALARS as unknown as Readonly<Record<string, Writes>>)[type]
  if (scalar !== undefined) return scalar
  const [, wrapper, inner, item, length] = /^(?:(option|vec)<(.+)>|(.+)\[(\d+)\])$/.exec(type) ?? []
  if (item !== undefined) {
    const write = writerOf(item)
    const none = Array.from({ length: Number(length) }, () => undefined)
    return (values = none) => {
      const items = values as readonly unknown[]
      if (items.length !== none.length) throw new RangeError(`${items.length} items for ${type}`)
      items.forEach(write)
    }
  }
  if (inner === undefined) throw new Error(`no field has the type ${type}`)
  const write = writerOf(inner)
  return wrapper === 'option'
    ? (value = null) => {
        out.u8(value === null ? 0 : 1)
        if (value !== null) write(value)
      }
    : (value = []) => {
        const items = value as readonly unknown[]
        out.u32(items.length)
        items.forEach(write)
      }
}

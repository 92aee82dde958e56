import { ByteReader, ByteWriter, type Fields, type Values } from './codec.ts'

/**
 * Binary layouts as data. A layout is a name, a discriminator and fields in Borsh order. Fields that a program appended
 * over the years are groups, each wholly present or absent. A body that ends before a group comes from an older
 * program; a body that continues after the last group comes from a newer program and is read with `drift`.
 */

export interface Reading<T> {
  readonly value: T
  /** Number of bytes after the newest known field, written by a newer program. */
  readonly drift: number
}

export interface Layout<T> {
  readonly name: string
  readonly discriminator: Uint8Array
  readonly fields: Fields
  readonly appended: readonly Fields[]
  /** Reads the body after the discriminator; null if it is shorter than the oldest known version. */
  read(bytes: Uint8Array, offset: number): Reading<T> | null
  /** Writes discriminator and body. Appended groups are written up to the first that lacks a field. */
  write(value: T): Uint8Array
}

type Appended<G extends readonly Fields[]> = G extends readonly [
  infer F extends Fields,
  ...infer R extends readonly Fields[]
]
  ? Partial<Values<F>> & Appended<R>
  : unknown

/** Builds a layout from the fields that are always present and the groups that later versions appended, in order. */
export function layout<F extends Fields, G extends readonly Fields[]>(
  name: string,
  discriminatorHex: string,
  base: F,
  ...appended: G
): Layout<Values<F> & Appended<G>> {
  const discriminator = Uint8Array.fromHex(discriminatorHex)
  const baseEntries = Object.entries(base)
  const appendedEntries = appended.map((group) => Object.entries(group))
  return {
    name,
    discriminator,
    fields: base,
    appended,
    read(bytes, offset) {
      const reader = new ByteReader(bytes, offset)
      const value: Record<string, unknown> = {}
      // By index: an iterator's pairs are a third of the garbage of a reading.
      for (let at = 0; at < baseEntries.length; at++) {
        const entry = baseEntries[at]!
        value[entry[0]] = entry[1].read(reader)
      }
      if (reader.short) return null
      for (const group of appendedEntries) {
        if (reader.left === 0) break
        const start = reader.offset
        const part: Record<string, unknown> = {}
        for (const [key, codec] of group) part[key] = codec.read(reader)
        if (reader.short) {
          reader.offset = start
          reader.short = false
          break
        }
        Object.assign(value, part)
      }
      return { value: value as Values<F> & Appended<G>, drift: reader.left }
    },
    write(value) {
      const writer = new ByteWriter()
      const fields = value as Record<string, unknown>
      writer.bytes(discriminator)
      for (const [key, codec] of baseEntries) codec.write(writer, fields[key])
      for (const group of appendedEntries) {
        if (group.some(([key]) => fields[key] === undefined)) break
        for (const [key, codec] of group) codec.write(writer, fields[key])
      }
      return writer.finish()
    }
  }
}

/**
 * Names of an instruction's accounts, with their positions. Versions with different lists are distinguished by
 * length.
 */
export type AccountPositions = Readonly<Record<string, number>>

export interface InstructionLayout<
  T = unknown,
  A extends AccountPositions = AccountPositions
> extends Layout<T> {
  /** Returns the positions for a list of `count` accounts; null if no known version has such a list. */
  accounts(count: number): A | null
}

/** Builds an instruction's layout. Accounts have fixed positions, or a function chooses them by the list's length. */
export function instruction<F extends Fields, A extends AccountPositions>(
  name: string,
  discriminatorHex: string,
  args: F,
  accounts: A | ((count: number) => A | null),
  ...appended: Fields[]
): InstructionLayout<Values<F>, A> {
  const body = layout(name, discriminatorHex, args, ...appended)
  if (typeof accounts === 'function') return { ...body, accounts }
  const needed = Math.max(-1, ...Object.values(accounts)) + 1
  return { ...body, accounts: (count) => (count < needed ? null : accounts) }
}

/** Finds a layout by the discriminator at the start of some bytes. */
export class LayoutTable<L extends { readonly discriminator: Uint8Array }> {
  readonly entries: readonly L[]
  readonly #byPrefix = new Map<number, L[]>()

  constructor(layouts: readonly L[]) {
    this.entries = layouts
    for (const entry of layouts) {
      const prefix = prefixOf(entry.discriminator, 0, entry.discriminator.length)
      const bucket = this.#byPrefix.get(prefix)
      if (bucket === undefined) this.#byPrefix.set(prefix, [entry])
      else bucket.push(entry)
    }
  }

  find(bytes: Uint8Array, offset = 0): L | undefined {
    const size = bytes.length - offset
    const bucket =
      (size >= 4 ? this.#byPrefix.get(prefixOf(bytes, offset, size)) : undefined) ??
      this.#byPrefix.get(prefixOf(bytes, offset, Math.min(size, 1)))
    if (bucket === undefined) return undefined
    for (const entry of bucket) if (startsWith(bytes, offset, entry.discriminator)) return entry
    return undefined
  }
}

/**
 * Returns a discriminator's first byte, or its first four bytes if it has four. Negative results keep the two apart.
 */
function prefixOf(bytes: Uint8Array, offset: number, size: number): number {
  if (size < 4) return size === 0 ? -1 : bytes[offset]! - 1000
  return (
    (bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24)) >>>
    0
  )
}

function startsWith(bytes: Uint8Array, offset: number, prefix: Uint8Array): boolean {
  if (bytes.length - offset < prefix.length) return false
  for (let i = 0; i < prefix.length; i++) if (bytes[offset + i] !== prefix[i]) return false
  return true
}

import { ServiceError } from '../../src/kernel/errors.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { DamagedKeys } from './damaged-keys.ts'
import { EngineReads } from './engine-reads.ts'
import type { Level } from './level.ts'
import { cachedFactText } from './cached-fact.ts'
import type { CachedFact } from './cached-fact.ts'
import { keyAfter, keyText } from '../codec/keys.ts'
import type { Key, KeyRange } from '../codec/keys.ts'
import { Packed } from './packed.ts'
import type { RecordCache } from './record-cache.ts'
import { contentsOf, decoded, unpackRecord } from '../codec/record.ts'
import type { RecordKind } from '../codec/record.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** Decodes the contents of a record. */
type Decode<T> = (contents: Uint8Array) => T

export interface ScanOptions {
  readonly reverse?: boolean
  /** Number of records that the reader is likely to take. */
  readonly expected: number
  /** Whether records that are read are cached. */
  readonly keep?: boolean
}

/**
 * The store as it was after one commit. A view that is no longer the newest answers from its snapshot, and does not use the
 * cached values, because those are newer.
 */
export class View {
  readonly head: SlotRow | null
  readonly #engine: EngineReads
  readonly #hot: RecordCache
  readonly #damaged: DamagedKeys
  #readers = 0
  #retired = false

  constructor(level: Level, hot: RecordCache, damaged: DamagedKeys, head: SlotRow | null) {
    this.#engine = new EngineReads(level, damaged)
    this.#hot = hot
    this.#damaged = damaged
    this.head = head
  }

  get newest(): boolean {
    return !this.#retired
  }

  hold(): void {
    this.#readers++
  }

  release(): void {
    this.#readers--
    this.#closeWhenUnused()
  }

  /** A newer view has taken over; the snapshot ends with its last reader. */
  retire(): void {
    this.#retired = true
    this.#closeWhenUnused()
  }

  /** A value that is in memory; null if the key is known to be absent, undefined if nothing is known. */
  hot<T>(kind: RecordKind<T>, key: Key): T | null | undefined {
    if (!this.newest) return undefined
    const known = this.#hot.get(keyText(key))
    if (known instanceof Packed) return this.#cachedDecoded(kind, key, known)
    return known as T | null | undefined
  }

  /** Reads a fact from memory; undefined if it is not cached. */
  recall<T>(fact: CachedFact<T>, key: Key): T | undefined {
    return this.newest ? (this.#hot.get(cachedFactText(fact, key)) as T | undefined) : undefined
  }

  /** Keeps in memory what this view's records have shown for the second time. */
  remember<T>(fact: CachedFact<T>, key: Key, value: T): void {
    const text = cachedFactText(fact, key)
    if (this.#admits(text)) this.#hot.set(text, value, fact.weigh(value))
  }

  /** The value of a key, or null. A value that is not cached is read synchronously. */
  get<T>(kind: RecordKind<T>, key: Key): T | null {
    const known = this.hot(kind, key)
    return known === undefined ? this.#found(kind, key, this.#engine.get(kind, key)) : known
  }

  /** Tells whether the value of a key, or its absence, is in memory. */
  isCached(key: Key): boolean {
    return this.newest && this.#hot.get(keyText(key)) !== undefined
  }

  /**
   * The value of a key, as `get`, for pages: most are read once or twice, so they are cached as bytes until they are read often
   * (`Packed`). One that is not cached decoded is read by `decode`, which may leave sections of it empty.
   */
  getPage<T>(kind: RecordKind<T>, key: Key, decode?: Decode<T>): T | null {
    const known = this.#cachedPage(kind, key, decode)
    return known === undefined ? this.storedPage(kind, key, decode) : known
  }

  /** The value of a key, as `getPage`, but read from the engine even if it is cached: for pages that memory hardly has. */
  storedPage<T>(kind: RecordKind<T>, key: Key, decode?: Decode<T>): T | null {
    return this.#readPage(kind, key, this.#engine.get(kind, key), decode)
  }

  /** Pages of a range, the last one first, read as they are taken. Each is cached and decoded as `getPage` does. */
  async *pagesBack<T>(
    kind: RecordKind<T>,
    range: KeyRange,
    expected: number,
    decode?: Decode<T>
  ): AsyncGenerator<[Key, T], void> {
    for await (const entries of this.#engine.entries(kind, range, true, expected))
      for (const [key, bytes] of entries)
        yield [key, this.#cachedPage(kind, key, decode) ?? this.#readPage(kind, key, bytes, decode)!]
  }

  /**
   * The contents of a record's bytes, or its value if that is in memory, or null. A value that was not cached is then cached
   * as bytes: for readers that decode it each time, and only the fields that they need.
   */
  contents<T>(kind: RecordKind<T>, key: Key): Uint8Array | { readonly value: T } | null {
    const text = keyText(key)
    const known = this.newest ? this.#hot.get(text) : undefined
    if (known instanceof Packed) return contentsOf(kind, key, known.bytes())
    if (known !== undefined) return known === null ? null : { value: known as T }
    const bytes = this.#engine.get(kind, key)
    const contents = bytes === undefined ? null : this.#contentsOf(kind, key, bytes)
    this.#keepBytes(text, bytes)
    return contents
  }

  /**
   * The contents of a record's bytes in the engine, or null. Neither looks in memory nor caches: for records that are read once, and
   * only some of their fields.
   */
  stored<T>(kind: RecordKind<T>, key: Key): Uint8Array | null {
    const bytes = this.#engine.get(kind, key)
    return bytes === undefined ? null : this.#contentsOf(kind, key, bytes)
  }

  /** The values of the keys, in their order, at once if all are cached; without `keep` no further ones are cached. */
  getMany<T>(kind: RecordKind<T>, keys: readonly Key[], keep = true): MaybePromise<(T | null)[]> {
    const values = keys.map((key) => this.hot(kind, key))
    const isHere = (value: T | null | undefined): value is T | null => value !== undefined
    return values.every(isHere) ? values : this.#readMany(kind, keys, values, keep)
  }

  /** Records of a range in key order, read as they are taken. */
  async *scan<T>(kind: RecordKind<T>, range: KeyRange, options: ScanOptions): AsyncGenerator<[Key, T], void> {
    const { reverse = false, expected, keep = false } = options
    for await (const entries of this.#engine.entries(kind, range, reverse, expected))
      for (const [key, bytes] of entries)
        yield [key, this.hot(kind, key) ?? this.#found(kind, key, bytes, keep)!]
  }

  /** The first record of a range, or the last one with `reverse`; null for an empty range. */
  async first<T>(kind: RecordKind<T>, range: KeyRange, reverse = false): Promise<[Key, T] | null> {
    for await (const entry of this.scan(kind, range, { reverse, expected: 1 })) return entry
    return null
  }

  /** The range without its first `count` keys, or with `reverse` its last; null if it has no more. No value is read. */
  async without(range: KeyRange, count: number, reverse: boolean): Promise<KeyRange | null> {
    if (count === 0) return range
    const skipped = await this.#engine.keys(range, { reverse, limit: count })
    const last = skipped.at(-1)
    if (last === undefined || skipped.length < count) return null
    return reverse ? { gte: range.gte, lt: last } : { gte: keyAfter(last), lt: range.lt }
  }

  /** The last key of a range; null for an empty range. */
  async lastKey(range: KeyRange): Promise<Key | null> {
    const [key] = await this.#engine.keys(range, { reverse: true, limit: 1 })
    return key ?? null
  }

  /** The last keys of a range, the last one first. */
  lastKeys(range: KeyRange, limit: number): Promise<Key[]> {
    return this.#engine.keys(range, { reverse: true, limit })
  }

  /** The keys of a range: all of one that is known to be short, or the first `limit`. */
  keys(range: KeyRange, limit = -1): Promise<Key[]> {
    return this.#engine.keys(range, { reverse: false, limit })
  }

  /** Checks the bytes of a key. If they are not its record, that counts as damage from then on. */
  #contentsOf<T>(kind: RecordKind<T>, key: Key, bytes: Uint8Array): Uint8Array {
    try {
      return contentsOf(kind, key, bytes)
    } catch (error) {
      throw this.#counted(error)
    }
  }

  /** Decodes the bytes of a key. If they are not its record, that counts as damage from then on. */
  #unpacked<T>(kind: RecordKind<T>, key: Key, bytes: Uint8Array, decode?: Decode<T>): T {
    try {
      if (decode === undefined) return unpackRecord(kind, key, bytes)
      const contents = contentsOf(kind, key, bytes)
      return decoded(kind, key, () => decode(contents))
    } catch (error) {
      throw this.#counted(error)
    }
  }

  /** Counts the damage that an error of decoding tells of. Returns the error. */
  #counted(error: unknown): unknown {
    if (error instanceof ServiceError) this.#damaged.meet(error.detail)
    return error
  }

  /** A page that is cached; null if its key is known to be absent, undefined if nothing is known. */
  #cachedPage<T>(kind: RecordKind<T>, key: Key, decode?: Decode<T>): T | null | undefined {
    const known = this.newest ? this.#hot.get(keyText(key)) : undefined
    if (!(known instanceof Packed)) return known as T | null | undefined
    if (known.isReadOften()) return this.#cachedDecoded(kind, key, known)
    return this.#unpacked(kind, key, known.bytes(), decode)
  }

  /** Decodes a page that the engine has, and caches its bytes; undefined if it has none. */
  #readPage<T>(kind: RecordKind<T>, key: Key, bytes: Uint8Array | undefined, decode?: Decode<T>): T | null {
    const value = bytes === undefined ? null : this.#unpacked(kind, key, bytes, decode)
    this.#keepBytes(keyText(key), bytes)
    return value
  }

  /** Caches the bytes that the engine has of a key; undefined if it has none. */
  #keepBytes(text: string, bytes: Uint8Array | undefined): void {
    if (!this.#admits(text)) return
    if (bytes === undefined) this.#hot.set(text, null, 0)
    else this.#hot.set(text, new Packed(bytes), bytes.length)
  }

  /** Reads the values that were not cached. */
  async #readMany<T>(
    kind: RecordKind<T>,
    keys: readonly Key[],
    values: readonly (T | null | undefined)[],
    keep: boolean
  ): Promise<(T | null)[]> {
    const cold = keys.filter((_, i) => values[i] === undefined)
    const read = await this.#engine.getMany(kind, cold)
    let next = 0
    return values.map((known) => {
      if (known !== undefined) return known
      const i = next++
      return this.#found(kind, cold[i]!, read[i], keep)
    })
  }

  #found<T>(kind: RecordKind<T>, key: Key, bytes: Uint8Array | undefined, keep = true): T | null {
    const value = bytes === undefined ? null : this.#unpacked(kind, key, bytes)
    if (keep) {
      const text = keyText(key)
      if (this.#admits(text)) this.#hot.set(text, value, value === null ? 0 : kind.weigh(value))
    }
    return value
  }

  /** The value of cached bytes, which it replaces. */
  #cachedDecoded<T>(kind: RecordKind<T>, key: Key, packed: Packed): T {
    const value = this.#unpacked(kind, key, packed.bytes())
    this.#hot.set(keyText(key), value, kind.weigh(value))
    return value
  }

  /** Counts a read from the engine. Returns whether its value is to be cached: an earlier view's is outdated. */
  #admits(text: string): boolean {
    return this.newest && this.#hot.admits(text)
  }

  #closeWhenUnused(): void {
    if (this.#retired && this.#readers === 0) this.#engine.close()
  }
}

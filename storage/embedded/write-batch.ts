import type { RecordCache } from './record-cache.ts'
import type { Level } from './level.ts'
import { cachedFactText } from './cached-fact.ts'
import type { CachedFact } from './cached-fact.ts'
import { keyText } from '../codec/keys.ts'
import type { Key } from '../codec/keys.ts'
import { Packed } from './packed.ts'
import { packRecord } from '../codec/record.ts'
import type { RecordKind } from '../codec/record.ts'

/** Records to be written together, as bytes for the engine and as values for memory. */
export class WriteBatch {
  readonly #engine: ReturnType<Level['batch']>
  /** Values for memory, in order; undefined stands for no value. */
  readonly #values: { readonly text: string; readonly value: unknown; readonly bytes: number }[] = []

  constructor(level: Level) {
    this.#engine = level.batch()
  }

  /** Writes a caller's value. Memory keeps its bytes until it is read often, so that it holds no buffer of a block. */
  put<T>(kind: RecordKind<T>, key: Key, value: T): void {
    const packed = new Packed(this.#write(kind, key, value))
    this.#hold(key, packed, packed.length)
  }

  /** A value of our own, which is cached as it is or as `cached`. */
  putOwned<T>(kind: RecordKind<T>, key: Key, value: T, cached: T = value): void {
    this.#write(kind, key, value)
    this.#hold(key, cached, kind.weigh(cached))
  }

  /** Writes without caching the value, and evicts any cached one. For values that are not read by key in the near future. */
  putUncached<T>(kind: RecordKind<T>, key: Key, value: T): void {
    this.#write(kind, key, value)
    this.#hold(key, undefined, 0)
  }

  /** Caches a value that is equivalent to an absent key; writes no byte. */
  keep<T>(kind: RecordKind<T>, key: Key, value: T): void {
    this.#hold(key, value, kind.weigh(value))
  }

  delete(key: Key): void {
    this.#engine.del(key)
    this.#hold(key, null, 0)
  }

  /** Deletes a record that is never read again: its absence is not cached. */
  deleteUncached(key: Key): void {
    this.#engine.del(key)
    this.#hold(key, undefined, 0)
  }

  /** Sets the cached fact once the batch is visible, or removes it with undefined; writes no byte. */
  remember<T>(fact: CachedFact<T>, key: Key, value: T | undefined): void {
    const bytes = value === undefined ? 0 : fact.weigh(value)
    this.#values.push({ text: cachedFactText(fact, key), value, bytes })
  }

  /** Resolves once all is on disk; without `sync` once the engine has it, which a crash of the machine may undo. */
  write(sync = true): Promise<void> {
    return this.#engine.write({ sync })
  }

  /** Discards the batch without writing. */
  drop(): Promise<void> {
    return this.#engine.close()
  }

  /** Puts the written values into the cache. */
  warm(hot: RecordCache): void {
    for (const { text, value, bytes } of this.#values) {
      if (value === undefined) hot.delete(text)
      else hot.set(text, value, bytes)
    }
  }

  /** Returns the bytes, which are valid until the next record is packed: the engine has copied them. */
  #write<T>(kind: RecordKind<T>, key: Key, value: T): Uint8Array<ArrayBuffer> {
    const bytes = packRecord(kind, key, value)
    this.#engine.put(key, bytes)
    return bytes
  }

  #hold(key: Key, value: unknown, bytes: number): void {
    this.#values.push({ text: keyText(key), value, bytes })
  }
}

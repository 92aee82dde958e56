import { ServiceError } from '../../src/errors.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { Level } from './database.ts'
import type { HotValues } from './hot-values.ts'
import { keyText } from './keys.ts'
import type { Key, KeyRange } from './keys.ts'
import { unpackRecord } from './record.ts'
import type { RecordKind } from './record.ts'

/** Entries that the engine hands over at a time: bounds the work between two turns of the event loop. */
const SCAN_CHUNK_MAX = 32

export interface ScanOptions {
  readonly reverse?: boolean
  /** How many records the reader is likely to take. */
  readonly expected: number
  /** Whether what is read is kept in memory. */
  readonly keep?: boolean
}

/**
 * The store as it was after one commit. A view that is not the newest any more answers from its snapshot and leaves
 * the values in memory alone, as those have moved on.
 */
export class View {
  readonly head: SlotRow | null
  readonly #level: Level
  readonly #hot: HotValues
  readonly #snapshot: ReturnType<Level['snapshot']>
  #readers = 0
  #retired = false

  constructor(level: Level, hot: HotValues, head: SlotRow | null) {
    this.#level = level
    this.#hot = hot
    this.#snapshot = level.snapshot()
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

  /** A value that is in memory; null when the key is known to be absent, undefined when nothing is known. */
  hot<T>(_kind: RecordKind<T>, key: Key): T | null | undefined {
    return this.newest ? (this.#hot.get(keyText(key)) as T | null | undefined) : undefined
  }

  async get<T>(kind: RecordKind<T>, key: Key): Promise<T | null> {
    const known = this.hot(kind, key)
    if (known !== undefined) return known
    const bytes = await fromEngine(kind, () => this.#level.get(key, { snapshot: this.#snapshot }))
    return this.#found(kind, key, bytes)
  }

  /** The values of the keys, in their order. */
  async getMany<T>(kind: RecordKind<T>, keys: readonly Key[]): Promise<(T | null)[]> {
    const values = keys.map((key) => this.hot(kind, key))
    const cold = keys.filter((_, i) => values[i] === undefined)
    if (cold.length === 0) return values as (T | null)[]
    const read = await fromEngine(kind, () => this.#level.getMany(cold, { snapshot: this.#snapshot }))
    let next = 0
    return values.map((known) => {
      if (known !== undefined) return known
      const i = next++
      return this.#found(kind, cold[i]!, read[i])
    })
  }

  /** Records of a range in key order, read as they are taken. */
  async *scan<T>(kind: RecordKind<T>, range: KeyRange, options: ScanOptions): AsyncGenerator<[Key, T], void> {
    const iterator = this.#level.iterator({
      ...range,
      reverse: options.reverse ?? false,
      snapshot: this.#snapshot
    })
    try {
      const chunk = Math.min(Math.max(options.expected, 1), SCAN_CHUNK_MAX)
      for (;;) {
        const entries = await fromEngine(kind, () => iterator.nextv(chunk))
        if (entries.length === 0) return
        for (const [key, bytes] of entries)
          yield [key, this.hot(kind, key) ?? this.#decoded(kind, key, bytes, options.keep ?? false)]
      }
    } finally {
      await iterator.close()
    }
  }

  /** The last key of a range, null when it is empty. */
  async lastKey(range: KeyRange): Promise<Key | null> {
    for await (const key of this.#level.keys({ ...range, reverse: true, limit: 1, snapshot: this.#snapshot }))
      return key
    return null
  }

  #found<T>(kind: RecordKind<T>, key: Key, bytes: Uint8Array | undefined): T | null {
    if (bytes !== undefined) return this.#decoded(kind, key, bytes, true)
    if (this.newest) this.#hot.set(keyText(key), null, 0)
    return null
  }

  #decoded<T>(kind: RecordKind<T>, key: Key, bytes: Uint8Array, keep: boolean): T {
    const value = unpackRecord(kind, key, bytes)
    if (keep && this.newest) this.#hot.set(keyText(key), value, kind.weigh(value))
    return value
  }

  #closeWhenUnused(): void {
    if (!this.#retired || this.#readers > 0) return
    // A snapshot that cannot be closed ends with the engine.
    this.#snapshot.close().catch(() => undefined)
  }
}

async function fromEngine<T>(kind: { readonly name: string }, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    throw new ServiceError('STORAGE_UNAVAILABLE', `${kind.name} cannot be read`, { cause })
  }
}

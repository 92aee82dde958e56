import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { damageText, type DamagedKeys, type DamagedRange } from './damaged-keys.ts'
import { keyAfter, type Key, type KeyRange } from '../codec/keys.ts'
import type { Level } from './level.ts'

/** Maximum records, and their bytes, that the engine hands over at a time: bound the work in one turn of the event loop. */
const CHUNK_RECORDS_MAX = 1_000
const CHUNK_BYTES_MAX = 128 * 2 ** 10

/** The engine's encodings of `Level`, stated so that it need not copy the options of each read. */
const FORMATS = { keyEncoding: 'buffer', valueEncoding: 'view' } as const

/** The engine's code for a file that makes no sense; its message names the file. */
const CORRUPTION = 'LEVEL_CORRUPTION'

/** The kind of a record, as errors name it. */
interface Named {
  readonly name: string
}

const KEY: Named = { name: 'a key' }

/** The bytes of a stored value. */
export type Bytes = Uint8Array<ArrayBuffer>

/**
 * Reads of the engine at one snapshot. Each throws STORAGE_UNAVAILABLE, naming what was read, if the engine fails or if the keys
 * that it passed are known to be damaged.
 */
export class EngineReads {
  readonly #level: Level
  readonly #damaged: DamagedKeys
  readonly #snapshot: ReturnType<Level['snapshot']>
  readonly #pointRead: typeof FORMATS & { readonly snapshot: ReturnType<Level['snapshot']> }

  constructor(level: Level, damaged: DamagedKeys) {
    this.#level = level
    this.#damaged = damaged
    this.#snapshot = level.snapshot()
    this.#pointRead = { ...FORMATS, snapshot: this.#snapshot }
  }

  /**
   * Returns the value of a key, read synchronously; undefined if it has none. That takes at worst a tenth of a millisecond, if the
   * table is not in the system's page cache. Otherwise it takes a third of the time that a read on the engine's threads costs
   * this thread.
   */
  get(kind: Named, key: Key): Bytes | undefined {
    this.#assertSoundKey(kind, key)
    try {
      return this.#level.getSync<Key, Bytes>(key, this.#pointRead)
    } catch (cause) {
      throw this.#unreadable(kind, cause)
    }
  }

  /** Returns the values of the keys, in their order. */
  getMany(kind: Named, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    for (const key of keys) this.#assertSoundKey(kind, key)
    return this.#from(kind, () => this.#level.getMany([...keys], { snapshot: this.#snapshot }))
  }

  /** Yields the entries of a range in key order, or backwards, in lists of as many as are `expected`, or fewer. */
  async *entries(
    kind: Named,
    range: KeyRange,
    reverse: boolean,
    expected: number
  ): AsyncGenerator<[Key, Uint8Array][], void> {
    const chunk = Math.min(Math.max(expected, 1), CHUNK_RECORDS_MAX)
    const iterator = this.#level.iterator({
      ...range,
      reverse,
      snapshot: this.#snapshot,
      highWaterMarkBytes: CHUNK_BYTES_MAX
    })
    try {
      for (;;) {
        const entries = await this.#from(kind, () => iterator.nextv(chunk))
        this.#assertSound(kind, passed(range, entries.at(-1)?.[0], reverse))
        if (entries.length === 0) return
        yield entries
      }
    } finally {
      await iterator.close()
    }
  }

  /** Returns at most `limit` keys of a range, in key order or backwards; -1 for all. */
  async keys(
    range: KeyRange,
    options: { readonly reverse: boolean; readonly limit: number }
  ): Promise<Key[]> {
    const query = { ...range, ...options, snapshot: this.#snapshot }
    const keys = await this.#from(KEY, () => this.#level.keys(query).all())
    const isCut = keys.length === options.limit
    this.#assertSound(KEY, passed(range, isCut ? keys.at(-1) : undefined, options.reverse))
    return keys
  }

  /** Ends the snapshot. */
  close(): void {
    // A snapshot that cannot be closed ends with the engine.
    this.#snapshot.close().catch(() => undefined)
  }

  async #from<T>(kind: Named, read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (cause) {
      throw this.#unreadable(kind, cause)
    }
  }

  #unreadable(kind: Named, cause: unknown): ServiceError {
    const what = `${kind.name} cannot be read`
    if (cause instanceof Error && 'code' in cause && cause.code === CORRUPTION)
      this.#damaged.meet(`${what}: ${cause.message}`)
    return new ServiceError(ERRORS.STORAGE_UNAVAILABLE, what, { cause })
  }

  #assertSoundKey(kind: Named, key: Key): void {
    const damage = this.#damaged.at(key)
    if (damage !== null) throw damaged(kind, damage)
  }

  #assertSound(kind: Named, range: KeyRange): void {
    const damage = this.#damaged.within(range)
    if (damage !== null) throw damaged(kind, damage)
  }
}

/** The part of a range up to the last key read; the whole range if there was no further key. */
function passed({ gte, lt }: KeyRange, last: Key | undefined, reverse: boolean): KeyRange {
  if (last === undefined) return { gte, lt }
  return reverse ? { gte: last, lt } : { gte, lt: keyAfter(last) }
}

/** Returns the error of a read of damaged keys. */
function damaged(kind: Named, range: DamagedRange): ServiceError {
  const what = `${kind.name} cannot be read: ${damageText(range)}`
  return new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    `${what}; stop the service and run \`npx millrace repair\``
  )
}

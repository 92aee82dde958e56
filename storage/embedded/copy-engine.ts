import { rm } from 'node:fs/promises'
import { ClassicLevel } from 'classic-level'
import { ServiceError } from '../../src/kernel/errors.ts'
import type { Key } from '../codec/keys.ts'
import { ENGINE } from './engine-options.ts'
import { snapshotStore } from './engine-files/snapshot.ts'
import { forgetTrustedFiles, writeTrustedFiles } from './engine-files/trusted-files.ts'
import type { Level } from './level.ts'
import { checkBeforeOpening } from './opening-check.ts'
import { isOpenElsewhere, unopened } from './unopened.ts'

/** Entries that the engine hands over at a time: bounds the work in one turn of the event loop. */
export const CHUNK_ENTRIES = 1_000
export const CHUNK_BYTES = 256 * 2 ** 10
/** Half of what the store of blocks has: writes come a slot at a time. */
const WRITE_BUFFER_BYTES = 16 * 2 ** 20

export type Entry = readonly [Key, Uint8Array]
export type Write = { type: 'put'; key: Key; value: Buffer } | { type: 'del'; key: Key }

/**
 * A second engine for copies of the chain's accounts. Its writes neither wait for a block nor delay one. It is opened by the
 * first use. If it is damaged it is emptied, and filled again from a node.
 */
export class CopyEngine {
  readonly #directory: string
  readonly #isSnapshot: boolean
  /** Its content, in words for the operator. */
  readonly #what: string
  #opening: Promise<Level> | null = null
  #isClosed = false

  /** With `isSnapshot`, a database that another process has open is read from a snapshot beside it. */
  constructor(
    directory: string,
    what: string,
    { isSnapshot = false }: { readonly isSnapshot?: boolean } = {}
  ) {
    this.#directory = directory
    this.#isSnapshot = isSnapshot
    this.#what = what
  }

  /** Runs a use of the engine. Rejects with STORAGE_UNAVAILABLE. */
  async use<T>(run: (level: Level) => Promise<T>): Promise<T> {
    const level = await this.open()
    try {
      return await run(level)
    } catch (cause) {
      throw this.#failure(cause)
    }
  }

  /** Yields what a use of the engine yields. Rejects with STORAGE_UNAVAILABLE. */
  async *useEach<T>(run: (level: Level) => AsyncGenerator<T, void>): AsyncGenerator<T, void> {
    const level = await this.open()
    try {
      yield* run(level)
    } catch (cause) {
      throw this.#failure(cause)
    }
  }

  /** Writes all or nothing, in order. */
  async write(operations: Iterable<Write>, sync = true): Promise<void> {
    await this.use(async (level) => {
      // The engine looks up the fields of each operation in a list by name.
      const batch = level.batch()
      for (const operation of operations)
        if (operation.type === 'put') batch.put(operation.key, operation.value)
        else batch.del(operation.key)
      await batch.write({ sync })
    })
  }

  /** Deletes keys, all or none. After a crash some may exist again; the owner of a copy deletes surplus keys again. */
  drop(keys: readonly Key[]): Promise<void> {
    return this.write(
      Iterator.from(keys).map((key) => ({ type: 'del', key })),
      false
    )
  }

  /** Deletes a range and frees its disk space. */
  clear(range: { readonly gte: Key; readonly lt: Key }): Promise<void> {
    return this.use(async (level) => {
      await level.clear(range)
      await level.compactRange(range.gte, range.lt)
    })
  }

  /** Estimated bytes in the engine's tables; 0 if this process has not opened it. */
  async bytes(): Promise<number> {
    const level = await this.#opening
    return level === null ? 0 : level.approximateSize(Buffer.alloc(1), Buffer.alloc(128, 255))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const level = await this.#opening?.catch(() => null)
    if (level == null) return
    await level.close()
    if (level.location === this.#directory) await writeTrustedFiles(this.#directory).catch(() => undefined)
    else await rm(level.location, { recursive: true, force: true })
  }

  open(): Promise<Level> {
    if (this.#isClosed) return Promise.reject(this.#closed())
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null
      throw error
    })
    return this.#opening
  }

  async #open(): Promise<Level> {
    try {
      return await opened(this.#directory)
    } catch (error) {
      if (!this.#isSnapshot || !isOpenElsewhere(error)) throw error
    }
    const place = `${this.#directory}.snapshot-${process.pid}`
    if (!(await snapshotStore(this.#directory, place)))
      throw new ServiceError('STORAGE_UNAVAILABLE', `the files in ${this.#directory} change too fast`)
    return opened(place)
  }

  #failure(cause: unknown): ServiceError {
    if (this.#isClosed) return this.#closed()
    return new ServiceError('STORAGE_UNAVAILABLE', `${this.#what} do not answer`, { cause })
  }

  #closed(): ServiceError {
    return new ServiceError('STORAGE_UNAVAILABLE', `${this.#what} are closed`)
  }
}

async function opened(directory: string): Promise<Level> {
  try {
    const isSound = await checkBeforeOpening(directory).then(
      ({ lines }) => lines.length === 0,
      () => false
    )
    // A copy that lacks accounts would show them as closed.
    if (!isSound) await emptied(directory)
    const level: Level = new ClassicLevel(directory, { ...ENGINE, writeBufferSize: WRITE_BUFFER_BYTES })
    await level.open()
    await forgetTrustedFiles(directory)
    return level
  } catch (cause) {
    throw unopened(directory, cause)
  }
}

/** Empties a damaged database, unless another process has it open. */
async function emptied(directory: string): Promise<void> {
  await ClassicLevel.destroy(directory)
  await rm(directory, { recursive: true, force: true })
}

/** Yields the entries of a range in chunks, of about `expected` entries. */
export async function* chunksOf(
  level: Level,
  range: { readonly gte: Key; readonly lt: Key },
  expected: number
): AsyncGenerator<readonly Entry[]> {
  const iterator = level.iterator({ ...range, highWaterMarkBytes: CHUNK_BYTES })
  try {
    for (;;) {
      const entries = await iterator.nextv(Math.min(expected + 1, CHUNK_ENTRIES))
      if (entries.length === 0) return
      yield entries
    }
  } finally {
    await iterator.close()
  }
}

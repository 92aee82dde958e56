import { ClassicLevel } from 'classic-level'
import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { formatRefusal } from '../../src/kernel/format-refusal.ts'
import {
  FACT_LISTS,
  FACTS_FORMAT,
  OLDEST_FACTS_FORMAT,
  type Fact,
  type FactList,
  type FactStore
} from '../port/facts.ts'
import { ARCHIVE_ENGINE } from './engine-options.ts'
import type { Level } from './level.ts'
import { unopened } from './unopened.ts'

/** Facts that the engine hands over at a time: bounds the work in one turn of the event loop. */
const CHUNK_FACTS = 256
const CHUNK_BYTES = 256 * 2 ** 10
const POSITION_BYTES = 8
const HEAD_BYTES = 1 + POSITION_BYTES

/** Opens the facts in a directory, and creates it if it does not exist. One process at a time may have it open. */
export async function openEmbeddedFacts(directory: string): Promise<FactStore> {
  const level: Level = new ClassicLevel(directory, ARCHIVE_ENGINE)
  try {
    await level.open()
    await checkFormat(level)
  } catch (error) {
    await level.close()
    throw unopened(directory, error)
  }
  return new EmbeddedFacts(level)
}

/** Key of the format: above the keys of all lists. Facts of the first version have none, and format 1. */
const FORMAT_KEY = Buffer.from('format')

async function checkFormat(level: Level): Promise<void> {
  const stored = await level.get(FORMAT_KEY)
  const format = stored?.[0] ?? 0
  if (format < FACTS_FORMAT) return level.put(FORMAT_KEY, Buffer.of(FACTS_FORMAT), { sync: true })
  if (format === FACTS_FORMAT) return
  const what = `the store of the archive's facts in ${level.location}`
  throw new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    formatRefusal(what, format, FACTS_FORMAT, OLDEST_FACTS_FORMAT)
  )
}

class EmbeddedFacts implements FactStore {
  readonly #level: Level

  constructor(level: Level) {
    this.#level = level
  }

  async put(list: FactList, facts: readonly Fact[]): Promise<void> {
    const batch = this.#level.batch()
    for (const { position, key, value } of facts) batch.put(keyOf(list, position, key), value)
    await this.#answered(() => batch.write({ sync: true }))
  }

  async at(list: FactList, position: number): Promise<readonly Fact[]> {
    const range = { gte: keyOf(list, position), lt: keyOf(list, position + 1) }
    return this.#answered(async () => {
      const entries = await this.#level.iterator(range).all()
      return entries.map(factOf)
    })
  }

  async *from(list: FactList, position: number): AsyncGenerator<readonly Fact[], void> {
    const range = { gte: keyOf(list, position), lt: Buffer.of(FACT_LISTS[list] + 1) }
    const iterator = this.#level.iterator({ ...range, highWaterMarkBytes: CHUNK_BYTES })
    try {
      for (;;) {
        const entries = await this.#answered(() => iterator.nextv(CHUNK_FACTS))
        if (entries.length === 0) return
        yield entries.map(factOf)
      }
    } finally {
      await iterator.close()
    }
  }

  bytes(): Promise<number> {
    return this.#answered(() => this.#level.approximateSize(Buffer.alloc(1), Buffer.alloc(128, 255)))
  }

  close(): Promise<void> {
    return this.#level.close()
  }

  async #answered<T>(use: () => Promise<T>): Promise<T> {
    try {
      return await use()
    } catch (cause) {
      const { message } =
        (cause as Error).cause instanceof Error ? (cause as { cause: Error }).cause : (cause as Error)
      throw new ServiceError(
        ERRORS.STORAGE_UNAVAILABLE,
        `the facts of the archive in ${this.#level.location} cannot be read or written (${message})`,
        { cause }
      )
    }
  }
}

/** The key of a fact, or without `key` the key before all facts at the position. */
function keyOf(list: FactList, position: number, key: Uint8Array = new Uint8Array()): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + key.length)
  bytes[0] = FACT_LISTS[list]
  bytes.writeBigUInt64BE(BigInt(position), 1)
  bytes.set(key, HEAD_BYTES)
  return bytes
}

const factOf = ([key, value]: readonly [Buffer, Uint8Array]): Fact => ({
  position: Number(key.readBigUInt64BE(1)),
  key: new Uint8Array(key.subarray(HEAD_BYTES)),
  value: new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
})

import { rm } from 'node:fs/promises'
import { ClassicLevel } from 'classic-level'
import { ServiceError } from '../../src/errors.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { Key } from '../codec/keys.ts'
import {
  addressOfVersion,
  afterAddress,
  dataOf,
  isOfAddress,
  packAccount,
  slotOfVersion,
  unpackAccount,
  versionKey,
  versionsOf
} from '../codec/program-account.ts'
import { byWholeAddress } from '../whole-addresses.ts'
import { PAGE_BYTES_MAX } from '../port/program-accounts.ts'
import type {
  AccountsPage,
  AccountsQuery,
  AccountVersion,
  ProgramAccount,
  ProgramAccountStore,
  VersionKey
} from '../port/program-accounts.ts'
import { ENGINE } from './database.ts'
import { snapshotStore } from './engine-files/snapshot.ts'
import { forgetTrustedFiles, writeTrustedFiles } from './engine-files/trusted-files.ts'
import type { Level } from './level.ts'
import { checkBeforeOpening } from './opening-check.ts'
import { isOpenElsewhere, unopened } from './unopened.ts'

/** Versions that the engine hands over at a time: bounds the work between two turns of the event loop. */
const CHUNK_VERSIONS = 1_000
const CHUNK_BYTES = 256 * 2 ** 10
/** Half of what the store of blocks has: writes come a slot at a time. */
const WRITE_BUFFER_BYTES = 16 * 2 ** 20

/**
 * The mirrored accounts in an engine of their own, beside the store: their writes wait for no block and delay none. It is
 * opened by the first use. Its content is a copy of the chain's: where it is damaged it is emptied, and filled again from a node.
 */
export class ProgramAccountDatabase implements ProgramAccountStore {
  readonly #directory: string
  readonly #isSnapshot: boolean
  #opening: Promise<Level> | null = null
  #isClosed = false

  /** With `isSnapshot`, a database that another process has open is read from a snapshot beside it. */
  constructor(directory: string, { isSnapshot = false }: { readonly isSnapshot?: boolean } = {}) {
    this.#directory = directory
    this.#isSnapshot = isSnapshot
  }

  async put(program: Pubkey, versions: readonly AccountVersion[]): Promise<void> {
    await this.#write(
      versions.map(({ address, slot, account }) => ({
        type: 'put' as const,
        key: versionKey(program, address, slot),
        value: packAccount(account)
      }))
    )
  }

  newest(program: Pubkey, addresses: readonly Pubkey[]): Promise<(AccountVersion | null)[]> {
    return this.at(program, Number.MAX_SAFE_INTEGER, addresses)
  }

  async at(program: Pubkey, slot: number, addresses: readonly Pubkey[]): Promise<(AccountVersion | null)[]> {
    const level = await this.#level()
    return this.#reading(async () => {
      const found: (AccountVersion | null)[] = []
      const iterator = level.iterator(versionsOf(program))
      try {
        for (const address of addresses) {
          const key = versionKey(program, address, slot)
          iterator.seek(key)
          const entry = await iterator.next()
          found.push(entry !== undefined && isOfAddress(entry[0], key) ? versionOf(entry) : null)
        }
      } finally {
        await iterator.close()
      }
      return found
    })
  }

  async page(program: Pubkey, query: AccountsQuery): Promise<AccountsPage> {
    const level = await this.#level()
    const { slot, after, limit, examined, matches } = query
    const accounts: AccountsPage['accounts'][number][] = []
    const range = versionsOf(program)
    const gte = after === undefined ? range.gte : afterAddress(program, after)
    return this.#reading(async () => {
      /** The newest key that was looked at. */
      let last: Key | null = null
      /** The key of an account whose version at the slot was found. */
      let done: Key | null = null
      let left = examined
      let bytes = 0
      for await (const entries of chunksOf(level, { gte, lt: range.lt }, Math.min(examined, limit * 2))) {
        for (const [key, value] of entries) {
          const isNext = last === null || !isOfAddress(last, key)
          if (isNext && last !== null && (accounts.length === limit || left <= 0 || bytes >= PAGE_BYTES_MAX))
            return { accounts, next: addressOfVersion(last) }
          last = key
          left--
          if ((done !== null && isOfAddress(done, key)) || slotOfVersion(key) > slot) continue
          done = key
          const data = dataOf(value)
          if (data === null || matches?.(data) === false) continue
          bytes += data.length
          accounts.push(versionOf([key, value]) as (typeof accounts)[number])
        }
      }
      return { accounts, next: null }
    })
  }

  async *versions(program: Pubkey): AsyncGenerator<readonly AccountVersion[]> {
    const level = await this.#level()
    yield* byWholeAddress(chunksOf(level, versionsOf(program), CHUNK_VERSIONS), versionOf)
  }

  async drop(program: Pubkey, versions: readonly VersionKey[]): Promise<void> {
    await this.#write(
      versions.map(({ address, slot }) => ({
        type: 'del' as const,
        key: versionKey(program, address, slot)
      })),
      false
    )
  }

  async clear(program: Pubkey): Promise<void> {
    const level = await this.#level()
    const range = versionsOf(program)
    await this.#reading(async () => {
      await level.clear(range)
      await level.compactRange(range.gte, range.lt)
    })
  }

  /** Estimated bytes in the engine's tables; 0 where this process has not opened it. */
  async bytes(): Promise<number> {
    const level = await this.#opening
    return level === null ? 0 : level.approximateSize(Buffer.alloc(1), Buffer.alloc(33, 255))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const level = await this.#opening?.catch(() => null)
    if (level == null) return
    await level.close()
    if (level.location === this.#directory) await writeTrustedFiles(this.#directory).catch(() => undefined)
    else await rm(level.location, { recursive: true, force: true })
  }

  #level(): Promise<Level> {
    if (this.#isClosed) return Promise.reject(closed())
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

  async #write(
    operations: ({ type: 'put'; key: Key; value: Buffer } | { type: 'del'; key: Key })[],
    sync = true
  ): Promise<void> {
    const level = await this.#level()
    if (operations.length > 0) await this.#reading(() => level.batch(operations, { sync }))
  }

  async #reading<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (cause) {
      if (this.#isClosed) throw closed()
      throw new ServiceError('STORAGE_UNAVAILABLE', 'the account mirror does not answer', { cause })
    }
  }
}

async function opened(directory: string): Promise<Level> {
  try {
    const isSound = await checkBeforeOpening(directory).then(
      ({ lines }) => lines.length === 0,
      () => false
    )
    // A mirror that lacks accounts would show them as closed.
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

type Entry = readonly [Key, Uint8Array]

async function* chunksOf(
  level: Level,
  range: { readonly gte: Key; readonly lt: Key },
  expected: number
): AsyncGenerator<readonly Entry[]> {
  const iterator = level.iterator({ ...range, highWaterMarkBytes: CHUNK_BYTES })
  try {
    for (;;) {
      const entries = await iterator.nextv(Math.min(expected + 1, CHUNK_VERSIONS))
      if (entries.length === 0) return
      yield entries
    }
  } finally {
    await iterator.close()
  }
}

function versionOf([key, value]: Entry): AccountVersion & { readonly account: ProgramAccount | null } {
  return { address: addressOfVersion(key), slot: slotOfVersion(key), account: unpackAccount(value) }
}

const closed = (): ServiceError => new ServiceError('STORAGE_UNAVAILABLE', 'the account mirror is closed')

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
import { CHUNK_ENTRIES, chunksOf, CopyEngine, type Entry } from './copy-engine.ts'

/** The mirrored accounts in an engine of their own, beside the store. */
export class ProgramAccountDatabase implements ProgramAccountStore {
  readonly #engine: CopyEngine

  /** With `isSnapshot`, a database that another process has open is read from a snapshot beside it. */
  constructor(directory: string, options: { readonly isSnapshot?: boolean } = {}) {
    this.#engine = new CopyEngine(directory, 'the mirrored accounts', options)
  }

  async put(program: Pubkey, versions: readonly AccountVersion[]): Promise<void> {
    await this.#engine.write(
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
    return this.#engine.use(async (level) => {
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
    const { slot, after, limit, examined, matches } = query
    const accounts: AccountsPage['accounts'][number][] = []
    const range = versionsOf(program)
    const gte = after === undefined ? range.gte : afterAddress(program, after)
    return this.#engine.use(async (level) => {
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
    const level = await this.#engine.open()
    yield* byWholeAddress(chunksOf(level, versionsOf(program), CHUNK_ENTRIES), versionOf)
  }

  async drop(program: Pubkey, versions: readonly VersionKey[]): Promise<void> {
    await this.#engine.drop(versions.map(({ address, slot }) => versionKey(program, address, slot)))
  }

  async clear(program: Pubkey): Promise<void> {
    await this.#engine.clear(versionsOf(program))
  }

  /** Estimated bytes in the engine's tables; 0 where this process has not opened it. */
  bytes(): Promise<number> {
    return this.#engine.bytes()
  }

  close(): Promise<void> {
    return this.#engine.close()
  }
}

function versionOf([key, value]: Entry): AccountVersion & { readonly account: ProgramAccount | null } {
  return { address: addressOfVersion(key), slot: slotOfVersion(key), account: unpackAccount(value) }
}

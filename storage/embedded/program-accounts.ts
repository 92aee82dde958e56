import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import { abandonedAt, type AbandonedSlots } from '../port/abandoned-slots.ts'
import {
  entriesOfIndex,
  entriesOfProgram,
  entriesOfValue,
  entryKeysOf,
  versionOfEntry
} from '../codec/account-index-entry.ts'
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
import { pagesByIndex, type IndexReads } from '../indexed-page.ts'
import { byWholeAddress } from '../whole-addresses.ts'
import type {
  AccountsPage,
  AccountsQuery,
  AccountVersion,
  IndexedRange,
  IndexLookup,
  IndexStep,
  ProgramAccount,
  ProgramAccountStore,
  VersionKey
} from '../port/program-accounts.ts'
import { AccountPageMemory } from './account-page-memory.ts'
import { AccountPages } from './account-pages.ts'
import { scanned } from './account-scan.ts'
import { CHUNK_ENTRIES, chunksOf, CopyEngine, type Entry, type Write } from './copy-engine.ts'
import type { Level } from './level.ts'
import { SingleVersions } from './single-versions.ts'

/** Iterators that read single accounts together. */
const ITERATORS = 4
/** Minimum number of values that are read on several threads. Below it a second thread costs more than it saves. */
const READ_TOGETHER_MIN = 32
const NOTHING = Buffer.alloc(0)
/** Default for the bytes of stored versions in memory: a hundred thousand token accounts. */
const PAGES_BYTES_MAX = 32 * 2 ** 20

/** The mirrored accounts in an engine of their own, beside the store. A version and its entries are one write. */
export class ProgramAccountDatabase implements ProgramAccountStore {
  readonly #engine: CopyEngine
  /** Single versions by program. A process that has the database alone knows all of its writes. */
  readonly #singles = new Map<string, SingleVersions>()

  readonly #pages = new Map<string, AccountPages>()
  readonly #memory: AccountPageMemory

  /**
   * With `isSnapshot`, a database that another process has open is read from a snapshot beside it. `pageBytesMax` limits the
   * stored versions that are also in memory.
   */
  constructor(
    directory: string,
    options: { readonly isSnapshot?: boolean; readonly pageBytesMax?: number | undefined } = {}
  ) {
    this.#engine = new CopyEngine(directory, 'the mirrored accounts', options)
    this.#memory = new AccountPageMemory(options.pageBytesMax ?? PAGES_BYTES_MAX)
  }

  async put(
    program: Pubkey,
    versions: readonly AccountVersion[],
    ranges: readonly IndexedRange[]
  ): Promise<void> {
    const puts = versions.map(({ address, slot, account }) => ({
      type: 'put' as const,
      key: versionKey(program, address, slot),
      value: packAccount(account)
    }))
    const entries = versions.flatMap((version) =>
      version.account === null ? [] : entriesOf(program, version, version.account.data, ranges)
    )
    const write = (): Promise<void> => this.#engine.write([...puts, ...entries])
    await this.#singlesOf(program).write(versions, () => this.#pagesOf(program).write(puts, write))
  }

  newest(
    program: Pubkey,
    addresses: readonly Pubkey[],
    abandoned?: readonly AbandonedSlots[]
  ): Promise<(AccountVersion | null)[]> {
    return this.at(program, Number.MAX_SAFE_INTEGER, addresses, abandoned)
  }

  async at(
    program: Pubkey,
    slot: number,
    addresses: readonly Pubkey[],
    abandoned?: readonly AbandonedSlots[]
  ): Promise<(AccountVersion | null)[]> {
    return this.#engine.use(async (level) => {
      const found: (AccountVersion | null)[] = []
      // Several iterators: each waits for its thread.
      const readEach = async (from: number): Promise<void> => {
        const iterator = level.iterator(versionsOf(program))
        try {
          for (let i = from; i < addresses.length; i += ITERATORS) {
            const key = versionKey(program, addresses[i]!, slot)
            iterator.seek(key)
            let entry = await iterator.next()
            while (entry !== undefined && abandonedAt(abandoned, slotOfVersion(entry[0])) !== undefined)
              entry = await iterator.next()
            found[i] = entry !== undefined && isOfAddress(entry[0], key) ? versionOf(entry) : null
          }
        } finally {
          await iterator.close()
        }
      }
      const used = Math.min(ITERATORS, addresses.length)
      await Promise.all(Array.from({ length: used }, async (_, from) => readEach(from)))
      return found
    })
  }

  async *pages(program: Pubkey, query: AccountsQuery): AsyncGenerator<AccountsPage, void> {
    const { lookups = [] } = query
    yield* this.#engine.useEach((level) =>
      lookups.length > 0
        ? this.#pagesByIndex(level, program, lookups, query)
        : scanned(level, this.#pagesOf(program), program, query)
    )
  }

  async *versions(program: Pubkey): AsyncGenerator<readonly AccountVersion[]> {
    const level = await this.#engine.open()
    const groups = byWholeAddress(chunksOf(level, versionsOf(program), CHUNK_ENTRIES), versionOf)
    yield* this.#singlesOf(program).learn(groups)
  }

  async drop(
    program: Pubkey,
    versions: readonly VersionKey[],
    ranges: readonly IndexedRange[]
  ): Promise<void> {
    const keys = versions.map(({ address, slot }) => versionKey(program, address, slot))
    const entries: Key[] = []
    if (ranges.length > 0)
      await this.#engine.use(async (level) => {
        // One after the other: accounts may be large.
        for (const [i, key] of keys.entries()) {
          const value = await level.get(key)
          const data = value === undefined ? null : dataOf(value)
          if (data !== null) entries.push(...entryKeysOf(program, versions[i]!, data, ranges))
        }
      })
    const changes = keys.map((key) => ({ key, value: null }))
    await this.#pagesOf(program).write(changes, () => this.#engine.drop([...keys, ...entries]))
  }

  async index(
    program: Pubkey,
    range: IndexedRange,
    { after, examined }: { readonly after: Pubkey | null; readonly examined: number }
  ): Promise<IndexStep> {
    const all = versionsOf(program)
    const gte = after === null ? all.gte : afterAddress(program, after)
    const writes: Write[] = []
    let versions = 0
    let last: Key | null = null
    const next = await this.#engine.use(async (level) => {
      for await (const entries of chunksOf(level, { gte, lt: all.lt }, examined))
        for (const [key, value] of entries) {
          if (versions >= examined && last !== null && !isOfAddress(last, key)) return addressOfVersion(last)
          last = key
          versions++
          const data = dataOf(value)
          const version = { address: addressOfVersion(key), slot: slotOfVersion(key) }
          if (data !== null) writes.push(...entriesOf(program, version, data, [range]))
        }
      return null
    })
    await this.#engine.write(writes)
    return { versions, next }
  }

  async unindex(program: Pubkey, range: IndexedRange): Promise<void> {
    await this.#engine.clear(entriesOfIndex(program, range))
  }

  async clear(program: Pubkey): Promise<void> {
    await this.#engine.clear(entriesOfProgram(program))
    const pages = this.#pagesOf(program)
    try {
      await this.#engine.clear(versionsOf(program))
    } finally {
      pages.forget()
    }
  }

  /** Bytes of stored versions in memory, and their limit. */
  get pageMemory(): { readonly bytes: number; readonly bytesMax: number } {
    return this.#memory
  }

  /** Estimated bytes in the engine's tables; 0 if this process has not opened it. */
  bytes(): Promise<number> {
    return this.#engine.bytes()
  }

  close(): Promise<void> {
    return this.#engine.close()
  }

  #pagesByIndex(
    level: Level,
    program: Pubkey,
    lookups: readonly IndexLookup[],
    query: AccountsQuery
  ): AsyncGenerator<AccountsPage, void> {
    const reads: IndexReads = {
      async *entries(lookup, after, expected) {
        for await (const entries of chunksOf(level, entriesOfValue(program, lookup, after), expected))
          yield entries.map(([key]) => versionOfEntry(key))
      },
      at: (slot, entries) => this.#atEntries(level, program, slot, entries, query.abandoned)
    }
    return pagesByIndex(reads, lookups, query)
  }

  /** Reads the versions of accounts with entries, at a slot. Most have only one version, so all are read at once. */
  async #atEntries(
    level: Level,
    program: Pubkey,
    slot: number,
    entries: readonly VersionKey[],
    abandoned: readonly AbandonedSlots[] | undefined
  ): Promise<(AccountVersion | null)[]> {
    const singles = this.#singlesOf(program)
    const named = entries.filter(
      (each) => singles.has(each.address) && abandonedAt(abandoned, each.slot) === undefined
    )
    const keys = named.map((each) => versionKey(program, each.address, each.slot))
    const values = await valuesOf(level, keys)
    const found = new Map<VersionKey, AccountVersion>()
    for (const [i, value] of values.entries())
      if (value !== undefined) found.set(named[i]!, versionOf([keys[i]!, value]))
    // The other accounts, and accounts whose version was dropped since.
    const others = entries.filter((each) => !found.has(each))
    const read = await this.at(
      program,
      slot,
      others.map(({ address }) => address),
      abandoned
    )
    let next = 0
    return entries.map((each) => found.get(each) ?? read[next++]!)
  }

  #pagesOf(program: Pubkey): AccountPages {
    const key = pubkeyMapKey(program)
    let pages = this.#pages.get(key)
    if (pages === undefined) this.#pages.set(key, (pages = new AccountPages(this.#memory)))
    return pages
  }

  #singlesOf(program: Pubkey): SingleVersions {
    const key = pubkeyMapKey(program)
    let singles = this.#singles.get(key)
    if (singles === undefined) this.#singles.set(key, (singles = new SingleVersions()))
    return singles
  }
}

/** Reads values in the order of their keys, on several threads. */
async function valuesOf(level: Level, keys: readonly Key[]): Promise<readonly (Uint8Array | undefined)[]> {
  const size = Math.max(Math.ceil(keys.length / ITERATORS), READ_TOGETHER_MIN)
  const parts: Promise<readonly (Uint8Array | undefined)[]>[] = []
  for (let from = 0; from < keys.length; from += size)
    parts.push(level.getMany(keys.slice(from, from + size)))
  return (await Promise.all(parts)).flat()
}

/** Returns the writes of a version's entries. */
const entriesOf = (
  program: Pubkey,
  version: VersionKey,
  data: Uint8Array,
  ranges: readonly IndexedRange[]
): Write[] => entryKeysOf(program, version, data, ranges).map((key) => ({ type: 'put', key, value: NOTHING }))

function versionOf([key, value]: Entry): AccountVersion & { readonly account: ProgramAccount | null } {
  return { address: addressOfVersion(key), slot: slotOfVersion(key), account: unpackAccount(value) }
}

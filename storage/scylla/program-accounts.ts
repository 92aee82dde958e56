import { samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import { abandonedAt, type AbandonedSlots } from '../port/abandoned-slots.ts'
import { DATA_AT, dataOf, isClosedAt, packAccount, unpackAccount } from '../codec/program-account.ts'
import { pagesByIndex, type IndexReads } from '../indexed-page.ts'
import { byWholeAddress } from '../whole-addresses.ts'
import { ACCOUNT_BUCKETS, accountBucket, PAGE_BYTES_MAX } from '../port/program-accounts.ts'
import type {
  AccountsPage,
  AccountsQuery,
  AccountVersion,
  IndexedRange,
  IndexStep,
  ProgramAccount,
  ProgramAccountStore,
  VersionKey
} from '../port/program-accounts.ts'
import { CqlAccountIndex, type IndexedVersion } from './account-index.ts'
import { blob, mapBounded } from './client.ts'
import type { CqlClient, CqlRow } from './client.ts'
import { batchesOf, type RowWrite } from './row-write.ts'

/** Rows of an answer to a scan: the driver reads them in about two milliseconds. */
const ROWS_AT_ONCE = 500
/** Buckets that a page reads ahead: an answer of a program with few accounts takes an eighth of the round trips. */
const BUCKETS_AT_ONCE = 8
const BATCHES_AT_ONCE = 8
/** Accounts that are read at once before they are dropped: they may be large. */
const DROPPED_AT_ONCE = 32
/** Bytes of a row's key on the wire, estimated. */
const KEY_BYTES = 100

const INSERT = 'INSERT INTO program_accounts (program, bucket, address, slot, account) VALUES (?, ?, ?, ?, ?)'
const DELETE = 'DELETE FROM program_accounts WHERE program = ? AND bucket = ? AND address = ? AND slot = ?'
const CLEAR = 'DELETE FROM program_accounts WHERE program = ? AND bucket = ?'
const SELECT = 'SELECT address, slot, account FROM program_accounts WHERE program = ? AND bucket = ?'
const SELECT_AFTER = `${SELECT} AND address > ?`
const SELECT_ONE = `${SELECT} AND address = ? AND slot = ?`
const SELECT_AT = `${SELECT} AND address = ? AND slot <= ? LIMIT 1`

/** A number above all slots of the chain. */
const SLOT_LAST = 2n ** 62n

/**
 * The mirrored accounts in one table, and their indexes in another. Entries are written before their versions, and also
 * deleted before them. After a crash no version that is read lacks an entry.
 */
export class CqlProgramAccounts implements ProgramAccountStore {
  readonly #client: CqlClient
  readonly #index: CqlAccountIndex

  constructor(client: CqlClient) {
    this.#client = client
    this.#index = new CqlAccountIndex(client)
  }

  async put(
    program: Pubkey,
    versions: readonly AccountVersion[],
    ranges: readonly IndexedRange[]
  ): Promise<void> {
    await this.#index.put(program, withData(versions), ranges)
    await this.#write(versions, ({ address, slot, account }) => {
      const packed = packAccount(account)
      const params = [...partitionOf(program, address), blob(address), BigInt(slot), packed]
      return { statement: INSERT, params, bytes: KEY_BYTES + packed.length }
    })
  }

  newest(
    program: Pubkey,
    addresses: readonly Pubkey[],
    abandoned: readonly AbandonedSlots[] = []
  ): Promise<(AccountVersion | null)[]> {
    return this.#at(program, SLOT_LAST, addresses, abandoned)
  }

  at(
    program: Pubkey,
    slot: number,
    addresses: readonly Pubkey[],
    abandoned: readonly AbandonedSlots[] = []
  ): Promise<(AccountVersion | null)[]> {
    return this.#at(program, BigInt(slot), addresses, abandoned)
  }

  async *pages(program: Pubkey, query: AccountsQuery): AsyncGenerator<AccountsPage, void> {
    const { lookups = [] } = query
    if (lookups.length === 0) return yield* this.#scanned(program, query)
    const entries: IndexReads['entries'] = (...asked) => this.#index.entries(program, ...asked)
    const at: IndexReads['at'] = (of, found) =>
      this.at(
        program,
        of,
        found.map(({ address }) => address),
        query.abandoned
      )
    yield* pagesByIndex({ entries, at }, lookups, query)
  }

  async *versions(program: Pubkey): AsyncGenerator<readonly AccountVersion[]> {
    yield* byWholeAddress(this.#rowsAfter(program, undefined, ROWS_AT_ONCE), versionOf)
  }

  async drop(
    program: Pubkey,
    versions: readonly VersionKey[],
    ranges: readonly IndexedRange[]
  ): Promise<void> {
    if (ranges.length > 0)
      for (let from = 0; from < versions.length; from += DROPPED_AT_ONCE) {
        const dropped = versions.slice(from, from + DROPPED_AT_ONCE)
        const keys = dropped.map(({ address, slot }) => [
          ...partitionOf(program, address),
          blob(address),
          BigInt(slot)
        ])
        const found = (await this.#client.readEach(SELECT_ONE, keys)).flat().map(versionOf)
        await this.#index.drop(program, withData(found), ranges)
      }
    await this.#write(versions, ({ address, slot }) => ({
      statement: DELETE,
      params: [...partitionOf(program, address), blob(address), BigInt(slot)],
      bytes: KEY_BYTES
    }))
  }

  async index(
    program: Pubkey,
    range: IndexedRange,
    { after, examined }: { readonly after: Pubkey | null; readonly examined: number }
  ): Promise<IndexStep> {
    let versions = 0
    let last: Pubkey | null = null
    for await (const rows of this.#rowsAfter(program, after ?? undefined, ROWS_AT_ONCE)) {
      const found: IndexedVersion[] = []
      let isEnough = false
      for (const row of rows) {
        const address = row['address'] as Buffer
        isEnough = versions >= examined && last !== null && !samePubkey(last, address)
        if (isEnough) break
        last = address
        versions++
        const data = dataOf(row['account'] as Buffer)
        if (data !== null) found.push({ address, slot: Number(row['slot']), data })
      }
      await this.#index.put(program, found, [range])
      if (isEnough) return { versions, next: new Uint8Array(last!) }
    }
    return { versions, next: null }
  }

  async unindex(program: Pubkey, range: IndexedRange): Promise<void> {
    await this.#index.clear(program, range)
  }

  async clear(program: Pubkey): Promise<void> {
    const buckets = Array.from({ length: ACCOUNT_BUCKETS }, (_, bucket) => bucket)
    await mapBounded(buckets, BATCHES_AT_ONCE, async (bucket) =>
      this.#client.write([{ statement: CLEAR, params: [blob(program), bucket], bytes: KEY_BYTES }])
    )
    await this.#index.clear(program, null)
  }

  /** Yields a page for each answer of the cluster. Accounts are read only from the rows that match. */
  async *#scanned(
    program: Pubkey,
    { slot, after, limit, examined: examinedMax, matches, abandoned }: AccountsQuery
  ): AsyncGenerator<AccountsPage, void> {
    let accounts: AccountsPage['accounts'][number][] = []
    let last: Pubkey | null = null
    let isDone = false
    let found = 0
    let left = examinedMax
    let examined = 0
    let bytes = 0
    for await (const rows of this.#rowsAfter(program, after, Math.min(limit * 2, ROWS_AT_ONCE))) {
      for (const row of rows) {
        const address = row['address'] as Buffer
        if (last === null || !samePubkey(last, address)) {
          const isFull = found >= limit || left <= 0
          if (last !== null && (isFull || examined >= ROWS_AT_ONCE || bytes >= PAGE_BYTES_MAX)) {
            yield { accounts, next: new Uint8Array(last), index: null, examined }
            if (isFull) return
            accounts = []
            examined = 0
            bytes = 0
          }
          isDone = false
        }
        last = address
        left--
        examined++
        const ofRow = Number(row['slot'])
        if (isDone || ofRow > slot || abandonedAt(abandoned, ofRow) !== undefined) continue
        isDone = true
        const packed = row['account'] as Buffer
        if (isClosedAt(packed, 0) || matches?.(packed, DATA_AT, packed.length) === false) continue
        found++
        bytes += packed.length - DATA_AT
        accounts.push(versionOf(row) as (typeof accounts)[number])
      }
    }
    yield { accounts, next: null, index: null, examined }
  }

  async #at(
    program: Pubkey,
    slot: bigint,
    addresses: readonly Pubkey[],
    abandoned: readonly AbandonedSlots[]
  ): Promise<(AccountVersion | null)[]> {
    const found: (AccountVersion | null)[] = []
    let asked = addresses.map((address, i) => ({ i, address, upTo: slot }))
    while (asked.length > 0) {
      const keys = asked.map(({ address, upTo }) => [...partitionOf(program, address), blob(address), upTo])
      const answers = await this.#client.readEach(SELECT_AT, keys)
      const again: typeof asked = []
      for (const [at, [row]] of answers.entries()) {
        const { i, address } = asked[at]!
        const version = row === undefined ? null : versionOf(row)
        const passedOver = version === null ? undefined : abandonedAt(abandoned, version.slot)
        if (passedOver === undefined) found[i] = version
        else again.push({ i, address, upTo: BigInt(passedOver.from - 1) })
      }
      asked = again
    }
    return found
  }

  /** Yields rows ascending by address. The first pages of some buckets are requested together. */
  async *#rowsAfter(program: Pubkey, after: Pubkey | undefined, size: number): AsyncGenerator<CqlRow[]> {
    const first = after === undefined ? 0 : accountBucket(after)
    for (let from = first; from < ACCOUNT_BUCKETS; from += BUCKETS_AT_ONCE) {
      const buckets = Array.from(
        { length: Math.min(BUCKETS_AT_ONCE, ACCOUNT_BUCKETS - from) },
        (_, i) => from + i
      )
      const scans = buckets.map((bucket) =>
        bucket === first && after !== undefined
          ? this.#client.pages(SELECT_AFTER, [blob(program), bucket, blob(after)], size)
          : this.#client.pages(SELECT, [blob(program), bucket], size)
      )
      const firsts = await Promise.all(scans.map(async (scan) => scan.next()))
      for (const [i, page] of firsts.entries()) {
        if (page.done === true) continue
        yield page.value
        yield* scans[i]!
      }
    }
  }

  async #write<T extends VersionKey>(
    versions: readonly T[],
    writeOf: (version: T) => RowWrite
  ): Promise<void> {
    const byBucket = Map.groupBy(versions, ({ address }) => accountBucket(address))
    const batches = [...byBucket.values()].flatMap((each) => batchesOf(each.map(writeOf)))
    await mapBounded(batches, BATCHES_AT_ONCE, async (batch) => this.#client.write(batch))
  }
}

const partitionOf = (program: Pubkey, address: Pubkey): unknown[] => [blob(program), accountBucket(address)]

/** Returns those versions that have data. */
const withData = (versions: readonly AccountVersion[]): IndexedVersion[] =>
  versions.flatMap(({ address, slot, account }) =>
    account === null ? [] : [{ address, slot, data: account.data }]
  )

function versionOf(row: CqlRow): AccountVersion & { readonly account: ProgramAccount | null } {
  return {
    address: new Uint8Array(row['address'] as Buffer),
    slot: Number(row['slot']),
    account: unpackAccount(row['account'] as Buffer)
  }
}

import type { Pubkey } from '../../src/chain/pubkey.ts'
import { abandonBefore } from '../../src/program-accounts/abandoned-slots.ts'
import { beginExactAt } from '../../src/program-accounts/exact-slots.ts'
import type { MirrorProgress } from '../../src/program-accounts/program.ts'
import { SupersededVersions, type SupersededLimits } from '../../src/program-accounts/superseded-versions.ts'
import {
  PROGRAM_ACCOUNTS_MAX,
  PROGRAM_DATA_BYTES_MAX,
  type AccountVersion,
  type IndexedRange
} from '../../storage/port.ts'
import type { MirrorLimits, ProgramMirrorDeps } from './mirror-deps.ts'
import { isSame, keyOf, stored, storedEach } from './mirror-store.ts'
import { differencesFrom, type Ended, type Snapshot } from './snapshot-differences.ts'

/**
 * Maximum superseded versions. Paging runs have five minutes, less if there are more versions than this. Finalized state is
 * about 13 s old: for 30 s as many versions stay as the token program makes on mainnet, about 10,000 a second.
 */
export const SUPERSEDED = {
  retentionMs: 300_000,
  versionsMax: 50_000,
  bytesMax: 256 * 2 ** 20,
  // Half of a partition's bound. An account of 1 MiB that changes in each block has 48 versions: 19 s.
  bucketBytesMax: 48 * 2 ** 20,
  recent: { ms: 30_000, versionsMax: 300_000 }
} satisfies SupersededLimits
const SIZE: MirrorLimits = { accountsMax: PROGRAM_ACCOUNTS_MAX, dataBytesMax: PROGRAM_DATA_BYTES_MAX }
/** Versions and bytes of one durable write. */
const WRITE_VERSIONS = 1_000
const WRITE_BYTES = 2 ** 20
/** Interval of pruning superseded versions, in milliseconds. */
const PRUNE_MS = 10_000

/** A program has more accounts or data than a mirror may have. Nothing of it was written. */
export class MirrorFull extends Error {}

/**
 * The stored accounts of a program, and the slot up to which they are complete. Every method rejects with a StoreError when
 * the store fails. A version is durable before the progress reaches its slot, and never replaces one of the same account
 * with a greater slot.
 */
export class MirroredAccounts {
  readonly #program: Pubkey
  readonly #deps: Pick<ProgramMirrorDeps, 'store' | 'clock' | 'superseded' | 'limits'>
  readonly #save: (progress: MirrorProgress) => Promise<void>
  readonly #superseded: SupersededVersions
  #progress: MirrorProgress
  /** Bytes of the data of all accounts. A mirror begins with a snapshot, which states them. */
  #dataBytes = 0
  /** Whether the versions that an earlier process has superseded are known. */
  #isListed = false
  #pruneAtMs = 0

  constructor(
    program: Pubkey,
    progress: MirrorProgress,
    save: (progress: MirrorProgress) => Promise<void>,
    deps: Pick<ProgramMirrorDeps, 'store' | 'clock' | 'superseded' | 'limits'>
  ) {
    this.#program = program
    this.#progress = progress
    this.#save = save
    this.#deps = deps
    this.#superseded = new SupersededVersions(deps.superseded ?? SUPERSEDED)
  }

  get progress(): MirrorProgress {
    return this.#progress
  }

  /** Indexes in which versions have entries. */
  get #ranges(): readonly IndexedRange[] {
    return this.#progress.indexes.filter(({ state }) => state !== 'removing')
  }

  async put(change: Partial<MirrorProgress>): Promise<void> {
    const progress = { ...this.#progress, ...change }
    await stored(this.#save(progress))
    this.#progress = progress
  }

  /**
   * Records a loss if the store was emptied since, for example because it was damaged. The store then has no data of the
   * slot that readers request.
   */
  async loseEmptied(): Promise<void> {
    const { slot, accounts } = this.#progress
    if (slot === null || accounts === 0) return
    for await (const _ of storedEach(this.#deps.store.versions(this.#program))) return
    await this.put({ slot: null, accounts: 0, reason: 'the stored accounts are lost' })
  }

  /** Reads the newest version of each address, in their order; null for an address that is not stored. */
  newest(addresses: readonly Pubkey[]): Promise<readonly (AccountVersion | null)[]> {
    return stored(this.#deps.store.newest(this.#program, addresses, this.#progress.abandoned))
  }

  /**
   * Stores all updates up to a slot, ascending by slot, and advances to it.
   *
   * @param isCorrected Whether some updates were read later than they were made, so that only the state at `slot` is exact.
   */
  async advance(slot: number, updates: readonly AccountVersion[], isCorrected = false): Promise<void> {
    const accounts = updates.length === 0 ? this.#progress.accounts : await this.#apply(updates)
    const exact = isCorrected ? beginExactAt(this.#progress, slot, true) : {}
    await this.put({ slot, accounts, atMs: this.#deps.clock.now(), reason: null, ...exact })
  }

  /**
   * Stores the differences from a snapshot, and advances to its slot. Resolves with their number.
   *
   * @param isMissing Given the number of differences, tells whether earlier slots lack some of them, and are no longer
   * exact.
   */
  async replace(
    { slot, accounts: listed, apiVersion }: Snapshot,
    isMissing: (differences: number) => boolean
  ): Promise<number> {
    const dataBytes = listed.reduce((sum, { account }) => sum + account.data.length, 0)
    this.#checkSize(listed.length, dataBytes)
    const accounts = listed.toSorted((a, b) => Buffer.compare(a.address, b.address))
    const isFirst = this.#progress.slot === null
    const earlier: Ended[] = []
    let differences = 0
    let changed: AccountVersion[] = []
    const ended = this.#isListed ? null : (each: Ended) => void earlier.push(each)
    // Later, all writes are its own and acknowledged. Those of the mirror before may still be under way.
    const abandoned = this.#isListed ? (this.#progress.abandoned ?? []) : abandonBefore(slot, this.#progress)
    const versions = storedEach(this.#deps.store.versions(this.#program))
    for await (const { next, before } of differencesFrom({ slot, accounts }, versions, abandoned, ended)) {
      differences++
      changed.push(next)
      this.#supersede(next, before)
      if (changed.length < WRITE_VERSIONS) continue
      await this.#write(changed)
      changed = []
      if (isFirst) await this.put({ accounts: differences })
    }
    await this.#write(changed)
    const now = this.#deps.clock.now()
    for (const { version, bySlot } of earlier.sort((a, b) => a.bySlot - b.bySlot))
      this.#superseded.add(version, bySlot, now)
    this.#isListed = true
    const oldest = isFirst ? { oldestSlot: slot } : {}
    const areEarlierExact = !isMissing(differences)
    const isConfirmed = areEarlierExact && differences === 0 && this.#progress.slot === slot
    const exact = isConfirmed ? {} : beginExactAt(this.#progress, slot, areEarlierExact)
    this.#dataBytes = dataBytes
    await this.put({
      slot,
      accounts: accounts.length,
      atMs: now,
      reason: null,
      ...oldest,
      ...exact,
      abandoned,
      apiVersion
    })
    return differences
  }

  /** Deletes superseded versions, from time to time, that have expired or exceed the limit. */
  async prune(): Promise<void> {
    const now = this.#deps.clock.now()
    if (now < this.#pruneAtMs && !this.#superseded.isOverBytes) return
    this.#pruneAtMs = now + PRUNE_MS
    const { keys, oldestSlot } = this.#superseded.take(now)
    if (keys.length === 0) return
    // Before the versions are deleted, so that readers do not request their slots.
    if (oldestSlot > this.#progress.oldestSlot) await this.put({ oldestSlot })
    for (let from = 0; from < keys.length; from += WRITE_VERSIONS)
      await stored(
        this.#deps.store.drop(this.#program, keys.slice(from, from + WRITE_VERSIONS), this.#ranges)
      )
  }

  /** Writes updates. Resolves with the number of accounts after them. */
  async #apply(updates: readonly AccountVersion[]): Promise<number> {
    let { accounts } = this.#progress
    const found = await this.newest(updates.map(({ address }) => address))
    const newest = new Map<string, AccountVersion>()
    for (const version of found) if (version !== null) newest.set(keyOf(version.address), version)
    let dataBytes = this.#dataBytes
    const written: { readonly version: AccountVersion; readonly before: AccountVersion | undefined }[] = []
    for (const version of updates) {
      const key = keyOf(version.address)
      const before = newest.get(key)
      if (before !== undefined && before.slot >= version.slot) continue
      if (isSame(before?.account ?? null, version.account)) continue
      newest.set(key, version)
      written.push({ version, before })
      dataBytes += dataLength(version) - dataLength(before)
      accounts += (version.account === null ? 0 : 1) - (before?.account == null ? 0 : 1)
    }
    this.#checkSize(accounts, dataBytes)
    for (const { version, before } of written) this.#supersede(version, before)
    await this.#write(written.map(({ version }) => version))
    this.#dataBytes = dataBytes
    return accounts
  }

  #checkSize(accounts: number, dataBytes: number): void {
    const { accountsMax, dataBytesMax } = this.#deps.limits ?? SIZE
    if (accounts > accountsMax)
      throw new MirrorFull(`it has ${accounts} accounts, and a mirror has at most ${accountsMax}`)
    if (dataBytes > dataBytesMax)
      throw new MirrorFull(
        `its accounts have ${dataBytes} bytes of data, and a mirror has at most ${dataBytesMax}`
      )
  }

  #supersede(version: AccountVersion, before: AccountVersion | undefined): void {
    const now = this.#deps.clock.now()
    if (before !== undefined && before.account !== null) this.#superseded.add(before, version.slot, now)
    // A close is not needed once the versions before it are gone.
    if (version.account === null) this.#superseded.add(version, version.slot, now)
  }

  async #write(versions: readonly AccountVersion[]): Promise<void> {
    let from = 0
    let bytes = 0
    for (let to = 0; to <= versions.length; to++) {
      if (to === versions.length || bytes > WRITE_BYTES || to - from === WRITE_VERSIONS) {
        if (to > from)
          await stored(this.#deps.store.put(this.#program, versions.slice(from, to), this.#ranges))
        from = to
        bytes = 0
      }
      bytes += versions[to]?.account?.data.length ?? 0
    }
  }
}

const dataLength = (version: AccountVersion | undefined): number => version?.account?.data.length ?? 0

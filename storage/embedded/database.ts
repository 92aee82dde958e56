import { ClassicLevel } from 'classic-level'
import PQueue from 'p-queue'
import { ERRORS, ServiceError, UnknownOutcome } from '../../src/kernel/errors.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import { API_KEY, TENANT } from '../access-documents.ts'
import { documentKeysOf } from '../codec/document-record-keys.ts'
import type { CrashPoint } from '../crash-points.ts'
import { formatKey, keysOf, type KeyRange } from '../codec/keys.ts'
import { formatKind, slotKind } from '../codec/kinds.ts'
import { damageText, type DamagedKeys } from './damaged-keys.ts'
import { ARCHIVE_FORMAT, FORMAT, refuseFormat, writeFormat } from './format.ts'
import type { TrustedFiles } from './engine-files/store-check.ts'
import { forgetTrustedFiles, writeTrustedFiles } from './engine-files/trusted-files.ts'
import type { Level } from './level.ts'
import { checkBeforeOpening } from './opening-check.ts'
import type { MaybePromise } from './maybe-promise.ts'
import { RecordCache } from './record-cache.ts'
import { engineWithin } from './engine-options.ts'
import { unopened } from './unopened.ts'
import { View } from './view.ts'
import { WriteBatch } from './write-batch.ts'

/** Tenants and API keys, also those of an earlier version: without them no caller can be identified. */
const NEEDED = [documentKeysOf(TENANT.kind), documentKeysOf(API_KEY.kind), keysOf('y'), keysOf('k')]

export interface DatabaseOptions {
  readonly directory: string
  readonly hotBytesMax: number
  /** Bytes for the engine's buffers. Default: the largest size that is of use. */
  readonly engineBytes?: number | undefined
  /** Whether a crash of the machine may undo writes. */
  readonly isScratch?: boolean | undefined
  /** Whether tables are compressed, as those of an archive. */
  readonly isArchive?: boolean | undefined
  /** Files that need no check; by default, those that the store listed when it was closed. */
  readonly trusted?: TrustedFiles | undefined
  readonly reached: (point: CrashPoint) => void
}

/**
 * The engine, and the part of its data that readers may see.
 *
 * D1: one write at a time, each a single batch. It is synced unless it only deletes hidden records, or a crash of the
 *     machine may undo it.
 * D2: readers use a view, which is replaced by one assignment after the batch is on disk.
 * D3: after a failed write the state on disk is unknown. All later writes are refused until the store is opened again.
 * D4: the engine reads only files whose checksums were verified. A read of data that was damaged in them fails.
 */
export class Database {
  readonly #level: Level
  readonly #directory: string
  readonly #isScratch: boolean
  /** D4 */
  readonly damaged: DamagedKeys
  readonly #hot: RecordCache
  readonly #reached: (point: CrashPoint) => void
  #view: View
  /** D1 */
  readonly #writes = new PQueue({ concurrency: 1 })
  #failure: ServiceError | null = null
  readonly #failed = Promise.withResolvers<Error>()
  #closed: Promise<void> | null = null
  #amendments = 0
  #writesAccepted = 0
  readonly #compactions = new PQueue({ concurrency: 1 })

  private constructor(level: Level, options: DatabaseOptions, damaged: DamagedKeys, head: SlotRow | null) {
    this.#level = level
    this.#directory = options.directory
    this.#isScratch = options.isScratch ?? false
    this.damaged = damaged
    this.#hot = new RecordCache(options.hotBytesMax)
    this.#reached = options.reached
    this.#view = new View(level, this.#hot, damaged, head)
  }

  static async open(options: DatabaseOptions): Promise<Database> {
    const { directory, reached } = options
    let level: Level | undefined
    try {
      const damaged = await checkBeforeOpening(directory, options.trusted) // D4
      // It begins to open by itself as soon as it is made.
      level = new ClassicLevel(directory, engineWithin(options.engineBytes ?? Infinity, options.isArchive))
      await level.open()
      await forgetTrustedFiles(directory)
      const head = await readHead(level, options, damaged)
      reached('open.ready')
      return new Database(level, options, damaged, head)
    } catch (cause) {
      await level?.close()
      throw unopened(directory, cause)
    }
  }

  /** Estimated bytes of decoded records in memory. */
  get recordBytes(): number {
    return this.#hot.bytes
  }

  /**
   * Runs a query on the newest committed state, which does not change until the query ends. A query answered from memory
   * costs no more than the promise of its answer.
   */
  async read<T>(query: (view: View) => MaybePromise<T>): Promise<T> {
    if (this.#closed !== null) throw closed()
    const view = this.#view
    const answer = query(view)
    if (!(answer instanceof Promise)) return answer
    view.hold()
    try {
      return await answer
    } finally {
      view.release()
    }
  }

  /**
   * Stages a batch on the newest state and makes it durable, then visible. Staging that returns null writes nothing.
   * Resolves to whether something was written.
   */
  write(stage: (view: View, batch: WriteBatch) => Promise<Staged | null>): Promise<boolean> {
    if (this.#closed !== null) return Promise.reject(closed())
    this.#writesAccepted++
    return this.#writes.add(async () => {
      // An idle queue begins within `add`: documents that change in the same tick are to share this write.
      await Promise.resolve()
      return this.#write(stage)
    })
  }

  /** Whether further writes are refused because the store is closed, or closes once accepted ones are done. */
  get isClosed(): boolean {
    return this.#closed !== null
  }

  /** Number of writes accepted since the store was opened: two of them with consecutive numbers have no other between. */
  get writesAccepted(): number {
    return this.#writesAccepted
  }

  /** A number that grows with each amendment: if it differs, earlier reads may be outdated. */
  get amendments(): number {
    return this.#amendments
  }

  /** Merges the tables of a range of keys, which frees the disk space of its deleted records. */
  compact({ gte, lt }: KeyRange): Promise<void> {
    if (this.#closed !== null) return Promise.reject(closed())
    return this.#compactions.add(() => this.#level.compactRange(gte, lt))
  }

  /** Returns whether the engine finds a key in a range, whether or not other keys of the range are damaged. */
  async holds({ gte, lt }: KeyRange): Promise<boolean> {
    if (this.#closed !== null) throw closed()
    return (await this.#level.keys({ gte, lt, limit: 1 }).all()).length > 0
  }

  /** Estimates the bytes of a range of keys in the engine's tables; data that is not in the tables yet is not counted. */
  approximateBytes({ gte, lt }: KeyRange): Promise<number> {
    if (this.#closed !== null) return Promise.reject(closed())
    return this.#level.approximateSize(gte, lt)
  }

  /** Resolves with the failed write after which all later ones are refused (D3). */
  get failed(): Promise<Error> {
    return this.#failed.promise
  }

  close(): Promise<void> {
    this.#closed ??= this.#writes.onIdle().then(async () => {
      await this.#compactions.onIdle()
      this.#reached('close.drained')
      await this.#level.close()
      // Files with a record that cannot be read are not trusted.
      if (this.damaged.isMet) return
      // Without the list the next start verifies every file. A full disk must not fail the close.
      await writeTrustedFiles(this.#directory).catch(() => undefined)
    })
    return this.#closed
  }

  async #write(stage: (view: View, batch: WriteBatch) => Promise<Staged | null>): Promise<boolean> {
    if (this.#failure !== null) throw this.#failure // D3
    const view = this.#view
    const batch = new WriteBatch(this.#level)
    const staged = await stagedIn(batch, () => stage(view, batch))
    if (staged === null) return false
    try {
      const isSynced = staged.kind !== 'sweep' && staged.kind !== 'scratch documents'
      const hasPoints = staged.kind !== 'control' && isSynced
      if (hasPoints) this.#reached(`${staged.kind}.staged`)
      const writing = batch.write(isSynced && !this.#isScratch)
      if (hasPoints) this.#reached(`${staged.kind}.writing`)
      await writing
    } catch (cause) {
      this.#failure = new ServiceError(
        ERRORS.STORAGE_UNAVAILABLE,
        'a write failed; the store must be reopened',
        {
          cause
        }
      )
      this.#failed.resolve(this.#failure)
      // The engine's log may have it: the next opening tells.
      throw new UnknownOutcome(this.#failure.detail, cause)
    }
    if (staged.kind === 'control') this.#reached(staged.durable)
    else if (staged.kind !== 'sweep' && staged.kind !== 'scratch documents')
      this.#reached(`${staged.kind}.durable`)
    this.#publish(batch, 'head' in staged ? staged.head : view.head)
    if (staged.kind === 'amend') this.#amendments++
    if (staged.kind === 'commit') this.#reached('commit.published')
    return true
  }

  /** Contains no await: readers see the state before or the state after. */
  #publish(batch: WriteBatch, head: SlotRow | null): void {
    const before = this.#view
    batch.warm(this.#hot)
    this.#view = new View(this.#level, this.#hot, this.damaged, head) // D2
    before.retire()
  }
}

/**
 * Content of a batch: a block, which becomes the head; a change of stored blocks; a deletion of hidden records; a group of
 * documents; or control data. Control data are keys, tenants, gaps and the horizon.
 */
export type Staged =
  | { readonly kind: 'commit'; readonly head: SlotRow }
  | { readonly kind: 'amend'; readonly head: SlotRow | null }
  | { readonly kind: 'sweep' | 'documents' | 'scratch documents' }
  | {
      readonly kind: 'control'
      readonly durable: 'coverage.durable' | 'kept.forgotten' | 'horizon.durable'
    }

/** Runs the staging of a batch; the batch of one that fails or writes nothing is dropped. */
async function stagedIn(batch: WriteBatch, stage: () => Promise<Staged | null>): Promise<Staged | null> {
  let staged: Staged | null = null
  try {
    return (staged = await stage())
  } finally {
    if (staged === null) await batch.drop()
  }
}

/** The newest slot of a store of a known format, which is raised to ours first; an empty store is given ours. */
async function readHead(
  level: Level,
  { directory, isArchive = false, reached }: DatabaseOptions,
  damaged: DamagedKeys
): Promise<SlotRow | null> {
  const view = new View(level, new RecordCache(0), damaged, null)
  const written = isArchive ? ARCHIVE_FORMAT : FORMAT
  try {
    for (const keys of NEEDED) {
      const damage = damaged.within(keys)
      if (damage !== null)
        throw foreign(`has lost tenants or API keys: ${damageText(damage)}; run \`npx millrace repair\``)
    }
    // Damage is found in stores of this format alone; each record says its own layout.
    const format = damaged.at(formatKey()) === null ? view.get(formatKind, formatKey()) : written
    if (format === null) {
      const keys = await level.keys({ limit: 1 }).all()
      if (keys.length > 0) throw foreign('holds something else than a store')
      reached('open.created')
      await writeFormat(level, written)
      return null
    }
    refuseFormat(directory, format)
    // Before anything else is written, so that no earlier version opens a store with records that it misreads.
    if (format < written) await writeFormat(level, written)
    const newest = await view.first(slotKind, keysOf('b'), true)
    return newest?.[1] ?? null
  } finally {
    view.retire()
  }
}

const foreign = (what: string): ServiceError =>
  new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `the store's directory ${what}`)
const closed = (): ServiceError => new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the store is closed')

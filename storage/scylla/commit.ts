import type { CommittedVersions } from './base.ts'
import type { MergedBlocks } from './merged-blocks.ts'
import type { Snapshot } from './visibility.ts'

/** Which commit a row or a version of a record belongs to: it is visible once its epoch's watermark reaches it. */
export interface Version {
  /** Of the claim under which it was written, from 1. */
  readonly epoch: number
  /** Of the commit: 1, 2, 3, … over all epochs. */
  readonly number: number
}

/**
 * Commits of one epoch at most, and epochs of one store: 25 years of blocks, and as long 60 a day, which claims take and
 * amendments.
 */
export const COMMITS_MAX = 2 ** 31 - 1
export const EPOCHS_MAX = 2 ** 19

/**
 * The time of a write in the sense of the cluster, where of two writes of a cell the one of the later time counts,
 * whichever arrives last: a later epoch's is later, then a later commit's. As times these lie before the year 2006, since
 * a server may refuse times to come.
 */
export const versionTimestamp = ({ epoch, number }: Version): bigint =>
  BigInt(epoch) * BigInt(COMMITS_MAX + 1) + BigInt(number)

/** A write of one row: a statement that may be sent again at any time, with its values. */
export interface RowWrite {
  readonly statement: string
  readonly params: readonly unknown[]
  /** What the values take on the wire, estimated. */
  readonly bytes: number
}

/**
 * What is written to the tables together, collected before any of it is sent. Its statements are prepared constants and
 * idempotent, and each row of them carries the commit's epoch and number, so that readers pass over it until the watermark
 * reaches it.
 */
export class TableCommit implements Version {
  readonly epoch: number
  readonly number: number
  /** Of the newest block there is after it, in unix seconds. */
  readonly blockTime: number
  /** What the tables had before it. */
  readonly base: Snapshot
  /**
   * The newest versions of records that this writer has read or written under its claim, by table and key; null of those
   * that do not exist.
   */
  readonly committed: CommittedVersions
  readonly #writes: (readonly RowWrite[])[] = []
  readonly #afterwards: RowWrite[] = []
  readonly #whenVisible: (() => void)[] = []

  constructor(version: Version, blockTime: number, base: Snapshot, committed: CommittedVersions) {
    this.epoch = version.epoch
    this.number = version.number
    this.blockTime = blockTime
    this.base = base
    this.committed = committed
  }

  /** Adds rows of one partition of one table, in any number: they are sent in unlogged batches of bounded size. */
  write(rows: readonly RowWrite[]): void {
    if (rows.length > 0) this.#writes.push(rows)
  }

  /**
   * Adds a write that tidies up: it is sent once after the commit is visible, and nobody waits for it or misses it.
   * Nothing that a reader's answer depends on may be done with it.
   */
  afterwards(row: RowWrite): void {
    this.#afterwards.push(row)
  }

  /**
   * Runs once the commit is visible: for what memory knows of the store.
   * It must not throw. Of a commit that fails it never runs.
   */
  whenVisible(run: () => void): void {
    this.#whenVisible.push(run)
  }

  get writes(): readonly (readonly RowWrite[])[] {
    return this.#writes
  }

  get tidying(): readonly RowWrite[] {
    return this.#afterwards
  }

  becomeVisible(): void {
    for (const run of this.#whenVisible) run()
  }
}

/** What some blocks write to the tables. Its number is that of the last of them. */
export class Commit extends TableCommit {
  readonly blocks: MergedBlocks

  constructor(version: Version, blocks: MergedBlocks, base: Snapshot, committed: CommittedVersions) {
    super(version, blocks.newest.blockTime, base, committed)
    this.blocks = blocks
  }
}

/** Rows of one batch, and their estimated bytes: a server warns from 5 KB on and refuses from 50 KB. */
const BATCH_ROWS_MAX = 100
const BATCH_BYTES_MAX = 40_000

/** Rows of one partition as batches of bounded size; a row that is larger goes alone. */
export function batchesOf(rows: readonly RowWrite[]): (readonly RowWrite[])[] {
  if (rows.length <= 1) return rows.length === 0 ? [] : [rows]
  const batches: RowWrite[][] = []
  let batch: RowWrite[] = []
  let bytes = 0
  for (const row of rows) {
    const isFull = batch.length === BATCH_ROWS_MAX || bytes + row.bytes > BATCH_BYTES_MAX
    if (isFull && batch.length > 0) {
      batches.push(batch)
      batch = []
      bytes = 0
    }
    batch.push(row)
    bytes += row.bytes
  }
  batches.push(batch)
  return batches
}

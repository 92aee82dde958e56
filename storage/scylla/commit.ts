import type { CommittedVersions } from './base.ts'
import type { MergedBlocks } from './merged-blocks.ts'
import type { RowWrite } from './row-write.ts'
import type { Version } from './version.ts'
import type { Snapshot } from './visibility.ts'

/**
 * Writes to the tables that belong together, collected before any of them is sent. Statements are prepared constants and
 * idempotent. Each row carries the commit's epoch and number, so that readers ignore it until the watermark reaches it.
 */
export class TableCommit implements Version {
  readonly epoch: number
  readonly number: number
  /** Block time of the newest block after the commit, in unix seconds. */
  readonly blockTime: number
  /** State of the tables before it. */
  readonly base: Snapshot
  /**
   * The newest versions of records that this writer has read or written under its claim, by table and key; null for absent
   * records.
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
   * Adds a cleanup write. It is sent once after the commit is visible, is not awaited, and may be lost. No reader's answer
   * may depend on it.
   */
  afterwards(row: RowWrite): void {
    this.#afterwards.push(row)
  }

  /** Runs once the commit is visible, to update caches. It must not throw. If the commit fails it never runs. */
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

/** A commit of some blocks to the tables. Its number is that of the last of them. */
export class Commit extends TableCommit {
  readonly blocks: MergedBlocks

  constructor(version: Version, blocks: MergedBlocks, base: Snapshot, committed: CommittedVersions) {
    super(version, blocks.newest.blockTime, base, committed)
    this.blocks = blocks
  }
}

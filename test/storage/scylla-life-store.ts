import assert from 'node:assert/strict'
import type { Client } from 'cassandra-driver'
import type { Test } from 'tap'
import type { BlockCommit, Storage } from '../../storage/port.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import type { ScyllaStorageOptions } from '../../storage/scylla/store.ts'
import { assertSame } from '../../storage/test/conformance/agreement.ts'
import { slotAt } from '../../storage/test/sample-addresses.ts'
import type { CqlServer } from '../servers/cql.ts'
import { newKeyspaceName } from '../servers/cql.ts'
import { endClient } from '../servers/plain-client.ts'
import type { LifePlan } from './scylla-life-child.ts'
import { rawClient, scyllaOptions } from './scylla-keyspace.ts'
import { Life } from './scylla-life.ts'
import { modelOf, seriesBlock } from './scylla-series.ts'
import type { Series, SeriesBlock } from './scylla-series.ts'

const SEED = 77
/** Number of blocks that a life commits if it is not killed. */
const BLOCKS_A_LIFE = 5

/** How a life is to end. */
export type Blow = Pick<LifePlan, 'at' | 'nth'> & Partial<Pick<LifePlan, 'afterMs' | 'together'>>

/** Number of rows of a commit or a flush that never became visible, by table. */
export interface LeftBehind {
  readonly slots: number
  readonly trades: number
  readonly totals: number
  readonly journal: number
}

/** One store through the lives of many writers, and a reader that watches all of them. */
export class LifeStore {
  readonly keyspace: string
  readonly raw: Client
  readonly #options: ScyllaStorageOptions
  /** Blocks that differ from the others, by index. */
  readonly #special = new Map<number, SeriesBlock>()
  #reader: Storage | null = null
  #last = -1
  #tokens = 0

  private constructor(options: ScyllaStorageOptions, raw: Client) {
    this.#options = options
    this.keyspace = options.keyspace
    this.raw = raw
  }

  static async make(server: CqlServer): Promise<LifeStore> {
    return new LifeStore(scyllaOptions(server, newKeyspaceName()), await rawClient(server))
  }

  /** Index of the newest block at the last check (`found`); -1 on an empty store. */
  get last(): number {
    return this.#last
  }

  /** Returns the first blocks that must be stored. */
  series(count: number): Series {
    return Array.from({ length: count }, (_, index) => this.#special.get(index) ?? { seed: SEED })
  }

  block(index: number): BlockCommit {
    return seriesBlock(this.#special.get(index) ?? { seed: SEED }, index)
  }

  /** Makes the block at an index a large one. */
  enlarge(index: number, more: number): void {
    this.#special.set(index, { seed: SEED, more })
  }

  /** Returns the index after the last block of a life, given the index of its first block. */
  lifeEnd(first: number): number {
    return first + BLOCKS_A_LIFE
  }

  /** Starts a process that commits further blocks; `flushBlocks` is the number of blocks flushed together. */
  life(t: Test, blow: Blow = { at: null, nth: 0 }, flushBlocks?: number): Life {
    const series = this.series(this.lifeEnd(this.#last + 1))
    const plan = this.plan(series)
    const store = { ...plan.store, ...(flushBlocks !== undefined && { flushBlocks }) }
    return new Life(t, { ...plan, ...blow, store })
  }

  plan(series: Series): LifePlan {
    const signal = 'SIGKILL'
    const blow = { at: null, nth: 0, signal, afterMs: 0, together: 1 } as const
    return { store: this.#options, series, token: null, ...blow, sees: [] }
  }

  /** Returns two fencing tokens, higher than all before. */
  tokens(): readonly [token: number, later: number] {
    return [++this.#tokens, ++this.#tokens]
  }

  async open(t: Test): Promise<Storage> {
    const storage = await openScyllaStorage(this.#options)
    t.teardown(() => storage.close())
    return storage
  }

  /** Finds the newest block, as a process sees it that has the store open all the time. */
  async found(): Promise<number> {
    this.#reader ??= await openScyllaStorage(this.#options)
    const head = await this.#reader.blocks.head()
    if (head === null) return (this.#last = -1)
    const before = this.#last
    for (let index = Math.max(before, 0); ; index++) {
      const slot = slotAt(index)
      if (slot === head.slot) return (this.#last = index)
      assert.ok(slot < head.slot, `slot ${head.slot} is none of the series, or from before block ${before}`)
    }
  }

  /** Compares all answers of a process that has the store open all the time. */
  async assertSeenSame(t: Test): Promise<void> {
    await this.#assertSame(t, this.#reader!)
  }

  /** Compares all answers of a newly started process. */
  async assertFoundSame(t: Test): Promise<void> {
    const fresh = await openScyllaStorage(this.#options)
    try {
      await this.#assertSame(t, fresh)
    } finally {
      await fresh.close()
    }
  }

  /**
   * Compares all answers with the series. A write that a killed writer had sent may take effect only now: if the answers
   * are those of another block, the newest block is determined again.
   */
  async #assertSame(t: Test, storage: Storage): Promise<void> {
    const last = this.#last
    try {
      await assertSame(storage, modelOf(this.series(last + 1)))
    } catch (error) {
      if ((await this.found()) === last) throw error
      await storage.blocks.head()
      await assertSame(storage, modelOf(this.series(this.#last + 1)))
    }
    t.pass(`all answers are those of ${this.#last + 1} blocks`)
  }

  /** Returns the newest epoch. */
  async epoch(): Promise<number> {
    const row = (await this.raw.execute(`SELECT current_epoch FROM ${this.keyspace}.writers LIMIT 1`)).first()
    return row['current_epoch'] as number
  }

  /** Returns the rows that the writer of an epoch has written and not made visible. */
  async leftBehind(epoch: number): Promise<LeftBehind> {
    const { committed, flushed } = await this.watermarks(epoch)
    const count = async (table: string, watermark: number, number = 'commit'): Promise<number> => {
      const { rows } = await this.raw.execute(`SELECT epoch, ${number} FROM ${this.keyspace}.${table}`)
      return rows.filter((row) => row['epoch'] === epoch && (row[number] as number) > watermark).length
    }
    return {
      slots: await count('slots', flushed),
      trades: await count('trades_by_mint', flushed),
      totals: await count('totals', flushed),
      journal: await count('journal', committed, 'number')
    }
  }

  /** Returns the commits of an epoch, and how many of them are flushed to the tables. */
  async watermarks(epoch: number): Promise<{ readonly committed: number; readonly flushed: number }> {
    const row = (
      await this.raw.execute(
        `SELECT last_commit, flushed FROM ${this.keyspace}.writers WHERE chain = 'solana' AND epoch = ${epoch}`
      )
    ).first()
    return { committed: row['last_commit'] as number, flushed: row['flushed'] as number }
  }

  async end(): Promise<void> {
    await this.#reader?.close()
    await this.raw.execute(`DROP KEYSPACE IF EXISTS ${this.keyspace}`)
    await endClient(this.raw)
  }
}

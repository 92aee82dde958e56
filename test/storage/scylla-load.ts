import { isDeepStrictEqual } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../src/kernel/errors.ts'
import { cursorAt } from '../../src/market/cursor.ts'
import type { BlockCommit, Storage } from '../../storage/port.ts'
import { StorageModel } from '../../storage/test/model.ts'
import { sampleMint, samplePool, slotAt } from '../../storage/test/sample-addresses.ts'
import { seriesBlock } from './scylla-series.ts'

const SEED = 515
const POLL_MS = 20
/** Minimum block interval in milliseconds, as on the chain. */
const PACE_MS = 400
/** Pause between an answer and the next read, in milliseconds, so that three nodes have most of the machine. */
const READ_PAUSE_MS = 150
/** Milliseconds to wait for a fact. A busy machine needs long even for facts that usually take a second. */
const WITHIN_MS = 300_000

/** A read of a store, and its expected answer when the blocks up to an index are committed. */
interface Question {
  readonly name: string
  readonly ask: (storage: Storage) => Promise<unknown>
  readonly asOf: (index: number) => unknown
}

/**
 * Commits a series of blocks, and meanwhile reads two stores: the one that commits, and one that learns of commits from the
 * cluster alone. Each answer must be that of a whole number of blocks: at least those committed when it was requested, and
 * at most those begun when it arrived.
 */
export class Load {
  /** Model of all blocks that were committed; a commit in flight is not in it yet. */
  readonly model = new StorageModel()
  committed = 0
  answered = 0
  /** Reads that rejected because the store was unavailable. Any other failure ends the load. */
  readonly rejected: ServiceError[] = []
  /** Milliseconds of each commit, and of each read that was answered or refused. */
  commitsMs: number[] = []
  readsMs: number[] = []
  readonly #stores: readonly [writer: Storage, follower: Storage]
  readonly #blocks: BlockCommit[] = []
  readonly #end = new AbortController()
  readonly #running: Promise<void>[]
  #failure: unknown = null

  constructor(writer: Storage, follower: Storage) {
    this.#stores = [writer, follower]
    const loops = [this.#commit(), ...this.#stores.map((store) => this.#read(store))]
    this.#running = loops.map((loop) => loop.catch((error: unknown) => void (this.#failure ??= error)))
  }

  /** Number of blocks whose commit has begun. */
  get begun(): number {
    return this.#blocks.length
  }

  /** Clears all measurements. */
  forget(): void {
    this.rejected.length = 0
    this.commitsMs = []
    this.readsMs = []
  }

  /** Resolves when a commit is in flight. */
  async isCommitting(): Promise<void> {
    await this.until('commit under way', () => this.begun > this.committed)
  }

  /** Resolves once some further blocks are committed and some further reads are answered. */
  async goesOn(blocks: number, reads = 5 * blocks): Promise<void> {
    const [committed, answered] = [this.committed + blocks, this.answered + reads]
    await this.until(`${blocks} blocks and ${reads} reads`, () => {
      return this.committed >= committed && this.answered >= answered
    })
  }

  /** Resolves once a condition holds. Rejects when the load has failed. */
  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = performance.now() + WITHIN_MS
    while (!(await isSo())) {
      if (this.#failure !== null) throw new Error('the load has failed', { cause: this.#failure })
      if (performance.now() > deadline) throw new Error(`no ${what} within ${WITHIN_MS / 1_000} s`)
      await delay(POLL_MS)
    }
  }

  /** Ends the load once no operation is in flight. */
  async end(): Promise<void> {
    this.#end.abort()
    await Promise.all(this.#running)
    if (this.#failure !== null) throw new Error('the load has failed', { cause: this.#failure })
  }

  get #isRunning(): boolean {
    return !this.#end.signal.aborted && this.#failure === null
  }

  async #commit(): Promise<void> {
    while (this.#isRunning) {
      const block = seriesBlock({ seed: SEED }, this.begun)
      this.#blocks.push(block)
      this.model.commit(block)
      const began = performance.now()
      const isWritten = await this.#stores[0].blocks.commit(block)
      if (!isWritten) throw new Error(`block ${this.committed} was there already`)
      this.commitsMs.push(performance.now() - began)
      this.committed++
      await delay(Math.max(0, PACE_MS - (performance.now() - began)))
    }
  }

  async #read(storage: Storage): Promise<void> {
    for (let turn = 0; this.#isRunning; turn++) {
      const began = performance.now()
      try {
        await this.#ask(storage, QUESTIONS[turn % QUESTIONS.length]!(this.#blocks, this.model))
        this.answered++
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'STORAGE_UNAVAILABLE') throw error
        this.rejected.push(error)
      }
      this.readsMs.push(performance.now() - began)
      await delay(READ_PAUSE_MS)
    }
  }

  async #ask(storage: Storage, { name, ask, asOf }: Question): Promise<void> {
    const committed = this.committed - 1
    const head = await storage.blocks.head()
    const first = this.#blocks.findLastIndex(({ slot }) => slot.slot === head?.slot)
    if (first < committed)
      throw new Error(`block ${committed} is committed, and block ${first} is the newest seen`)
    const answer = await ask(storage)
    for (let index = first; index < this.begun; index++) if (isDeepStrictEqual(answer, asOf(index))) return
    throw new Error(`${name}: no answer of a whole number of blocks, ${first} to ${this.begun - 1}`)
  }
}

type Blocks = readonly BlockCommit[]

const newestUpTo = (index: number) =>
  ({ order: 'desc', limit: 50, from: cursorAt(slotAt(index) + 1, 0) }) as const
const NEWEST = { order: 'desc', limit: 50 } as const
const [MINT, POOL] = [sampleMint(0), samplePool(0)]

/** Returns the last value of a field in the blocks up to an index; null if no block has a value. */
function lastOf<T>(
  blocks: Blocks,
  index: number,
  of: (block: BlockCommit) => T | null | undefined
): T | null {
  for (let at = index; at >= 0; at--) {
    const found = of(blocks[at]!)
    if (found !== null && found !== undefined) return found
  }
  return null
}

const isOf =
  (mint: Uint8Array) =>
  (row: { readonly mint: Uint8Array }): boolean =>
    Buffer.compare(row.mint, mint) === 0

/** A list of rows by each kind of owner, a record by address, and the record that every block replaces. */
const QUESTIONS: readonly ((blocks: Blocks, model: StorageModel) => Question)[] = [
  (_, model) => ({
    name: 'trades of a mint',
    ask: (storage) => storage.trades.ofMint(MINT, NEWEST),
    asOf: (index) => model.trades(MINT, newestUpTo(index))
  }),
  (blocks) => ({
    name: 'a token',
    ask: (storage) => storage.tokens.get(MINT),
    asOf: (index) => lastOf(blocks, index, ({ tokens }) => tokens.find(isOf(MINT)))
  }),
  (_, model) => ({
    name: 'events of a pool',
    ask: (storage) => storage.poolEvents.ofPool(POOL, NEWEST),
    asOf: (index) => model.poolEvents(POOL, newestUpTo(index))
  }),
  (blocks) => ({
    name: 'totals',
    ask: (storage) => storage.totals.get(),
    asOf: (index) => lastOf(blocks, index, ({ totals }) => totals)
  })
]

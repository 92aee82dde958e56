import PQueue from 'p-queue'
import { Arena } from '../../src/arena.ts'

/** Replays that have memory of their own to use again, and how much of it each; others do without. Chosen: 64 MiB in all. */
const ARENAS_MAX = 16
const ARENA_BYTES_MAX = 4 * 2 ** 20

/** What all replays of a process share: turns at the store, and memory. */
export class Replays {
  readonly #turns: PQueue
  #lent = 0

  /** Of the pages that are to be read, so many are at once. */
  constructor(readsAtOnce: number) {
    this.#turns = new PQueue({ concurrency: readsAtOnce })
  }

  /** Replays that wait for their turn. */
  get waiting(): number {
    return this.#turns.size
  }

  /** Rejects as the work does. */
  turn(work: () => Promise<void>): Promise<void> {
    return this.#turns.add(work)
  }

  /** Does some work with memory that it may use again; at the end it is nobody's. */
  async withArena<T>(work: (arena: Arena) => Promise<T>): Promise<T> {
    if (this.#lent === ARENAS_MAX) return work(new Arena(0))
    this.#lent++
    try {
      return await work(new Arena(ARENA_BYTES_MAX))
    } finally {
      this.#lent--
    }
  }
}

import PQueue from 'p-queue'
import { Arena, type Budget } from '../../src/arena.ts'

/** Memory that replays use again, each and all together; beyond it pages are given memory of their own. Chosen. */
const ARENA_BYTES_MAX = 4 * 2 ** 20
const ARENAS_BYTES_MAX = 64 * 2 ** 20

/** What all replays of a process share: turns at the store, and memory. */
export class Replays {
  readonly #turns: PQueue
  readonly #budget: Budget = { left: ARENAS_BYTES_MAX }

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
    const arena = new Arena(this.#budget, ARENA_BYTES_MAX)
    try {
      return await work(arena)
    } finally {
      arena.leave()
    }
  }
}

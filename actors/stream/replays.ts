import PQueue from 'p-queue'
import { Arena, type Budget } from '../../src/memory/arena.ts'
import type { CacheUse } from '../../src/memory/second-chance.ts'

/** Memory that one replay uses again: its pages at the largest. Beyond it pages are given memory of their own. */
const ARENA_BYTES_MAX = 4 * 2 ** 20
/** The same for all of them, where nobody says how much. */
const ARENAS_BYTES_MAX = 64 * 2 ** 20

/** What all replays of a process share: turns at the store, and memory. */
export class Replays {
  readonly #turns: PQueue
  readonly #budget: Budget
  readonly #bytesMax: number

  /** Reads at most so many pages at once, into arenas of so many bytes together. */
  constructor(readsAtOnce: number, bytesMax = ARENAS_BYTES_MAX) {
    this.#turns = new PQueue({ concurrency: readsAtOnce })
    this.#budget = { left: bytesMax }
    this.#bytesMax = bytesMax
  }

  /** Memory that the arenas have. */
  get cache(): CacheUse {
    return { bytes: this.#bytesMax - this.#budget.left, bytesMax: this.#bytesMax }
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

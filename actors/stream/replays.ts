import PQueue from 'p-queue'
import { Arena, type Budget } from '../../src/memory/arena.ts'
import type { CacheUse } from '../../src/memory/second-chance-cache.ts'

/** Bytes of memory that one replay reuses: its largest pages. Larger pages get memory of their own. */
const ARENA_BYTES_MAX = 4 * 2 ** 20
/** Default for all replays together. */
const ARENAS_BYTES_MAX = 64 * 2 ** 20

/** Shared by all replays of a process: a queue for reads of the store, and a memory budget. */
export class Replays {
  readonly #turns: PQueue
  readonly #budget: Budget
  readonly #bytesMax: number

  /** `readsAtOnce` pages are read at once at most; all arenas together take `bytesMax` bytes at most. */
  constructor(readsAtOnce: number, bytesMax = ARENAS_BYTES_MAX) {
    this.#turns = new PQueue({ concurrency: readsAtOnce })
    this.#budget = { left: bytesMax }
    this.#bytesMax = bytesMax
  }

  /** Bytes that the arenas hold. */
  get cache(): CacheUse {
    return { bytes: this.#bytesMax - this.#budget.left, bytesMax: this.#bytesMax }
  }

  /** Number of replays that wait for a read. */
  get waiting(): number {
    return this.#turns.size
  }

  /** Runs a read when it is its turn. Rejects with the error of `work`. */
  turn(work: () => Promise<void>): Promise<void> {
    return this.#turns.add(work)
  }

  /** Runs `work` with an arena of reusable memory, which is released at the end. */
  async withArena<T>(work: (arena: Arena) => Promise<T>): Promise<T> {
    const arena = new Arena(this.#budget, ARENA_BYTES_MAX)
    try {
      return await work(arena)
    } finally {
      arena.leave()
    }
  }
}

import { Arena, type Budget } from '../../src/kernel/memory/arena.ts'
import type { CacheUse } from '../../src/kernel/memory/second-chance-cache.ts'
import type { TakeTurns } from '../../src/kernel/work/turns.ts'

/** Bytes of memory that one replay reuses: its largest pages. Larger pages get memory of their own. */
const ARENA_BYTES_MAX = 4 * 2 ** 20
/** Default for all replays together. */
const ARENAS_BYTES_MAX = 64 * 2 ** 20

/** Shared by all connections of a process: the turns of their tenants, and a memory budget for their replays. */
export class Replays {
  readonly #turns: TakeTurns
  readonly #budget: Budget
  readonly #bytesMax: number

  #pieces = 0

  /** All arenas together take at most `bytesMax` bytes. */
  constructor(turns: TakeTurns, bytesMax = ARENAS_BYTES_MAX) {
    this.#turns = turns
    this.#budget = { left: bytesMax }
    this.#bytesMax = bytesMax
  }

  /** Bytes that the arenas hold. */
  get cache(): CacheUse {
    return { bytes: this.#bytesMax - this.#budget.left, bytesMax: this.#bytesMax }
  }

  /** Pieces that run or wait for their turn. */
  get pieces(): number {
    return this.#pieces
  }

  /** Runs a piece when it is the tenant's turn, however long that takes. Rejects with its error, or when `signal` aborts. */
  async turn<T>(tenant: string, piece: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#pieces++
    try {
      return await this.#turns.run(tenant, piece, {
        ...(signal !== undefined && { signal }),
        isPatient: true
      })
    } finally {
      this.#pieces--
    }
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

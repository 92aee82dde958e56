import type { Memory } from '../market/log.ts'

/** Memory of its own for everything. */
export const NEW_MEMORY: Memory = { take: (length) => Buffer.allocUnsafeSlow(length) }

/** A copy of some bytes, in some memory. */
export function copied(bytes: Uint8Array, memory: Memory): Buffer {
  const copy = memory.take(bytes.length)
  copy.set(bytes)
  return copy
}

/** Bytes that several arenas may still keep, together. */
export interface Budget {
  left: number
}

/**
 * Memory for what is needed together and forgotten together, used again and again: what is given anew for each page of a
 * replay, 3 kB an event, has the engine collect garbage for a third of the time.
 */
export class Arena implements Memory {
  readonly #budget: Budget
  readonly #bytesMax: number
  #bytes: Buffer = Buffer.alloc(0)
  #next = 0
  /** All that was taken since the last time that it was used again. */
  #taken = 0

  /** It keeps at most so many bytes, as far as the budget has them; what is taken beyond them has memory of its own. */
  constructor(budget: Budget, bytesMax: number) {
    this.#budget = budget
    this.#bytesMax = bytesMax
  }

  take(length: number): Buffer {
    this.#taken += length
    const end = this.#next + length
    if (end > this.#bytes.length) return NEW_MEMORY.take(length)
    const taken = this.#bytes.subarray(this.#next, end)
    this.#next = end
    return taken
  }

  /** Says that nothing of what was taken is needed any more: it is given again. */
  reuse(): void {
    const more = Math.min(this.#taken, this.#bytesMax) - this.#bytes.length
    if (more > 0 && more <= this.#budget.left) {
      this.#budget.left -= more
      this.#bytes = NEW_MEMORY.take(this.#bytes.length + more)
    }
    this.#next = 0
    this.#taken = 0
  }

  /** Says that what was taken is still needed, or that nothing is taken any more: no memory is kept. */
  leave(): void {
    this.#budget.left += this.#bytes.length
    this.#bytes = Buffer.alloc(0)
    this.#next = 0
    this.#taken = 0
  }
}

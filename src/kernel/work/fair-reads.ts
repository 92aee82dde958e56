import { ERRORS, ServiceError } from '../errors.ts'
import type { Places } from './turns.ts'
import { TurnOrder } from './turn-order.ts'

/**
 * Reads of a shared store that are in flight: all together, and of one tenant. One call of the store has up to 32 reads in
 * flight, and answers no later for this limit. The others are for the reads of other tenants.
 */
export const READ_PLACES: Places = { all: 64, ofTenant: 32 }

/** Milliseconds after which a read that waited is not sent: longer than the deadline of an answer, which no longer needs it. */
const WAIT_MS = 3_500

/**
 * Lets the reads of tenants go to a shared store, so that the reads of one wait in this process and not in the server, in
 * front of those of another. The tenant with the fewest reads in flight is next (`TurnOrder`).
 */
export class FairReads {
  readonly #elapsedMs: () => number
  readonly #places: Places
  readonly #order = new TurnOrder<() => void>()
  #running = 0

  constructor(elapsedMs: () => number, places = READ_PLACES) {
    this.#elapsedMs = elapsedMs
    this.#places = places
  }

  /** Number of reads that wait. */
  get waiting(): number {
    return this.#order.waiting
  }

  /**
   * Calls `read` once the tenant has a place, and resolves or rejects as `read` does. Rejects with STORAGE_UNAVAILABLE if
   * the wait took more than WAIT_MS; `read` is then not called.
   */
  async run<T>(tenant: string, read: () => Promise<T>): Promise<T> {
    const askedMs = this.#elapsedMs()
    if (this.#running < this.#places.all && this.#order.runningOf(tenant) < this.#places.ofTenant) {
      this.#running++
      this.#order.start(tenant)
    } else await new Promise<void>((resolve) => this.#order.add(tenant, resolve))
    const beganMs = this.#elapsedMs()
    try {
      if (beganMs - askedMs > WAIT_MS)
        throw new ServiceError(
          ERRORS.STORAGE_UNAVAILABLE,
          `earlier reads of this tenant kept the store busy for more than ${WAIT_MS} ms`
        )
      return await read()
    } finally {
      this.#running--
      this.#order.end(tenant, this.#elapsedMs() - beganMs)
      this.#fill()
    }
  }

  #fill(): void {
    while (this.#running < this.#places.all) {
      const begin = this.#order.next(this.#places.ofTenant)
      if (begin === null) return
      this.#running++
      begin()
    }
  }
}

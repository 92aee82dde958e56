import type { Clock } from '../../src/ports.ts'
import { releasedFor, shareOf, type Places } from '../../src/transactions/places.ts'
import { TRACKED_PER_PROCESS_MAX, TRACKED_PER_TENANT_MAX } from '../../src/transactions/submission.ts'
import type { TrackedTransaction } from './tracked-transaction.ts'
import type { TransactionTable } from './transaction-table.ts'

/**
 * The places of a process for tracked transactions. If all are in use, an idle transaction of the tenant with the most
 * places releases its own.
 */
export class TrackedPlaces {
  readonly #table: TransactionTable
  readonly #clock: Clock
  #isFull = false
  /** Transactions whose tracking ends early, because another transaction needs the place; until the end is stored. */
  readonly #released = new Set<TrackedTransaction>()

  constructor(table: TransactionTable, clock: Clock) {
    this.#table = table
    this.#clock = clock
  }

  /** Whether the last transaction that needed a place got none. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** The places in use, as they count for a tenant. */
  of(tenant: string): Places {
    const own = this.#table.count(tenant)
    const tenants = this.#table.tenants + Number(own === 0)
    const process = this.#inUse
    const idle = own >= TRACKED_PER_TENANT_MAX ? this.#table.ofTenant(tenant).filter(this.#isIdle).length : 0
    const isFull = process >= TRACKED_PER_PROCESS_MAX && idle === 0
    const released = isFull ? releasedFor(tenant, this.#table.byTenant, this.#isIdle) : null
    return {
      process: idle > 0 || released !== null ? process - 1 : process,
      tenant: own - idle,
      share: shareOf(tenants)
    }
  }

  /** Finds a place for a transaction; `released` is one that releases its own, and whose tracking ends. */
  take(transaction: TrackedTransaction): {
    readonly hasPlace: boolean
    readonly released: TrackedTransaction | null
  } {
    const released = this.#isIdle(transaction) ? null : this.#release(transaction.value.tenant)
    this.#isFull = this.#inUse >= TRACKED_PER_PROCESS_MAX
    return { hasPlace: !this.#isFull, released }
  }

  /** Forgets a transaction that is no longer tracked. */
  forget(transaction: TrackedTransaction): void {
    this.#released.delete(transaction)
  }

  /** Places in use, without those of transactions that are being released. */
  get #inUse(): number {
    return this.#table.size - this.#released.size
  }

  /** Tells whether a transaction is only waited for: it has a durable nonce, is no longer sent, and no block has it. */
  #isIdle = (each: TrackedTransaction): boolean =>
    each.value.nonceAccount !== null &&
    each.state === 'sent' &&
    !each.isSending &&
    !this.#released.has(each) &&
    !each.isLooping(this.#clock.now())

  /** Releases the place of an idle transaction if a tenant needs one, and returns the transaction; null if it does not. */
  #release(tenant: string): TrackedTransaction | null {
    const isFull =
      this.#inUse >= TRACKED_PER_PROCESS_MAX || this.#table.count(tenant) >= TRACKED_PER_TENANT_MAX
    const released = isFull ? releasedFor(tenant, this.#table.byTenant, this.#isIdle) : null
    if (released !== null) this.#released.add(released)
    return released
  }
}

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
  readonly #endTracking: (transaction: TrackedTransaction) => void
  #isFull = false
  /** Transactions whose tracking ends early, because another transaction needs the place; until the end is stored. */
  readonly #released = new Set<TrackedTransaction>()

  /** `endTracking` is called with a transaction that releases its place. */
  constructor(table: TransactionTable, clock: Clock, endTracking: (transaction: TrackedTransaction) => void) {
    this.#table = table
    this.#clock = clock
    this.#endTracking = endTracking
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

  /** Finds a place for a transaction. Returns false if all are taken. */
  take(transaction: TrackedTransaction): boolean {
    if (!this.#isIdle(transaction)) this.#makeRoom(transaction.value.tenant)
    this.#isFull = this.#inUse >= TRACKED_PER_PROCESS_MAX
    return !this.#isFull
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

  /** Ends the tracking of an idle transaction if a tenant needs its place. */
  #makeRoom(tenant: string): void {
    const isFull =
      this.#inUse >= TRACKED_PER_PROCESS_MAX || this.#table.count(tenant) >= TRACKED_PER_TENANT_MAX
    const released = isFull ? releasedFor(tenant, this.#table.byTenant, this.#isIdle) : null
    if (released === null) return
    this.#released.add(released)
    this.#endTracking(released)
  }
}

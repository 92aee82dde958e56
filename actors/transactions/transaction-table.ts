import { TRACKED_LABELS, type TrackedLabel } from '../../src/transactions/metrics.ts'
import type { TenantPlaces } from '../../src/transactions/places.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import type { TrackedTransaction } from './tracked-transaction.ts'

/** Tracked transactions under their tenants. Two tenants may have submitted one signature. */
export class TransactionTable implements Iterable<TrackedTransaction> {
  readonly #tenants = new Map<string, Map<string, TrackedTransaction>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get tenants(): number {
    return this.#tenants.size
  }

  /** Numbers of transactions by state; those that are over are left out. */
  get states(): Record<TrackedLabel, number> {
    const counts = { sent: 0, failing: 0, processed: 0, confirmed: 0, claimed: 0 }
    for (const { state } of this) {
      const label = TRACKED_LABELS.find((each) => each === state)
      if (label !== undefined) counts[label]++
    }
    return counts
  }

  count(tenant: string): number {
    return this.#tenants.get(tenant)?.size ?? 0
  }

  /** The transactions of each tenant, in the order in which they were added. */
  get byTenant(): readonly TenantPlaces<TrackedTransaction>[] {
    return [...this.#tenants.keys()].map((tenant) => ({ tenant, items: this.ofTenant(tenant) }))
  }

  ofTenant(tenant: string): readonly TrackedTransaction[] {
    return [...(this.#tenants.get(tenant)?.values() ?? [])]
  }

  get(tenant: string, signature: string): TrackedTransaction | undefined {
    return this.#tenants.get(tenant)?.get(signature)
  }

  /** Returns the transactions with a signature, of any tenant. */
  having(signature: string): readonly TrackedTransaction[] {
    return [...this.#tenants.values()].flatMap((own) => own.get(signature) ?? [])
  }

  /** Returns the transactions of a shard. */
  of(claim: ShardClaim): readonly TrackedTransaction[] {
    return [...this].filter((each) => each.claim === claim)
  }

  add(transaction: TrackedTransaction): void {
    const { tenant, signature } = transaction.value
    const own = this.#tenants.get(tenant) ?? new Map<string, TrackedTransaction>()
    this.#tenants.set(tenant, own)
    own.set(signature, transaction)
    this.#size++
  }

  delete(transaction: TrackedTransaction): void {
    const { tenant, signature } = transaction.value
    const own = this.#tenants.get(tenant)
    if (own?.get(signature) !== transaction) return
    own.delete(signature)
    this.#size--
    if (own.size === 0) this.#tenants.delete(tenant)
  }

  *[Symbol.iterator](): Generator<TrackedTransaction> {
    for (const own of this.#tenants.values()) yield* own.values()
  }
}

import { randomInt } from 'node:crypto'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, PAGE_MAX, type Stored } from '../../storage/documents.ts'
import { ServiceError } from '../kernel/errors.ts'
import { WATCHED_ADDRESS, WATCHED_PER_TENANT_MAX, type WatchedAddress } from './watched-address.ts'
import { SHARD_NAMES, tenantShard } from '../access/tenant-shard.ts'
import { TenantChanges } from '../access/tenant-changes.ts'

/** Maximum attempts when other processes change the addresses concurrently; changes of this process are queued. */
const ATTEMPTS_MAX = 10

/** The facts of an address that a tenant states. */
export type WatchedFacts = Pick<WatchedAddress, 'address' | 'label' | 'role'>

export interface WatchOutcome {
  readonly isNew: boolean
  readonly watched: WatchedAddress
}

/** The watched addresses of all tenants, as stored. */
export class WatchedAddresses {
  readonly #documents: Documents<WatchedAddress, never, 'slot'>
  readonly #changes = new TenantChanges()

  constructor(store: DocumentStore) {
    this.#documents = new Documents(store, WATCHED_ADDRESS)
  }

  /** Lists the addresses of a tenant in the order of their base58. */
  async list(tenant: string): Promise<readonly WatchedAddress[]> {
    return (await this.#of(tenant)).map(({ value }) => value)
  }

  /** Lists the addresses of all tenants. */
  async all(): Promise<readonly Stored<WatchedAddress>[]> {
    const shards = await Promise.all(SHARD_NAMES.map((shard) => this.#documents.all(shard)))
    return shards.flat()
  }

  /** Watches an address, or changes its tenant's facts about it. Rejects with WATCH_LIMIT_REACHED. */
  watch(tenant: string, facts: WatchedFacts, nowMs: number): Promise<WatchOutcome> {
    return this.#changes.run(tenant, () => this.#watch(tenant, facts, nowMs))
  }

  /** Returns a watched address. Rejects with WATCH_NOT_FOUND. */
  async get(tenant: string, address: string): Promise<WatchedAddress> {
    const stored = await this.#documents.get(tenantShard(tenant), [tenant, address])
    if (stored === null) throw unknown()
    return stored.value
  }

  /** Ends the watch of an address. Rejects with WATCH_NOT_FOUND. */
  unwatch(tenant: string, address: string): Promise<void> {
    return this.#changes.run(tenant, () => this.#unwatch(tenant, address))
  }

  /** Sets where the ledger of an address begins, unless it has begun. A deleted address stays deleted. */
  async begin(
    watched: Stored<WatchedAddress>,
    captureFrom: NonNullable<WatchedAddress['captureFrom']>
  ): Promise<void> {
    await this.#documents.change(watched, (value) =>
      value.captureFrom === null ? { ...value, captureFrom } : value
    )
  }

  async #watch(tenant: string, facts: WatchedFacts, nowMs: number): Promise<WatchOutcome> {
    // A random slot is free, unless the tenant has many addresses: so most watches list no others.
    let slot = randomInt(WATCHED_PER_TENANT_MAX)
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const before = await this.#documents.get(tenantShard(tenant), [tenant, facts.address])
      if (before !== null) {
        const { label, role } = facts
        const outcome = await this.#documents.change(before, (value) =>
          value.label === label && value.role === role ? value : { ...value, label, role }
        )
        if (outcome.ok) return { isNew: false, watched: outcome.stored.value }
        continue
      }
      const watched = { tenant, ...facts, slot, createdAtMs: nowMs, captureFrom: null }
      const outcome = await this.#documents.insert(watched)
      if (outcome.ok) return { isNew: true, watched }
      if (outcome.reason === 'taken') slot = await this.#freeSlot(tenant)
    }
    throw busy(facts.address)
  }

  async #unwatch(tenant: string, address: string): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const stored = await this.#documents.get(tenantShard(tenant), [tenant, address])
      if (stored === null) throw unknown()
      if (await this.#documents.delete(stored)) return
    }
    throw busy(address)
  }

  /** Returns a random slot that no address of a tenant has. Rejects with WATCH_LIMIT_REACHED. */
  async #freeSlot(tenant: string): Promise<number> {
    const taken = new Set((await this.#of(tenant)).map(({ value }) => value.slot))
    const free = Array.from({ length: WATCHED_PER_TENANT_MAX }, (_, slot) => slot).filter(
      (slot) => !taken.has(slot)
    )
    if (free.length > 0) return free[randomInt(free.length)]!
    throw new ServiceError(
      'WATCH_LIMIT_REACHED',
      `this tenant watches ${WATCHED_PER_TENANT_MAX} addresses, the most a tenant may watch`
    )
  }

  async #of(tenant: string): Promise<readonly Stored<WatchedAddress>[]> {
    const page = await this.#documents.list(tenantShard(tenant), { prefix: [tenant], limit: PAGE_MAX })
    return page.documents
  }
}

function unknown(): ServiceError {
  return new ServiceError('WATCH_NOT_FOUND', 'this tenant does not watch this address')
}

function busy(address: string): ServiceError {
  return new ServiceError(
    'STORAGE_UNAVAILABLE',
    `the watch of ${address} was changed concurrently ${ATTEMPTS_MAX} times; retry`
  )
}

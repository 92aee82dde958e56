import { randomInt } from 'node:crypto'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, PAGE_MAX, type Stored } from '../../storage/documents.ts'
import { ERRORS, ServiceError } from '../kernel/errors.ts'
import { REVENUE_ERRORS } from './errors.ts'
import {
  ENDED_WATCH,
  WATCHED_ADDRESS,
  WATCHED_PER_TENANT_MAX,
  type EndedWatch,
  type WatchedAddress
} from './watched-address.ts'
import { isRequested, requested, withImported } from './history-request.ts'
import type { SlotRange } from './slot-ranges.ts'
import {
  begun,
  ended,
  IMPORTED_ROWS_MAX,
  NO_HISTORY,
  type LedgerSince,
  type LedgerStart,
  type StoredEnd,
  type WatchHistory
} from './watch-history.ts'
import { SHARD_NAMES, tenantShard } from '../access/tenant-shard.ts'
import { TenantChanges } from '../access/tenant-changes.ts'

/** Maximum attempts when other processes change the addresses concurrently; changes of this process are queued. */
const ATTEMPTS_MAX = 10

/** Parsed documents that are cached, 1 KB each: those of ten tenants. */
const PARSED_MAX = 10 * WATCHED_PER_TENANT_MAX

/** The facts of an address that a tenant states. */
export interface WatchedFacts extends Pick<WatchedAddress, 'address' | 'label' | 'role'> {
  /** The requested start of its ledger; absent to leave it as it is. */
  readonly since?: LedgerSince | undefined
}

export interface WatchOutcome {
  readonly isNew: boolean
  readonly watched: WatchedAddress
}

/** The watched addresses of all tenants, as stored. */
export class WatchedAddresses {
  readonly #documents: Documents<WatchedAddress, never, 'slot'>
  readonly #ended: Documents<EndedWatch>
  readonly #changes = new TenantChanges()
  /** Documents that were read lately, by version: polls of a tenant parse them once. */
  readonly #parsed = new Map<string, Stored<WatchedAddress>>()

  constructor(store: DocumentStore) {
    this.#documents = new Documents(store, WATCHED_ADDRESS)
    this.#ended = new Documents(store, ENDED_WATCH)
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

  /** Returns the time by which a new request for history is named: after the one before. Rejects with WATCH_NOT_FOUND. */
  async nextRequestMs(tenant: string, address: string, nowMs: number): Promise<number> {
    const { history = NO_HISTORY } = await this.get(tenant, address)
    return Math.max(nowMs, history.requestedAtMs + 1)
  }

  /**
   * Requests the history of a watched address since a slot or a time. A request of this time that is stored already changes
   * nothing. Rejects with WATCH_NOT_FOUND.
   */
  async requestHistory(
    tenant: string,
    address: string,
    since: LedgerSince,
    requestedAtMs: number
  ): Promise<WatchedAddress> {
    const watched = await this.get(tenant, address)
    if (isRequested(watched, requestedAtMs)) return watched
    return this.#request(tenant, address, (value) => requested(value, since, requestedAtMs))
  }

  /**
   * Takes the stored archived rows of some slots as all that there are. Resolves with null if there are too many ranges. A
   * request of this time that is stored already changes nothing. Rejects with WATCH_NOT_FOUND.
   */
  async importRanges(
    tenant: string,
    address: string,
    ranges: readonly SlotRange[],
    requestedAtMs: number
  ): Promise<WatchedAddress | null> {
    const watched = await this.get(tenant, address)
    if (isRequested(watched, requestedAtMs)) return watched
    const change = withImported(watched, ranges, requestedAtMs)
    return change === null ? null : this.#request(tenant, address, change)
  }

  /** Counts rows before they are imported. Rejects with WATCH_NOT_FOUND, or with IMPORT_LIMIT_REACHED. */
  async countImported(tenant: string, address: string, rows: number): Promise<void> {
    const { history: before = NO_HISTORY } = await this.get(tenant, address)
    if (before.importedRows + rows > IMPORTED_ROWS_MAX)
      throw new ServiceError(
        REVENUE_ERRORS.IMPORT_LIMIT_REACHED,
        `${before.importedRows} rows of this address were imported, and ${IMPORTED_ROWS_MAX} are the limit`
      )
    await this.#request(tenant, address, (value) => {
      const history = value.history ?? NO_HISTORY
      return { ...value, history: { ...history, importedRows: history.importedRows + rows } }
    })
  }

  #request(
    tenant: string,
    address: string,
    change: (watched: WatchedAddress) => WatchedAddress
  ): Promise<WatchedAddress> {
    return this.#changes.run(tenant, async () => {
      const stored = await this.#documents.get(tenantShard(tenant), [tenant, address])
      const outcome = stored === null ? null : await this.#documents.change(stored, change)
      if (outcome?.ok !== true) throw unknown()
      return outcome.stored.value
    })
  }

  /**
   * Changes the history of a watch. Resolves with the changed watch; with null if the watch has ended, or has another
   * request.
   */
  async changeHistory(
    { tenant, address, history: { requestedAtMs } = NO_HISTORY }: WatchedAddress,
    change: (history: WatchHistory) => WatchHistory
  ): Promise<WatchedAddress | null> {
    const stored = await this.#documents.get(tenantShard(tenant), [tenant, address])
    if (stored === null) return null
    const outcome = await this.#documents.change(stored, (value) =>
      value.history?.requestedAtMs === requestedAtMs ? { ...value, history: change(value.history) } : value
    )
    if (!outcome.ok) return null
    const { value } = outcome.stored
    return value.history?.requestedAtMs === requestedAtMs ? value : null
  }

  /**
   * Ends the watch of an address. `end` is the last block whose rows are stored: a later watch continues the ledger there.
   * Rejects with WATCH_NOT_FOUND.
   */
  unwatch(tenant: string, address: string, end: StoredEnd | null): Promise<void> {
    return this.#changes.run(tenant, () => this.#unwatch(tenant, address, end))
  }

  /** Begins the ledger of an address, unless it has begun. A deleted address stays deleted. */
  async begin(watched: Stored<WatchedAddress>, captureFrom: LedgerStart): Promise<void> {
    await this.#documents.change(watched, (value) =>
      value.captureFrom === null ? { ...value, ...begun(captureFrom, value.history) } : value
    )
  }

  async #watch(tenant: string, facts: WatchedFacts, nowMs: number): Promise<WatchOutcome> {
    // A random slot is free, unless the tenant has many addresses: so most watches list no others.
    let slot = randomInt(WATCHED_PER_TENANT_MAX)
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const before = await this.#documents.get(tenantShard(tenant), [tenant, facts.address])
      if (before !== null) {
        const { label, role, since } = facts
        const outcome = await this.#documents.change(before, (value) => {
          const named = value.label === label && value.role === role ? value : { ...value, label, role }
          return since === undefined ? named : requested(named, since, nowMs)
        })
        if (outcome.ok) return { isNew: false, watched: outcome.stored.value }
        continue
      }
      const { address, label, role, since } = facts
      const named = { tenant, address, label, role, slot, createdAtMs: nowMs, captureFrom: null }
      const resumed = await this.#resumed(named, nowMs)
      const watched = since === undefined ? resumed : requested(resumed, since, nowMs)
      const outcome = await this.#documents.insert(watched)
      if (outcome.ok) return { isNew: true, watched }
      if (outcome.reason === 'taken') slot = await this.#freeSlot(tenant)
    }
    throw busy(facts.address)
  }

  /** Returns a new watch with the history of the tenant's previous watch of the address. */
  async #resumed(watched: WatchedAddress, nowMs: number): Promise<WatchedAddress> {
    const { tenant, address } = watched
    const before = await this.#ended.get(tenantShard(tenant), [tenant, address])
    return before === null
      ? watched
      : { ...watched, history: { ...before.value.history, requestedAtMs: nowMs } }
  }

  /** Stores what a later watch continues. It does not count while the address is watched. */
  async #retain(
    { tenant, address, captureFrom, history }: WatchedAddress,
    end: StoredEnd | null
  ): Promise<void> {
    const retained = ended(captureFrom, history, end)
    if (retained === null) return
    const row = { tenant, address, history: retained }
    const before = await this.#ended.get(tenantShard(tenant), [tenant, address])
    if (before === null) await this.#ended.insert(row)
    else await this.#ended.change(before, () => row)
  }

  async #unwatch(tenant: string, address: string, end: StoredEnd | null): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      const stored = await this.#documents.get(tenantShard(tenant), [tenant, address])
      if (stored === null) throw unknown()
      await this.#retain(stored.value, end)
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
      REVENUE_ERRORS.WATCH_LIMIT_REACHED,
      `this tenant watches ${WATCHED_PER_TENANT_MAX} addresses, the most a tenant may watch`
    )
  }

  async #of(tenant: string): Promise<readonly Stored<WatchedAddress>[]> {
    const range = { prefix: [tenant], limit: PAGE_MAX }
    const page = await this.#documents.list(tenantShard(tenant), range, (version) =>
      this.#parsed.get(version)
    )
    for (const stored of page.documents) this.#parsed.set(stored.version, stored)
    // The oldest come first.
    const surplus = Math.max(0, this.#parsed.size - PARSED_MAX)
    for (const version of [...this.#parsed.keys().take(surplus)]) this.#parsed.delete(version)
    return page.documents
  }
}

function unknown(): ServiceError {
  return new ServiceError(REVENUE_ERRORS.WATCH_NOT_FOUND, 'this tenant does not watch this address')
}

function busy(address: string): ServiceError {
  return new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    `the watch of ${address} was changed concurrently ${ATTEMPTS_MAX} times; retry`
  )
}

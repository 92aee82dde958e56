import { randomUUID } from 'node:crypto'
import { ALL, apiKeysIn, type KeyRow, type TenantRow } from '../../storage/access-documents.ts'
import type { Stored } from '../../storage/documents.ts'
import type { Storage } from '../../storage/port.ts'
import { ServiceError } from '../kernel/errors.ts'
import { ACCESS_ERRORS } from './errors.ts'
import { hashApiKey, makeApiKey } from './api-key.ts'
import { keyState, type Caller } from './caller.ts'
import { ChangeQueue } from './change-queue.ts'
import { KeyRing } from './key-ring.ts'
import type { OriginUse } from './origin-entry.ts'
import type { OtherProcesses } from './other-processes.ts'
import { keyBytes, newKey, type IssuedKey, type KeyAttributes } from './key-row.ts'
import { byVersion } from './stored-versions.ts'
import { TenantDirectory } from './tenant-directory.ts'

/** Keys of a service, expired and revoked ones included; each takes about 2 KB of memory. */
export const KEYS_MAX = 100_000
/**
 * Bytes of all keys in the store: 720 each on average, and a key with the usual attributes has 620. They are in one partition,
 * which has 97 MB on a cluster then.
 */
export const KEYS_BYTES_MAX = 72_000_000
/** Maximum active keys of a tenant: a hundredth of all, so that no single tenant uses up the keys of the others. */
export const KEYS_PER_TENANT_MAX = 1_000

/**
 * Every tenant and key, in memory, so that a request does not wait for the store. All changes are made here: each is
 * durable first, then in effect for all requests.
 *
 * D1. Changes and reloads run one after another, so that a reload cannot undo a concurrent change.
 * D2. On a shared store a change begins by reading the key from the store, and a reload adds the changes of other
 *     processes. `followKeys` reloads in time.
 * D3. A change replaces the version that it has read. If another process has changed the key meanwhile, the change is
 *     retried on the newer version. So a revoked key stays revoked.
 * D4. A change whose outcome is unknown is followed by a reload. A late answer of the store takes effect only if it is
 *     newer.
 */
export class KeyDirectory {
  readonly #keyDocuments: ReturnType<typeof apiKeysIn>
  readonly #ring: KeyRing
  readonly #others: OtherProcesses | null
  readonly #tenants: TenantDirectory
  /** Keys as they were last read or written, by id. */
  #stored = new Map<string, Stored<KeyRow>>()
  /** Changes and reloads (D1). */
  readonly #queue = new ChangeQueue(() => this.#reload())

  private constructor(
    { documents }: Pick<Storage, 'documents'>,
    defaultRatePerMinute: number,
    others: OtherProcesses | null,
    defaultWorkPerMinute: number | undefined
  ) {
    this.#tenants = new TenantDirectory(documents, others)
    this.#keyDocuments = apiKeysIn(documents)
    this.#ring = new KeyRing(defaultRatePerMinute, defaultWorkPerMinute)
    this.#others = others
  }

  /**
   * Loads all keys and tenants. Keys without a rate get `defaultRatePerMinute`, and those without a limit of work
   * `defaultWorkPerMinute`. `others` is null if no other process shares the store.
   */
  static async load(
    storage: Pick<Storage, 'documents'>,
    defaultRatePerMinute: number,
    others: OtherProcesses | null = null,
    defaultWorkPerMinute?: number
  ): Promise<KeyDirectory> {
    const directory = new KeyDirectory(storage, defaultRatePerMinute, others, defaultWorkPerMinute)
    await directory.reload()
    return directory
  }

  /** Adds the changes of other processes. Rejects with the store's error, and then changes nothing. */
  reload(): Promise<void> {
    return this.#queue.reload()
  }

  /** Returns the caller of a key, as `KeyRing.find` does. */
  find(key: string, connection?: object): Caller | null {
    return this.#ring.find(key, connection)
  }

  /**
   * Looks for a key of the shared store that this process does not know yet, and adds it: resolves with whether it is there.
   * Rejects with the store's error. A store of one process has no such key.
   */
  async lookUp(key: string): Promise<boolean> {
    if (this.#others === null) return false
    return this.#queue.run(async () => (await this.#made(key)) !== null)
  }

  /** Whether other processes make keys too. */
  get isShared(): boolean {
    return this.#others !== null
  }

  /** All keys, in order of creation. */
  get keys(): readonly KeyRow[] {
    return this.#ring.keys
  }

  /** All tenants in order of creation. */
  get tenants(): readonly TenantRow[] {
    return this.#tenants.rows
  }

  /** Units of work a minute of a key that states no limit. */
  get defaultWorkPerMinute(): number {
    return this.#ring.defaultWorkPerMinute
  }

  /** Returns the keys of a tenant in order of creation. Throws TENANT_NOT_FOUND. */
  keysOf(tenant: string): readonly KeyRow[] {
    if (!this.#tenants.has(tenant))
      throw new ServiceError(ACCESS_ERRORS.TENANT_NOT_FOUND, `there is no tenant ${tenant}`)
    return this.keys.filter((row) => row.tenant === tenant)
  }

  /** Returns the caller of the current key with an id; undefined if no key has the id. */
  caller(id: string): Caller | undefined {
    return this.#ring.caller(id)
  }

  /** Returns the key with an id. Throws KEY_NOT_FOUND. */
  key(id: string): KeyRow {
    return this.#known(id).value
  }

  /** Tells whether any active key lists an origin for a part of the API. */
  admitsOrigin(origin: string, nowMs: number, use: OriginUse): boolean {
    return this.#ring.admitsOrigin(origin, nowMs, use)
  }

  /** Creates a tenant, as `TenantDirectory.create` does, and notifies the other processes. */
  createTenant(name: string, nowMs: number, operation: string = randomUUID()): Promise<TenantRow> {
    return this.#queue.run(() => this.#tenants.create(name, nowMs, operation))
  }

  /**
   * Creates a key with a secret, or returns the one that was created with it. Rejects with TENANT_NOT_FOUND or
   * KEY_LIMIT_REACHED.
   */
  issue(attributes: KeyAttributes, nowMs: number, secret = makeApiKey()): Promise<IssuedKey> {
    return this.#queue.run(async () => {
      const made = await this.#made(secret)
      if (made !== null) return made
      const { tenant } = attributes
      if (this.#others !== null && !this.#tenants.has(tenant)) await this.#reload()
      const working = this.keysOf(tenant).filter((row) => keyState(row, nowMs) === 'active')
      if (working.length >= KEYS_PER_TENANT_MAX) {
        throw new ServiceError(
          ACCESS_ERRORS.KEY_LIMIT_REACHED,
          `${tenant} has reached its limit of ${KEYS_PER_TENANT_MAX} keys; revoke keys that are no longer used`
        )
      }
      return this.#issue(attributes, nowMs, secret)
    })
  }

  /**
   * Creates a successor with the key's attributes. The old key stays valid for `graceMs`, at most until its own expiry, and
   * strictly before that time. A repeat with the successor's secret returns that successor. Rejects with KEY_NOT_FOUND,
   * KEY_INACTIVE or KEY_LIMIT_REACHED.
   */
  rotate(id: string, graceMs: number, nowMs: number, secret = makeApiKey()): Promise<IssuedKey> {
    return this.#queue.run(async () => {
      const { value: row } = await this.#current(id)
      const made = await this.#made(secret)
      if (made !== null && row.successor === made.row.id) return made
      assertRotatable(row, nowMs)
      // The successor is stored first: after a crash between the two writes, the old key is still valid.
      const issued = made ?? (await this.#issue(row, nowMs, secret))
      const successor = issued.row.id
      const rotated = await this.#change(id, (now) => {
        const expiresAtMs = Math.min(nowMs + graceMs, now.expiresAtMs ?? Infinity)
        return now.successor === null ? { ...now, expiresAtMs, successor } : now
      })
      if (rotated.successor === successor) return issued
      // Another process has rotated the key meanwhile. Nobody has seen the secret of the second successor.
      await this.#change(successor, (key) => ({ ...key, revokedAtMs: nowMs }))
      throw new ServiceError(ACCESS_ERRORS.KEY_INACTIVE, rotatedTo(rotated.successor))
    })
  }

  /**
   * Revokes a key at once; revoking it again changes nothing. Rejects with KEY_NOT_FOUND, and with KEY_LAST for the
   * only active admin key, without which nobody could make another.
   */
  revoke(id: string, nowMs: number): Promise<KeyRow> {
    return this.#queue.run(async () => {
      const { value: row } = await this.#current(id)
      if (row.revokedAtMs !== null) return row
      const isWorkingAdmin = (key: KeyRow) =>
        key.scopes.includes('admin') && keyState(key, nowMs) === 'active'
      if (this.#others !== null && isWorkingAdmin(row)) await this.#reload()
      if (isWorkingAdmin(row) && !this.keys.some((other) => other.id !== id && isWorkingAdmin(other))) {
        throw new ServiceError(
          ACCESS_ERRORS.KEY_LAST,
          'this is the last active admin key; create another admin key first'
        )
      }
      return this.#change(id, (now) => (now.revokedAtMs === null ? { ...now, revokedAtMs: nowMs } : now))
    })
  }

  /** Returns the key that has a secret; null if no key has it. */
  async #made(secret: string): Promise<IssuedKey | null> {
    const stored = await this.#keyDocuments.findBy('hash', ALL, [hashApiKey(secret)])
    if (stored === null) return null
    this.#takeEffect(stored)
    return { row: stored.value, key: secret }
  }

  async #issue(attributes: KeyAttributes, nowMs: number, secret: string): Promise<IssuedKey> {
    if (this.#ring.size >= KEYS_MAX) {
      throw new ServiceError(
        ACCESS_ERRORS.KEY_LIMIT_REACHED,
        `the limit of ${KEYS_MAX} keys is reached; revoke keys that are no longer used`
      )
    }
    const issued = newKey(secret, attributes, nowMs)
    if (this.#ring.bytes + keyBytes(issued.row) > KEYS_BYTES_MAX) {
      throw new ServiceError(
        ACCESS_ERRORS.KEY_LIMIT_REACHED,
        `all keys together take ${KEYS_BYTES_MAX} bytes, the limit; use shorter lists of addresses and origins`
      )
    }
    const inserted = await this.#keyDocuments.insert(issued.row)
    if (!inserted.ok) throw new Error(`a random key is not new: ${inserted.reason}`)
    this.#takeEffect(inserted.stored)
    this.#others?.publish()
    return issued
  }

  /** Changes the stored key durably, then puts the change into effect (INVARIANTS 4). Returns the key as stored. */
  async #change(id: string, change: (row: KeyRow) => KeyRow): Promise<KeyRow> {
    const known = this.#known(id)
    const changed = await this.#keyDocuments.change(known, change)
    if (!changed.ok) throw new ServiceError(ACCESS_ERRORS.KEY_NOT_FOUND, 'the key is gone from the store')
    if (changed.stored === known) return known.value
    this.#takeEffect(changed.stored)
    this.#others?.publish()
    return changed.stored.value
  }

  #takeEffect(key: Stored<KeyRow>): void {
    // The answer to an earlier change can come after a later one (D4).
    if (this.#stored.get(key.value.id)?.header.trail.includes(key.version) === true) return
    this.#stored.set(key.value.id, key)
    this.#ring.put(key.value)
  }

  /** Returns a key from this process's memory. Throws KEY_NOT_FOUND. */
  #known(id: string): Stored<KeyRow> {
    const stored = this.#stored.get(id)
    if (stored === undefined)
      throw new ServiceError(ACCESS_ERRORS.KEY_NOT_FOUND, 'there is no key of this id')
    return stored
  }

  /** Returns the stored key. Rejects with KEY_NOT_FOUND. */
  async #current(id: string): Promise<Stored<KeyRow>> {
    if (this.#others === null) return this.#known(id)
    if (!this.#stored.has(id)) await this.#reload()
    return this.#read(this.#known(id))
  }

  async #read(known: Stored<KeyRow>): Promise<Stored<KeyRow>> {
    const { id, createdAtMs } = known.value
    const stored = await this.#keyDocuments.get(ALL, [createdAtMs, id])
    if (stored === null || stored.version === known.version) return known
    this.#takeEffect(stored)
    return stored
  }

  async #reload(): Promise<void> {
    const [tenants, keys] = await Promise.all([
      this.#tenants.read(),
      this.#keyDocuments.all(ALL, byVersion(this.#stored.values()))
    ])
    this.#tenants.takeIn(tenants)
    this.#stored = new Map(keys.map((key) => [key.value.id, key]))
    this.#ring.takeIn(keys.map(({ value }) => value))
  }
}

function assertRotatable(row: KeyRow, nowMs: number): void {
  const state = keyState(row, nowMs)
  if (state !== 'active')
    throw new ServiceError(ACCESS_ERRORS.KEY_INACTIVE, `this key is ${state}; create another key`)
  if (row.successor !== null) throw new ServiceError(ACCESS_ERRORS.KEY_INACTIVE, rotatedTo(row.successor))
}

const rotatedTo = (successor: string | null): string =>
  `this key was rotated; rotate its successor ${successor}`

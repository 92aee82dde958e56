import type { KeyRow, Storage, TenantRow } from '../../storage/port.ts'
import { ServiceError } from '../errors.ts'
import { makeApiKey } from './api-key.ts'
import { keyState, type Caller } from './caller.ts'
import { KeyRing } from './key-ring.ts'
import { isSameKey, newKey, type IssuedKey, type KeyAttributes } from './key-row.ts'

/** Keys of a service, expired and revoked ones included; each takes about 1 KB of memory. */
export const KEYS_MAX = 100_000
/** Active keys of a tenant. */
export const KEYS_PER_TENANT_MAX = 1_000
export const TENANTS_MAX = 10_000
/** Changes that may wait for earlier ones; one more is refused. */
const WAITING_MAX = 100

type KeyStorage = Pick<Storage, 'keys' | 'tenants'>

/** The processes that share the store's keys and tenants. */
export interface OtherProcesses {
  /** Notifies them of a change made here. */
  publish(): void
}

/**
 * Every tenant and key, in memory, so that a request does not wait for the store. All changes are made here: each is
 * durable first, then in effect for all requests.
 *
 * D1. Changes and reloads run one after another, so that a reload cannot undo a concurrent change.
 * D2. On a shared store a change begins by reading the key from the store, and a reload adds the changes of other
 *     processes; `followKeys` reloads in time.
 * D3. A revoked key stays revoked. If two processes change a key at once and the later write has not seen the
 *     revocation, the process that knows of it writes it again.
 */
export class KeyDirectory {
  readonly #storage: KeyStorage
  readonly #ring: KeyRing
  readonly #others: OtherProcesses | null
  /** Tenants in order of creation. */
  #tenants = new Map<string, TenantRow>()
  #lastChange: Promise<unknown> = Promise.resolve()
  #waiting = 0

  private constructor(storage: KeyStorage, defaultRatePerMinute: number, others: OtherProcesses | null) {
    this.#storage = storage
    this.#ring = new KeyRing(defaultRatePerMinute)
    this.#others = others
  }

  /**
   * Loads all keys and tenants. Keys without a rate get `defaultRatePerMinute`. `others` is null if this process has
   * the store alone.
   */
  static async load(
    storage: KeyStorage,
    defaultRatePerMinute: number,
    others: OtherProcesses | null = null
  ): Promise<KeyDirectory> {
    const directory = new KeyDirectory(storage, defaultRatePerMinute, others)
    await directory.reload()
    return directory
  }

  /** Adds the changes of other processes. Rejects with the store's error, and then changes nothing. */
  reload(): Promise<void> {
    return this.#next(() => this.#reload())
  }

  /** Returns the caller of a key, as `KeyRing.find` does. */
  find(key: string, connection?: object): Caller | null {
    return this.#ring.find(key, connection)
  }

  /** All keys in order of creation. */
  get keys(): readonly KeyRow[] {
    return this.#ring.keys
  }

  /** All tenants in order of creation. */
  get tenants(): readonly TenantRow[] {
    return [...this.#tenants.values()]
  }

  /** Returns the keys of a tenant in order of creation. Throws TENANT_NOT_FOUND. */
  keysOf(tenant: string): readonly KeyRow[] {
    if (!this.#tenants.has(tenant)) throw new ServiceError('TENANT_NOT_FOUND', `there is no tenant ${tenant}`)
    return this.keys.filter((row) => row.tenant === tenant)
  }

  /** Returns the key with an id; undefined without one. */
  row(id: string): KeyRow | undefined {
    return this.#ring.row(id)
  }

  /** Returns the key with an id. Throws KEY_NOT_FOUND. */
  key(id: string): KeyRow {
    const row = this.row(id)
    if (row === undefined) throw new ServiceError('KEY_NOT_FOUND', 'there is no key of this id')
    return row
  }

  /** Tells whether any active key lists an origin. */
  admitsOrigin(origin: string, nowMs: number): boolean {
    return this.#ring.admitsOrigin(origin, nowMs)
  }

  /** Creates a tenant. Rejects with TENANT_EXISTS or TENANT_LIMIT_REACHED. */
  createTenant(name: string, nowMs: number): Promise<TenantRow> {
    return this.#inTurn(async () => {
      const exists = new ServiceError('TENANT_EXISTS', `there is a tenant ${name} already`)
      if (this.#tenants.has(name)) throw exists
      if (this.#tenants.size >= TENANTS_MAX) {
        throw new ServiceError(
          'TENANT_LIMIT_REACHED',
          `there are ${TENANTS_MAX} tenants, the most there can be`
        )
      }
      const tenant = { name, createdAtMs: nowMs }
      if (!(await this.#storage.tenants.create(tenant))) throw exists
      this.#tenants.set(name, tenant)
      this.#others?.publish()
      return tenant
    })
  }

  /** Makes a key. Rejects with TENANT_NOT_FOUND or KEY_LIMIT_REACHED. */
  issue(attributes: KeyAttributes, nowMs: number): Promise<IssuedKey> {
    return this.#inTurn(async () => {
      const { tenant } = attributes
      if (this.#others !== null && !this.#tenants.has(tenant)) await this.#reload()
      const working = this.keysOf(tenant).filter((row) => keyState(row, nowMs) === 'active')
      if (working.length >= KEYS_PER_TENANT_MAX) {
        throw new ServiceError(
          'KEY_LIMIT_REACHED',
          `${tenant} has ${KEYS_PER_TENANT_MAX} keys, the most it can have`
        )
      }
      return this.#issue(attributes, nowMs)
    })
  }

  /**
   * Makes a successor with the same attributes. The old key stays valid for `graceMs`, at most until its own expiry,
   * and strictly before that time. Rejects with KEY_NOT_FOUND, KEY_INACTIVE or KEY_LIMIT_REACHED.
   */
  rotate(id: string, graceMs: number, nowMs: number): Promise<IssuedKey> {
    return this.#inTurn(async () => {
      const row = await this.#current(id)
      const state = keyState(row, nowMs)
      if (state !== 'active') throw new ServiceError('KEY_INACTIVE', `this key is ${state}; make another one`)
      if (row.successor !== null) {
        throw new ServiceError('KEY_INACTIVE', `this key was rotated; rotate its successor ${row.successor}`)
      }
      // The successor is stored first: after a crash between the two writes, the old key is still valid.
      const issued = await this.#issue(row, nowMs)
      const expiresAtMs = Math.min(nowMs + graceMs, row.expiresAtMs ?? Infinity)
      await this.#put({ ...row, expiresAtMs, successor: issued.row.id })
      return issued
    })
  }

  /**
   * Revokes a key at once; revoking it again changes nothing. Rejects with KEY_NOT_FOUND, and with KEY_LAST for the
   * only active admin key, without which nobody could make another.
   */
  revoke(id: string, nowMs: number): Promise<KeyRow> {
    return this.#inTurn(async () => {
      const row = await this.#current(id)
      if (row.revokedAtMs !== null) return row
      const isWorkingAdmin = (key: KeyRow) =>
        key.scopes.includes('admin') && keyState(key, nowMs) === 'active'
      if (this.#others !== null && isWorkingAdmin(row)) await this.#reload()
      if (isWorkingAdmin(row) && !this.keys.some((other) => other.id !== id && isWorkingAdmin(other))) {
        throw new ServiceError('KEY_LAST', 'this is the last admin key that works; make another one first')
      }
      const revoked = { ...row, revokedAtMs: nowMs }
      await this.#put(revoked)
      return revoked
    })
  }

  async #issue(attributes: KeyAttributes, nowMs: number): Promise<IssuedKey> {
    if (this.#ring.size >= KEYS_MAX) {
      throw new ServiceError('KEY_LIMIT_REACHED', `there are ${KEYS_MAX} keys, the most there can be`)
    }
    const issued = newKey(makeApiKey(), attributes, nowMs)
    await this.#put(issued.row)
    return issued
  }

  /** Stores a key durably, then puts it into effect (INVARIANTS 4). */
  async #put(row: KeyRow): Promise<void> {
    await this.#storage.keys.put(row)
    this.#ring.put(row)
    this.#others?.publish()
  }

  /** Returns a key as the store has it now. Rejects with KEY_NOT_FOUND. */
  async #current(id: string): Promise<KeyRow> {
    if (this.#others === null) return this.key(id)
    if (this.row(id) === undefined) await this.#reload()
    const known = this.key(id)
    const row = await this.#storage.keys.byHash(known.hash)
    if (row === null || isSameKey(row, known)) return known
    this.#ring.put(known.revokedAtMs === null ? row : { ...row, revokedAtMs: known.revokedAtMs })
    return this.key(id)
  }

  async #reload(): Promise<void> {
    const [tenants, keys] = await Promise.all([this.#storage.tenants.all(), this.#storage.keys.all()])
    this.#tenants = new Map(tenants.map((tenant) => [tenant.name, tenant]))
    const forgotten: KeyRow[] = []
    const rows = keys.map((row) => {
      const revokedAtMs = this.row(row.id)?.revokedAtMs ?? null
      if (revokedAtMs === null || row.revokedAtMs !== null) return row
      forgotten.push({ ...row, revokedAtMs })
      return forgotten.at(-1)!
    })
    this.#ring.takeIn(rows)
    for (const row of forgotten) await this.#put(row)
  }

  async #inTurn<T>(change: () => Promise<T>): Promise<T> {
    if (this.#waiting >= WAITING_MAX) {
      throw new ServiceError('STORAGE_UNAVAILABLE', 'too many changes of keys wait for their turn')
    }
    this.#waiting++
    return this.#next(change).finally(() => this.#waiting--)
  }

  #next<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#lastChange.then(step)
    this.#lastChange = done.catch(() => undefined)
    return done
  }
}

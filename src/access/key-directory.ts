import type { KeyRow, Storage, TenantRow } from '../../storage/port.ts'
import { ServiceError } from '../errors.ts'
import { makeApiKey } from './api-key.ts'
import { keyState, type Caller } from './caller.ts'
import { KeyRing } from './key-ring.ts'
import { isSameKey, newKey, type IssuedKey, type KeyAttributes } from './key-row.ts'

/** Keys that a service may have, those of the past included; each takes about 1 KB of memory. */
export const KEYS_MAX = 100_000
/** Keys of a tenant that work. */
export const KEYS_PER_TENANT_MAX = 1_000
export const TENANTS_MAX = 10_000
/** Changes that wait for those before them; one more is refused. */
const WAITING_MAX = 100

type KeyStorage = Pick<Storage, 'keys' | 'tenants'>

/** Other processes that have keys and tenants of the same store. */
export interface OtherProcesses {
  /** Hints them that something was changed here. */
  tell(): void
}

/**
 * Every tenant and key, in memory, so that a request waits for no store. Whoever changes one changes it here: it is
 * durable first, then in effect, at once and for all requests.
 *
 * D1. Changes and reloads are made one after another, so that no reload takes back a change that was made meanwhile.
 * D2. Where other processes have the same store, a change begins with what the store holds of its key, and a reload takes
 *     in what others have changed; `followKeys` reloads in time.
 * D3. A key that was revoked stays revoked: where two processes change a key at once and the later write has not seen the
 *     revocation, whoever knows of it writes it again.
 */
export class KeyDirectory {
  readonly #storage: KeyStorage
  readonly #ring: KeyRing
  readonly #others: OtherProcesses | null
  /** In order of creation. */
  #tenants = new Map<string, TenantRow>()
  #lastChange: Promise<unknown> = Promise.resolve()
  #waiting = 0

  private constructor(storage: KeyStorage, defaultRatePerMinute: number, others: OtherProcesses | null) {
    this.#storage = storage
    this.#ring = new KeyRing(defaultRatePerMinute)
    this.#others = others
  }

  /**
   * Reads all that a store has. Keys without a rate of their own get the given one, in calls a minute. `others` is null
   * where one process has the store alone.
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

  /** Takes in what other processes have changed. Rejects as the store does, and all stays as it was. */
  reload(): Promise<void> {
    return this.#next(() => this.#reload())
  }

  /** Who has a key, as `KeyRing.find` does. */
  find(key: string, connection?: object): Caller | null {
    return this.#ring.find(key, connection)
  }

  /** In order of creation. */
  get keys(): readonly KeyRow[] {
    return this.#ring.keys
  }

  /** In order of creation. */
  get tenants(): readonly TenantRow[] {
    return [...this.#tenants.values()]
  }

  /** Of one tenant, in order of creation. Throws TENANT_NOT_FOUND. */
  keysOf(tenant: string): readonly KeyRow[] {
    if (!this.#tenants.has(tenant)) throw new ServiceError('TENANT_NOT_FOUND', `there is no tenant ${tenant}`)
    return this.keys.filter((row) => row.tenant === tenant)
  }

  /** Undefined where there is none of the id. */
  row(id: string): KeyRow | undefined {
    return this.#ring.row(id)
  }

  /** Throws KEY_NOT_FOUND. */
  key(id: string): KeyRow {
    const row = this.row(id)
    if (row === undefined) throw new ServiceError('KEY_NOT_FOUND', 'there is no key of this id')
    return row
  }

  /** Whether pages of an origin may use any key that works. */
  admitsOrigin(origin: string, nowMs: number): boolean {
    return this.#ring.admitsOrigin(origin, nowMs)
  }

  /** Throws TENANT_EXISTS, TENANT_LIMIT_REACHED. */
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
      this.#others?.tell()
      return tenant
    })
  }

  /** Makes a key. Throws TENANT_NOT_FOUND, KEY_LIMIT_REACHED. */
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
   * Puts a successor with the same attributes in a key's place; the key itself works for the grace, at most until it
   * would have expired, and strictly before its end. Throws KEY_NOT_FOUND, KEY_INACTIVE, KEY_LIMIT_REACHED.
   */
  rotate(id: string, graceMs: number, nowMs: number): Promise<IssuedKey> {
    return this.#inTurn(async () => {
      const row = await this.#current(id)
      const state = keyState(row, nowMs)
      if (state !== 'active') throw new ServiceError('KEY_INACTIVE', `this key is ${state}; make another one`)
      if (row.successor !== null) {
        throw new ServiceError('KEY_INACTIVE', `this key was rotated; rotate its successor ${row.successor}`)
      }
      // The successor first: if all ends between the two, the old key goes on as it was.
      const issued = await this.#issue(row, nowMs)
      const expiresAtMs = Math.min(nowMs + graceMs, row.expiresAtMs ?? Infinity)
      await this.#put({ ...row, expiresAtMs, successor: issued.row.id })
      return issued
    })
  }

  /**
   * Ends a key at once; one that was revoked stays as it is. Throws KEY_NOT_FOUND, and KEY_LAST for the only admin key
   * that works, without which nobody could make another.
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

  /** Durable, then in effect (INVARIANTS 4). */
  async #put(row: KeyRow): Promise<void> {
    await this.#storage.keys.put(row)
    this.#ring.put(row)
    this.#others?.tell()
  }

  /** A key as the store has it now. Throws KEY_NOT_FOUND. */
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

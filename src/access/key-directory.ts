import { hash, randomUUID, timingSafeEqual } from 'node:crypto'
import type { KeyRow, Storage, TenantRow } from '../../storage/port.ts'
import { ServiceError } from '../errors.ts'
import { apiKeyPrefix, hashApiKey, makeApiKey } from './api-key.ts'
import { Caller, keyState } from './caller.ts'

/** Keys that a service may have, those of the past included; each takes about 1 KB of memory. */
export const KEYS_MAX = 100_000
/** Keys of a tenant that work. */
export const KEYS_PER_TENANT_MAX = 1_000
export const TENANTS_MAX = 10_000
/** Changes that wait for those before them; one more is refused. */
const WAITING_MAX = 100

/** What a key is given when it is made. */
export type KeyAttributes = Pick<
  KeyRow,
  'tenant' | 'name' | 'scopes' | 'ratePerMinute' | 'expiresAtMs' | 'allowedIps' | 'corsOrigins'
>

/** A key that was just made; `key` is known here and never again. */
export interface IssuedKey {
  readonly row: KeyRow
  readonly key: string
}

type KeyStorage = Pick<Storage, 'keys' | 'tenants'>

/** What an unknown key is compared with, so that it costs the same work as a known one. */
const NOBODY = new Uint8Array(32)

/** In a time that tells nothing of where two texts of a length differ. */
function isSameText(known: Buffer, text: string): boolean {
  return known.length === text.length && timingSafeEqual(known, Buffer.from(text, 'latin1'))
}

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
  readonly #defaultRatePerMinute: number
  readonly #others: OtherProcesses | null
  /** In order of creation. */
  #byId = new Map<string, Caller>()
  /** By the hash, a character a byte. */
  #byHash = new Map<string, Caller>()
  #byOrigin = new Map<string, Set<string>>()
  /** In order of creation. */
  #tenants = new Map<string, TenantRow>()
  /** Of the key that is looked for: a buffer for all, for one of its own would cost each look a fifth more. */
  readonly #digest = Buffer.alloc(32)
  /** The good key that a connection presented last, and its digest. */
  readonly #presented = new WeakMap<object, { readonly key: Buffer; readonly digest: string }>()
  #lastChange: Promise<unknown> = Promise.resolve()
  #waiting = 0

  private constructor(storage: KeyStorage, defaultRatePerMinute: number, others: OtherProcesses | null) {
    this.#storage = storage
    this.#defaultRatePerMinute = defaultRatePerMinute
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

  /**
   * Who has a key, whatever has become of it; null for nobody. The same work is done for each text of a length. A
   * `connection` that presents the good key that it presented last is spared the hashing, 4 µs; what has become of the
   * key is looked up anew.
   */
  find(key: string, connection?: object): Caller | null {
    const last = connection === undefined ? undefined : this.#presented.get(connection)
    if (last !== undefined && isSameText(last.key, key)) return this.#byHash.get(last.digest) ?? null
    const digest = hash('sha256', key, 'binary')
    this.#digest.write(digest, 'binary')
    const found = this.#byHash.get(digest)
    const same = timingSafeEqual(this.#digest, found?.row.hash ?? NOBODY)
    if (found === undefined || !same) return null
    if (connection !== undefined) this.#presented.set(connection, { key: Buffer.from(key, 'latin1'), digest })
    return found
  }

  /** In order of creation. */
  get keys(): readonly KeyRow[] {
    return Array.from(this.#byId.values(), ({ row }) => row)
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

  /** Throws KEY_NOT_FOUND. */
  key(id: string): KeyRow {
    const caller = this.#byId.get(id)
    if (caller === undefined) throw new ServiceError('KEY_NOT_FOUND', 'there is no key of this id')
    return caller.row
  }

  /** Whether pages of an origin may use any key that works. */
  admitsOrigin(origin: string, nowMs: number): boolean {
    const ids = this.#byOrigin.get(origin)?.values()
    return ids?.some((id) => keyState(this.key(id), nowMs) === 'active') ?? false
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
    if (this.#byId.size >= KEYS_MAX) {
      throw new ServiceError('KEY_LIMIT_REACHED', `there are ${KEYS_MAX} keys, the most there can be`)
    }
    const issued = newKey(makeApiKey(), attributes, nowMs)
    await this.#put(issued.row)
    return issued
  }

  /** Durable, then in effect (INVARIANTS 4). */
  async #put(row: KeyRow): Promise<void> {
    await this.#storage.keys.put(row)
    this.#keep(row)
    this.#others?.tell()
  }

  /** A key as the store has it now. Throws KEY_NOT_FOUND. */
  async #current(id: string): Promise<KeyRow> {
    if (this.#others === null) return this.key(id)
    if (!this.#byId.has(id)) await this.#reload()
    const known = this.key(id)
    const row = await this.#storage.keys.byHash(known.hash)
    if (row === null || isSameKey(row, known)) return known
    this.#keep(known.revokedAtMs === null ? row : { ...row, revokedAtMs: known.revokedAtMs })
    return this.key(id)
  }

  async #reload(): Promise<void> {
    const [tenants, keys] = await Promise.all([this.#storage.tenants.all(), this.#storage.keys.all()])
    this.#tenants = new Map(tenants.map((tenant) => [tenant.name, tenant]))
    const forgotten: KeyRow[] = []
    const rows = keys.map((row) => {
      const revokedAtMs = this.#byId.get(row.id)?.row.revokedAtMs ?? null
      if (revokedAtMs === null || row.revokedAtMs !== null) return row
      forgotten.push({ ...row, revokedAtMs })
      return forgotten.at(-1)!
    })
    this.#takeIn(rows)
    for (const row of forgotten) await this.#put(row)
  }

  /** Most reloads find what is known already, or more at its end. */
  #takeIn(rows: readonly KeyRow[]): void {
    const callers = this.#byId.values()
    for (const row of rows) {
      const known = callers.next().value?.row
      if (known !== undefined && known.id !== row.id) return this.#replaceAll(rows)
      if (!isSameKey(row, known)) this.#keep(row)
    }
    if (this.#byId.size > rows.length) this.#replaceAll(rows)
  }

  #replaceAll(rows: readonly KeyRow[]): void {
    const before = this.#byId
    this.#byId = new Map()
    this.#byHash = new Map()
    this.#byOrigin = new Map()
    for (const row of rows) {
      const caller = before.get(row.id)
      this.#keep(row, isSameKey(row, caller?.row) ? caller : undefined)
    }
  }

  #keep(row: KeyRow, caller = new Caller(row, this.#defaultRatePerMinute)): void {
    this.#byId.set(row.id, caller)
    this.#byHash.set(Buffer.from(row.hash).toString('binary'), caller)
    for (const origin of row.corsOrigins) {
      const ids = this.#byOrigin.get(origin) ?? new Set()
      if (row.revokedAtMs === null) this.#byOrigin.set(origin, ids.add(row.id))
      else if (ids.delete(row.id) && ids.size === 0) this.#byOrigin.delete(origin)
    }
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

/** Whether two rows of a key say the same. */
function isSameKey(row: KeyRow, other: KeyRow | undefined): boolean {
  if (row === other) return true
  return (
    other !== undefined &&
    row.id === other.id &&
    row.revokedAtMs === other.revokedAtMs &&
    row.expiresAtMs === other.expiresAtMs &&
    row.successor === other.successor &&
    row.ratePerMinute === other.ratePerMinute &&
    row.tenant === other.tenant &&
    row.name === other.name &&
    row.prefix === other.prefix &&
    row.createdAtMs === other.createdAtMs &&
    isSameList(row.scopes, other.scopes) &&
    isSameList(row.allowedIps, other.allowedIps) &&
    isSameList(row.corsOrigins, other.corsOrigins) &&
    Buffer.compare(row.hash, other.hash) === 0
  )
}

function isSameList(list: readonly string[], other: readonly string[]): boolean {
  return list.length === other.length && list.every((text, i) => text === other[i])
}

/** The row of a key that is made now. */
export function newKey(key: string, attributes: KeyAttributes, nowMs: number): IssuedKey {
  const { tenant, name, scopes, ratePerMinute, expiresAtMs, allowedIps, corsOrigins } = attributes
  return {
    key,
    row: {
      id: randomUUID(),
      hash: hashApiKey(key),
      prefix: apiKeyPrefix(key),
      tenant,
      name,
      scopes,
      createdAtMs: nowMs,
      ratePerMinute,
      expiresAtMs,
      revokedAtMs: null,
      allowedIps,
      corsOrigins,
      successor: null
    }
  }
}

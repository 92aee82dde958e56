import { API_KEY, TENANT, type KeyRow, type TenantRow } from '../../storage/access-documents.ts'
import { encodeKey } from '../../storage/codec/document-key.ts'
import type { DocumentHeader, DocumentRow, DocumentStore, Refusal } from '../../storage/document-store.ts'
import { decodedValue, newRow } from '../../storage/document-values.ts'

/** Keys and tenants in plain Maps, as documents of a store. Writes can be held or failed by the test. */
export class MemoryAccess {
  readonly rows = new Map<string, KeyRow>()
  readonly tenantRows = new Map<string, TenantRow>()
  /** Versions of keys and tenants; a row that the test has put gets one when it is read. */
  readonly #versions = new WeakMap<object, string>()
  #nextVersion = 1
  /** Awaited before each write. */
  beforeWrite: () => Promise<void> = async () => undefined

  readonly keys = {
    /** Stores a key in place of the version that was read. */
    put: async (key: KeyRow, before: string | null): Promise<Refusal | null> => {
      await this.beforeWrite()
      const stored = this.rows.get(key.id)
      if (before === null && stored !== undefined) return 'exists'
      if (before !== null && (stored === undefined || this.versionOf(stored) !== before)) return 'changed'
      this.rows.set(key.id, key)
      return null
    },
    byHash: async (hash: Uint8Array): Promise<KeyRow | null> =>
      [...this.rows.values()].find((row) => Buffer.compare(row.hash, hash) === 0) ?? null,
    get: async (id: string): Promise<KeyRow | null> => this.rows.get(id) ?? null,
    all: async (): Promise<KeyRow[]> => [...this.rows.values()]
  }

  readonly tenants = {
    create: async (tenant: TenantRow): Promise<boolean> => {
      await this.beforeWrite()
      if (this.tenantRows.has(tenant.name)) return false
      this.tenantRows.set(tenant.name, tenant)
      return true
    },
    all: async (): Promise<TenantRow[]> => [...this.tenantRows.values()]
  }

  readonly documents: DocumentStore = {
    get: async ({ key }) => {
      const row = [...this.rows.values()].find((row) => Buffer.compare(encodedKey(row), key) === 0)
      const stored = row === undefined ? null : await this.keys.get(row.id)
      return stored && this.#keyDocument(stored)
    },
    owner: async (_kind, _partition, unique) => {
      const hash = [...this.rows.values()].find(
        (row) => Buffer.compare(encodeKey(['hash', row.hash]), unique) === 0
      )?.hash
      const stored = hash === undefined ? null : await this.keys.byHash(hash)
      return stored && this.#keyDocument(stored)
    },
    list: async ({ kind }) => {
      const rows =
        kind === API_KEY.kind
          ? (await this.keys.all()).map((row) => this.#keyDocument(row))
          : (await this.tenants.all()).map((row) => this.#document(newRow(TENANT, row, null), row))
      return { rows, last: null }
    },
    put: async (row, before) => {
      if (row.address.kind === TENANT.kind) {
        const tenant = decodedValue(TENANT.kind, TENANT.schema, row.value)
        return (await this.tenants.create(tenant)) ? this.#document(row, tenant) : 'taken'
      }
      const key = decodedValue(API_KEY.kind, API_KEY.schema, row.value)
      return (await this.keys.put(key, before?.version ?? null)) ?? this.#document(row, key)
    },
    delete: async () => Promise.reject(new Error('keys and tenants are not deleted')),
    putFenced: async () => Promise.reject(new Error('keys and tenants have no hot values')),
    fence: async () => Promise.reject(new Error('keys and tenants have no hot values')),
    fenced: async () => Promise.reject(new Error('keys and tenants have no hot values')),
    append: async () => Promise.reject(new Error('keys and tenants have no history')),
    newest: async () => Promise.reject(new Error('keys and tenants have no history')),
    deleteUpTo: async () => Promise.reject(new Error('keys and tenants have no history'))
  }

  versionOf(row: object): string {
    const version = this.#versions.get(row) ?? `version ${this.#nextVersion++}`
    this.#versions.set(row, version)
    return version
  }

  #keyDocument(row: KeyRow): DocumentRow {
    return this.#document(newRow(API_KEY, row, null), row)
  }

  #document(row: Omit<DocumentHeader, 'expiresAtMs'> & { readonly value: string }, of: object): DocumentRow {
    return { ...row, version: this.versionOf(of), expiresAtMs: null }
  }
}

const encodedKey = (row: KeyRow): Uint8Array => encodeKey(API_KEY.key(row))

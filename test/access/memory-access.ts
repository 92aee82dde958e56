import type { KeyRow, KeyStore, TenantRow, TenantStore } from '../../storage/port.ts'

/** Keys and tenants in plain Maps. Writes can be held or failed by the test. */
export class MemoryAccess {
  readonly rows = new Map<string, KeyRow>()
  readonly tenantRows = new Map<string, TenantRow>()
  /** Awaited before each write. */
  beforeWrite: () => Promise<void> = async () => undefined

  readonly keys: KeyStore = {
    put: async (key) => {
      await this.beforeWrite()
      this.rows.set(key.id, key)
    },
    byHash: async (hash) =>
      [...this.rows.values()].find((row) => Buffer.compare(row.hash, hash) === 0) ?? null,
    all: async () => [...this.rows.values()]
  }

  readonly tenants: TenantStore = {
    create: async (tenant) => {
      await this.beforeWrite()
      if (this.tenantRows.has(tenant.name)) return false
      this.tenantRows.set(tenant.name, tenant)
      return true
    },
    get: async (name) => this.tenantRows.get(name) ?? null,
    all: async () => [...this.tenantRows.values()]
  }
}

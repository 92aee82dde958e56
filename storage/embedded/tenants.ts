import type { TenantRow, TenantStore } from '../port.ts'
import type { Database } from './database.ts'
import { keysOf, tenantKey } from '../codec/keys.ts'
import { byTenantCreation, tenantKind } from '../codec/tenant.ts'

export function tenantStore(database: Database): TenantStore {
  return {
    create: (tenant) =>
      database.write(async (view, batch) => {
        const key = tenantKey(tenant.name)
        if (view.get(tenantKind, key) !== null) return null
        batch.put(tenantKind, key, tenant)
        return { kind: 'control', durable: 'tenant.durable' }
      }),
    get: (name) => database.read((view) => view.get(tenantKind, tenantKey(name))),
    all: () =>
      database.read(async (view) => {
        const tenants: TenantRow[] = []
        for await (const [, tenant] of view.scan(tenantKind, keysOf('y'), { expected: 32 }))
          tenants.push(tenant)
        return tenants.sort(byTenantCreation)
      })
  }
}

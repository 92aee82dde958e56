import type { TenantRow, TenantStore } from '../port.ts'
import type { Database } from './database.ts'
import { keysOf, tenantKey } from './keys.ts'
import type { RecordKind } from './record.ts'

const tenantKind: RecordKind<TenantRow> = {
  name: 'tenant',
  write(out, row) {
    out.text(row.name)
    out.float(row.createdAtMs)
  },
  read: (source) => ({ name: source.text(), createdAtMs: source.float() }),
  weigh: () => 200
}

export function tenantStore(database: Database): TenantStore {
  return {
    create: (tenant) =>
      database.write(async (view, batch) => {
        const key = tenantKey(tenant.name)
        if (view.get(tenantKind, key) !== null) return null
        batch.put(tenantKind, key, tenant)
        return { kind: 'beside', durable: 'tenant.durable' }
      }),
    get: (name) => database.read((view) => view.get(tenantKind, tenantKey(name))),
    all: () =>
      database.read(async (view) => {
        const tenants: TenantRow[] = []
        for await (const [, tenant] of view.scan(tenantKind, keysOf('y'), { expected: 32 }))
          tenants.push(tenant)
        return tenants.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.name < b.name ? -1 : 1))
      })
  }
}

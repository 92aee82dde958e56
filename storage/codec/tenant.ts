import type { TenantRow } from '../port.ts'
import type { RecordKind } from './record.ts'

export const tenantKind: RecordKind<TenantRow> = {
  name: 'tenant',
  write(out, row) {
    out.text(row.name)
    out.float(row.createdAtMs)
  },
  read: (source) => ({ name: source.text(), createdAtMs: source.float() }),
  weigh: () => 200
}

/** The order that tenants are listed in. */
export const byTenantCreation = (a: TenantRow, b: TenantRow): number =>
  a.createdAtMs - b.createdAtMs || (a.name < b.name ? -1 : 1)

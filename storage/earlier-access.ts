import type { KeyRow, TenantRow } from './access-documents.ts'

/** Returns tenants that keys name and that are missing, each as old as its oldest key: a repair may have lost them. */
export function missingTenants(tenants: readonly TenantRow[], keys: readonly KeyRow[]): TenantRow[] {
  const known = new Set(tenants.map(({ name }) => name))
  const oldest = new Map<string, number>()
  for (const { tenant, createdAtMs } of keys)
    if (!known.has(tenant)) oldest.set(tenant, Math.min(oldest.get(tenant) ?? Infinity, createdAtMs))
  return Array.from(oldest, ([name, createdAtMs]) => ({ name, createdAtMs }))
}

import { administer, type AdministrationOptions } from './administer.ts'
import type { Invocation } from './command.ts'

const COLUMNS = ['name', 'created_at', 'keys'] as const

/** Lists the tenants. */
export function listTenants(invocation: Invocation<AdministrationOptions>): Promise<number> {
  return administer(invocation, COLUMNS, { method: 'GET', path: '/v1/admin/tenants?limit=1000' })
}

/** Creates a tenant. */
export function createTenant(invocation: Invocation<AdministrationOptions>): Promise<number> {
  const [name] = invocation.operands
  return administer(invocation, COLUMNS, { method: 'POST', path: '/v1/admin/tenants', body: { name } })
}

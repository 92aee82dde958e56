import type { Caller } from '../../access/caller.ts'

/** Returns the tenant of a caller whose key was checked. */
export function tenantOf(caller: Caller | null): string {
  if (caller === null) throw new Error('an endpoint with a scope was reached without a key')
  return caller.tenant
}

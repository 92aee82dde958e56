import { ALL, apiKeysIn, tenantsIn } from '../../storage/access-documents.ts'
import type { Storage } from '../../storage/port.ts'
import { hashApiKey, makeApiKey } from './api-key.ts'
import { newKey } from './key-row.ts'
import { DEFAULT_SCOPES, SCOPES, type Scope } from './scopes.ts'

export const DEMO_TENANT = 'demo'
/** Pages of development servers on the machine of the localnet. */
const DEMO_ORIGINS = ['http://localhost:*', 'http://127.0.0.1:*']
const OPERATOR_TENANT = 'operator'

/** Keys created on an empty store. They are shown to the operator once and stored only as hashes. */
export interface FirstKeys {
  /** Null if the operator configured an admin key. */
  readonly admin: string | null
  /** The key of the demo tenant; null for a source other than a localnet. */
  readonly demo: string | null
}

/**
 * Ensures that somebody has access: stores the configured admin key. On an empty store, creates an admin key if none is
 * configured and, with `hasDemo`, a demo tenant's key. Returns null on a store that has keys. A configured key that was
 * revoked or has expired stays so.
 */
export async function bootstrapKeys(
  { documents }: Pick<Storage, 'documents'>,
  { adminKey, hasDemo }: { readonly adminKey: string | null; readonly hasDemo: boolean },
  nowMs: number
): Promise<FirstKeys | null> {
  const [keys, tenants] = [apiKeysIn(documents), tenantsIn(documents)]
  const isEmpty = (await keys.list(ALL, { limit: 1 })).documents.length === 0
  if (adminKey !== null && (await keys.findBy('hash', ALL, [hashApiKey(adminKey)])) === null) {
    await put(adminKey, OPERATOR_TENANT, 'bootstrap admin key', SCOPES)
  }
  if (!isEmpty) return null
  const admin = adminKey === null ? makeApiKey() : null
  if (admin !== null) await put(admin, OPERATOR_TENANT, 'first admin key', SCOPES)
  if (!hasDemo) return { admin, demo: null }
  const demo = makeApiKey()
  await put(demo, DEMO_TENANT, 'demo key', DEFAULT_SCOPES, DEMO_ORIGINS)
  return { admin, demo }

  async function put(
    key: string,
    tenant: string,
    name: string,
    scopes: readonly Scope[],
    corsOrigins: readonly string[] = []
  ): Promise<void> {
    // Rejected if the tenant exists: it is in the store already, or another process has just stored it.
    await tenants.insert({ name: tenant, createdAtMs: nowMs })
    const unlimited = { ratePerMinute: null, expiresAtMs: null, allowedIps: [], corsOrigins }
    await keys.insert(newKey(key, { tenant, name, scopes, ...unlimited }, nowMs).row)
  }
}

import { ALL, apiKeysIn, tenantsIn, type KeyRow } from '../../storage/access-documents.ts'
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

type Attributes = [tenant: string, name: string, scopes: readonly Scope[], corsOrigins?: readonly string[]]

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
    await keys.insert(await made(adminKey, OPERATOR_TENANT, 'bootstrap admin key', SCOPES))
  }
  if (!isEmpty) return null
  const admin = adminKey === null ? await first(OPERATOR_TENANT, 'first admin key', SCOPES) : null
  const demo = hasDemo ? await first(DEMO_TENANT, 'demo key', DEFAULT_SCOPES, DEMO_ORIGINS) : null
  return admin === null && demo === null && adminKey === null ? null : { admin, demo }

  /**
   * Stores the first key of a tenant; null if another process has stored it. Its place follows from the tenant alone, so that of
   * several processes that start at once, one stores it.
   */
  async function first(...attributes: Attributes): Promise<string | null> {
    const key = makeApiKey()
    const row = await made(key, ...attributes)
    const stored = await tenants.findBy('name', ALL, [row.tenant])
    const createdAtMs = stored?.value.createdAtMs ?? nowMs
    const { ok } = await keys.insert({ ...row, id: `first-${row.tenant}`, createdAtMs })
    return ok ? key : null
  }

  /** Stores the tenant of a new key. Resolves with the key's row. */
  async function made(key: string, ...[tenant, name, scopes, corsOrigins = []]: Attributes): Promise<KeyRow> {
    // Rejected if the tenant exists: it is in the store already, or another process has just stored it.
    await tenants.insert({ name: tenant, createdAtMs: nowMs })
    const unlimited = { ratePerMinute: null, expiresAtMs: null, allowedIps: [], corsOrigins }
    return newKey(key, { tenant, name, scopes, ...unlimited }, nowMs).row
  }
}

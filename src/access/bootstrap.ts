import { randomUUID } from 'node:crypto'
import type { KeyStore } from '../../storage/port.ts'
import { apiKeyPrefix, hashApiKey, makeApiKey } from './api-key.ts'
import { DEFAULT_SCOPES, type Scope } from './scopes.ts'

export const DEMO_TENANT = 'demo'
const OPERATOR_TENANT = 'operator'

/** Keys made on an empty store; they are shown to the operator once and kept only as hashes. */
export interface FirstKeys {
  /** Null when the operator brought an admin key. */
  readonly admin: string | null
  readonly demo: string
}

/**
 * Makes sure that somebody can get in: stores the operator's admin key when one is set, and on an empty store makes
 * a demo tenant's key and, without an operator's, an admin key. Null when nothing was made.
 */
export async function bootstrapKeys(
  keys: KeyStore,
  adminKey: string | null,
  nowMs: number
): Promise<FirstKeys | null> {
  const isEmpty = (await keys.all()).length === 0
  if (adminKey !== null && (await keys.byHash(hashApiKey(adminKey))) === null) {
    await put(adminKey, OPERATOR_TENANT, 'bootstrap admin key', ['admin', ...DEFAULT_SCOPES])
  }
  if (!isEmpty) return null
  const admin = adminKey === null ? makeApiKey() : null
  if (admin !== null) await put(admin, OPERATOR_TENANT, 'first admin key', ['admin', ...DEFAULT_SCOPES])
  const demo = makeApiKey()
  await put(demo, DEMO_TENANT, 'demo key', DEFAULT_SCOPES)
  return { admin, demo }

  async function put(key: string, tenant: string, name: string, scopes: readonly Scope[]): Promise<void> {
    const hash = hashApiKey(key)
    await keys.put({
      id: randomUUID(),
      hash,
      prefix: apiKeyPrefix(key),
      tenant,
      name,
      scopes,
      createdAtMs: nowMs,
      ratePerMinute: null,
      expiresAtMs: null,
      revokedAtMs: null,
      allowedIps: [],
      corsOrigins: [],
      successor: null
    })
  }
}

import { ALL, apiKeysIn, tenantsIn, type KeyRow, type TenantRow } from '../access-documents.ts'
import { earlierKeyKind, earlierTenantKind } from '../codec/earlier-access.ts'
import { earlierKeyKey, earlierTenantKey } from '../codec/keys.ts'
import { unpackRecord } from '../codec/record.ts'
import type { DocumentStore } from '../document-store.ts'
import { missingTenants } from '../earlier-access.ts'
import type { CqlClient } from './client.ts'

/** The tables in which earlier versions stored tenants and API keys, all in one partition. */
const TABLES = 'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name IN (?, ?)'
const SELECT_TENANTS = 'SELECT name, tenant FROM tenants WHERE collection = ?'
const SELECT_KEYS = 'SELECT hash, key FROM api_keys WHERE collection = ?'

/**
 * Copies tenants and API keys of an earlier version that are not documents yet. Every start repeats it, because a process of
 * the earlier version may have written some since. It overwrites nothing except for revocations by such a process. Other
 * processes may copy at the same time.
 */
export async function copyEarlierAccess(
  client: CqlClient,
  keyspace: string,
  documents: DocumentStore
): Promise<void> {
  if ((await client.read(TABLES, [keyspace, 'tenants', 'api_keys'])).length < 2) return
  const { tenants, keys } = await earlierAccess(client)
  await copyTenants(documents, [...tenants, ...missingTenants(tenants, keys)])
  await copyKeys(documents, keys)
}

async function earlierAccess(client: CqlClient): Promise<{ tenants: TenantRow[]; keys: KeyRow[] }> {
  const [tenants, keys] = await Promise.all([
    client.read(SELECT_TENANTS, [ALL]),
    client.read(SELECT_KEYS, [ALL])
  ])
  return {
    tenants: tenants.map((row) =>
      unpackRecord(earlierTenantKind, earlierTenantKey(row['name'] as string), row['tenant'] as Buffer)
    ),
    // A partition that lost its only key has a row without one.
    keys: keys.flatMap((row) => {
      const hash = row['hash'] as Buffer | null
      return hash === null ? [] : [unpackRecord(earlierKeyKind, earlierKeyKey(hash), row['key'] as Buffer)]
    })
  }
}

async function copyTenants(documents: DocumentStore, tenants: readonly TenantRow[]): Promise<void> {
  const stored = tenantsIn(documents)
  const names = new Set((await stored.all(ALL)).map(({ value }) => value.name))
  for (const tenant of tenants) if (!names.has(tenant.name)) await stored.insert(tenant)
}

async function copyKeys(documents: DocumentStore, keys: readonly KeyRow[]): Promise<void> {
  const stored = apiKeysIn(documents)
  const byId = new Map((await stored.all(ALL)).map((key) => [key.value.id, key]))
  for (const key of keys) {
    let copy = byId.get(key.id) ?? null
    if (copy === null) await stored.insert(key)
    else if (key.revokedAtMs !== null)
      while (copy !== null && copy.value.revokedAtMs === null) {
        await stored.update(copy, { ...copy.value, revokedAtMs: key.revokedAtMs })
        copy = await stored.get(ALL, [key.createdAtMs, key.id])
      }
  }
}

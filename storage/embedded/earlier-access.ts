import type { Clock } from '../../src/ports.ts'
import { API_KEY, TENANT } from '../access-documents.ts'
import { earlierKeyKind, earlierTenantKind } from '../codec/earlier-access.ts'
import { earlierKeyIdKey, earlierKeyKey, earlierTenantKey, keysOf } from '../codec/keys.ts'
import type { RecordKind } from '../codec/record.ts'
import { newRow } from '../document-values.ts'
import { missingTenants } from '../earlier-access.ts'
import type { Database } from './database.ts'
import { DocumentStage } from './document-stage.ts'
import type { View } from './view.ts'

/** Converts tenants and API keys of an earlier version into documents, and deletes its records, in one durable step. */
export async function moveEarlierAccess(database: Database, clock: Clock): Promise<void> {
  await database.write(async (view, batch) => {
    const keys = await valuesOf(view, earlierKeyKind, 'k')
    const tenants = await valuesOf(view, earlierTenantKind, 'y')
    if (keys.length + tenants.length === 0) return null
    const stage = new DocumentStage(view, batch, clock.now())
    for (const tenant of [...tenants, ...missingTenants(tenants, keys)])
      stage.put(newRow(TENANT, tenant, null), null)
    for (const key of keys) stage.put(newRow(API_KEY, key, null), null)
    for (const { name } of tenants) batch.deleteUncached(earlierTenantKey(name))
    for (const { id, hash } of keys) {
      batch.deleteUncached(earlierKeyKey(hash))
      batch.deleteUncached(earlierKeyIdKey(id))
    }
    return { kind: 'documents' }
  })
}

async function valuesOf<T>(view: View, kind: RecordKind<T>, letter: string): Promise<T[]> {
  const values: T[] = []
  for await (const [, value] of view.scan(kind, keysOf(letter), { expected: 32 })) values.push(value)
  return values
}

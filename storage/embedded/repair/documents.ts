import { API_KEY, TENANT, type KeyRow, type TenantRow } from '../../access-documents.ts'
import { documentKind } from '../../codec/document.ts'
import { readRecordKey } from '../../codec/document-record-keys.ts'
import { keysOf, type Key, type KeyRange } from '../../codec/keys.ts'
import type { DocumentDefinition } from '../../document-definition.ts'
import type { DocumentRow } from '../../document-store.ts'
import { decodedValue, newRow } from '../../document-values.ts'
import { missingTenants } from '../../earlier-access.ts'
import { DocumentStage } from '../document-stage.ts'
import type { Level } from '../level.ts'
import type { View } from '../view.ts'
import { WriteBatch } from '../write-batch.ts'

/** Documents that are written at a time: a few megabytes. */
const DOCUMENTS_PER_BATCH = 1_000

/** Tells whether a record of documents is derived from others: entries of indexes, unique ones and expiries. */
export const isEntry = (key: Key): boolean => !['document', 'hot'].includes(readRecordKey(key).section)

/** Tells whether a range of keys has room for entries of one partition alone. */
export function holdsEntriesOnly({ gte, lt }: KeyRange): boolean {
  try {
    const [first, end] = [readRecordKey(gte), readRecordKey(lt)]
    if (first.section === 'expiry' || end.section === 'expiry') return first.section === end.section
    return (
      isEntry(gte) &&
      first.section === end.section &&
      first.address.kind === end.address.kind &&
      first.address.partition === end.address.partition
    )
  } catch (error) {
    // The bounds of a range need not be whole keys.
    if (error instanceof RangeError) return false
    throw error
  }
}

/**
 * Recomputes the entries of all documents, and the tenants that API keys name. `view` has only documents and hot values. A
 * hot value whose document is lost stays, and is never read.
 */
export async function stageEntries(target: Level, view: View, nowMs: number): Promise<void> {
  const [tenants, keys]: [TenantRow[], KeyRow[]] = [[], []]
  const documents = (await view.keys(keysOf('D'))).flatMap((key) => {
    const found = readRecordKey(key)
    return found.section === 'document' ? [{ key, address: found.address }] : []
  })
  for (let from = 0; from < documents.length; from += DOCUMENTS_PER_BATCH) {
    const batch = new WriteBatch(target)
    const stage = new DocumentStage(view, batch, nowMs)
    for (const { key, address } of documents.slice(from, from + DOCUMENTS_PER_BATCH)) {
      const row = { address, ...view.get(documentKind, key)! }
      stage.restore(row)
      tenants.push(...valuesIn(TENANT, row))
      keys.push(...valuesIn(API_KEY, row))
    }
    await batch.write()
  }
  const batch = new WriteBatch(target)
  const stage = new DocumentStage(view, batch, nowMs)
  for (const tenant of missingTenants(tenants, keys)) stage.put(newRow(TENANT, tenant, null), null)
  await batch.write()
}

function valuesIn<T>(
  { kind, schema }: Pick<DocumentDefinition<T>, 'kind' | 'schema'>,
  row: DocumentRow
): T[] {
  return row.address.kind === kind ? [decodedValue(kind, schema, row.value)] : []
}

import { documentKind } from '../codec/document.ts'
import { documentRecordKey, rowOf } from '../codec/document-record-keys.ts'
import type { Section } from '../codec/document-record-keys.ts'
import { unpackRecord } from '../codec/record.ts'
import type { DocumentAddress, DocumentRow } from '../document-store.ts'
import type { CqlRow, CqlStatement } from './client.ts'
import type { DocumentPlace } from './document-place.ts'

/** Seconds that a server keeps rows after they are no longer served: its clock may differ from ours. */
const TTL_SLACK = 60

/** The query of one row of a place. */
export const selectRow = (
  { statements, partition }: DocumentPlace,
  section: Section,
  bytes: Uint8Array
): CqlStatement => ({
  statement: statements.select,
  params: [...partition, rowOf(section, bytes)]
})

/** The document of a row, or null. */
export function documentIn(address: DocumentAddress, row: CqlRow | undefined): DocumentRow | null {
  const packed = (row?.['document'] as Buffer | null | undefined) ?? null
  if (packed === null) return null
  const key = documentRecordKey(address, 'document', address.key)
  return { address, ...unpackRecord(documentKind, key, packed) }
}

/** The key of the document that an entry names. */
export const ownerIn = (row: CqlRow | undefined): Uint8Array | null => {
  const key = (row?.['owner'] as Buffer | null | undefined) ?? null
  return key === null ? null : new Uint8Array(key)
}

/** The time to live of a row that expires at a time, in seconds from now; 0 means for ever. */
export const ttlSecondsOf = (expiresAtMs: number | null, nowMs: number): number =>
  expiresAtMs === null ? 0 : Math.max(1, Math.ceil((expiresAtMs - nowMs) / 1_000)) + TTL_SLACK

import type { DocumentAddress, DocumentRow } from '../document-store.ts'
import { BYTES, COUNT, each, fields, FLOAT, optional, TEXT } from './fields.ts'
import type { RecordKind } from './record.ts'

/** A document without its address, which is the key of its record. */
export type DocumentRecord = Omit<DocumentRow, 'address'>

export const documentKind: RecordKind<DocumentRecord> = {
  name: 'document',
  ...fields<DocumentRecord>({
    version: TEXT,
    born: TEXT,
    trail: each(TEXT),
    expiresAtMs: optional(FLOAT),
    entries: each(BYTES),
    unique: each(BYTES),
    value: TEXT
  }),
  weigh: ({ value, entries, unique }) => 400 + 2 * value.length + 150 * (entries.length + unique.length)
}

/** The address of a document, listed under the time at which it expires. */
export const documentAddressKind: RecordKind<DocumentAddress> = {
  name: 'expiry of a document',
  ...fields<DocumentAddress>({ kind: TEXT, partition: TEXT, key: BYTES }),
  weigh: ({ key }) => 200 + key.length
}

/** An entry of an index, or a unique one: the key of its document. */
export const documentEntryKind: RecordKind<Uint8Array> = {
  name: 'entry of a document',
  ...BYTES,
  weigh: (key) => 100 + key.length
}

/** A hot value, written under the fencing token of a lease. */
export interface FencedRecord {
  /** The version that its document was inserted with. */
  readonly born: string
  readonly token: number
  /** Empty where the writer with the token has written none yet. */
  readonly value: string
}

export const fencedKind: RecordKind<FencedRecord> = {
  name: 'hot value of a document',
  ...fields<FencedRecord>({ born: TEXT, token: COUNT, value: TEXT }),
  weigh: ({ value }) => 200 + value.length
}

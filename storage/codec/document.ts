import type { DocumentAddress, DocumentRow } from '../document-store.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import type { RecordKind } from './record.ts'

/** A document without its address, which is the key of its record. */
export type DocumentRecord = Omit<DocumentRow, 'address'>

export const documentKind: RecordKind<DocumentRecord> = {
  name: 'document',
  write(out, row) {
    out.text(row.version)
    out.text(row.born)
    out.texts(row.trail)
    out.optionalFloat(row.expiresAtMs)
    writeEach(out, row.entries)
    writeEach(out, row.unique)
    out.text(row.value)
  },
  read: (source) => ({
    version: source.text(),
    born: source.text(),
    trail: source.texts(),
    expiresAtMs: source.optionalFloat(),
    entries: readEach(source),
    unique: readEach(source),
    value: source.text()
  }),
  weigh: ({ value, entries, unique }) => 400 + 2 * value.length + 150 * (entries.length + unique.length)
}

/** The address of a document, listed under the time at which it expires. */
export const documentAddressKind: RecordKind<DocumentAddress> = {
  name: 'expiry of a document',
  write(out, { kind, partition, key }) {
    out.text(kind)
    out.text(partition)
    out.bytes(key)
  },
  read: (source) => ({ kind: source.text(), partition: source.text(), key: source.bytes().slice() }),
  weigh: ({ key }) => 200 + key.length
}

/** An entry of an index, or a unique one: the key of its document. */
export const documentEntryKind: RecordKind<Uint8Array> = {
  name: 'entry of a document',
  write: (out, key) => out.bytes(key),
  read: (source) => source.bytes().slice(),
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
  write(out, { born, token, value }) {
    out.text(born)
    out.count(token)
    out.text(value)
  },
  read: (source) => ({ born: source.text(), token: source.count(), value: source.text() }),
  weigh: ({ value }) => 200 + value.length
}

function writeEach(out: ByteWriter, each: readonly Uint8Array[]): void {
  out.count(each.length)
  for (const bytes of each) out.bytes(bytes)
}

function readEach(source: ByteReader): Uint8Array[] {
  // Copies: a cached value must not hold the buffer of an answer in memory.
  return Array.from({ length: source.count() }, () => source.bytes().slice())
}

import type { DocumentAddress } from '../document-store.ts'
import { decodeText, encodeKey } from './document-key.ts'
import { keysFrom, type Key, type KeyRange } from './keys.ts'

/**
 * The keys of documents in the embedded store, after the letter `D`. On a cluster the part after the partition is the row's
 * key.
 *
 *   0x00 time key                     address of a document that expires then
 *   kind partition 0x01 key           document
 *   kind partition 0x02 entry key     entry of an index
 *   kind partition 0x03 entry         unique entry
 *   kind partition 0x04 key           hot value
 */
const LETTER = Buffer.from('D', 'latin1')
const EXPIRIES = Buffer.concat([LETTER, Buffer.of(0)])

/** Sections of a partition: the kinds of its rows, as bytes of their keys. */
export const SECTIONS = { document: 1, entry: 2, unique: 3, hot: 4 } as const
export type Section = keyof typeof SECTIONS
const SECTION_NAMES = Object.keys(SECTIONS) as Section[]

/** A row of a partition: the section, then the key or entry. */
export const rowOf = (section: Section, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(SECTIONS[section]), bytes])

/** The key of a record; of a document the one that its checksum is made with, on every adapter. */
export function documentRecordKey(
  { kind, partition }: Pick<DocumentAddress, 'kind' | 'partition'>,
  section: Section,
  bytes: Uint8Array
): Key {
  const prefix = partitionKey(kind, partition)
  const key = Buffer.allocUnsafe(prefix.length + 1 + bytes.length)
  key.set(prefix)
  key[prefix.length] = SECTIONS[section]
  key.set(bytes, prefix.length + 1)
  return key
}

/** Takes the key or entry out of a record's key. */
export const bytesIn = (
  { kind, partition }: Pick<DocumentAddress, 'kind' | 'partition'>,
  key: Key
): Uint8Array => key.subarray(partitionKey(kind, partition).length + 1)

/** Decodes the key of a record. Throws RangeError for bytes that are no whole key. */
export function readRecordKey(
  key: Key
): { section: Section; address: DocumentAddress } | { section: 'expiry' } {
  if (key[LETTER.length] === EXPIRIES[LETTER.length]) return { section: 'expiry' }
  const kind = decodeText(key, LETTER.length)
  const partition = decodeText(key, kind.end)
  const section = SECTION_NAMES.find((name) => SECTIONS[name] === key[partition.end])
  if (section === undefined) throw new RangeError('no key of a document')
  const address = { kind: kind.text, partition: partition.text, key: key.subarray(partition.end + 1) }
  return { section, address }
}

/** Lists a document under the time at which it expires. */
export function expiryKey(expiresAtMs: number, document: Key): Key {
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(Math.max(0, Math.ceil(expiresAtMs))))
  return Buffer.concat([EXPIRIES, time, document])
}

/** All that has expired at a time. */
export const expiriesUntil = (nowMs: number): KeyRange => ({
  gte: EXPIRIES,
  lt: expiryKey(nowMs + 1, Buffer.alloc(0))
})

/** Every record of one kind of documents. */
export const documentKeysOf = (kind: string): KeyRange => keysFrom(Buffer.concat([LETTER, encodeKey([kind])]))

/** Prefixes of keys by kind and partition: a document takes half a dozen. Cleared at about 100 KB. */
const partitionKeys = new Map<string, Buffer>()
const PARTITION_KEYS_MAX = 1_024

function partitionKey(kind: string, partition: string): Buffer {
  // No kind has a zero in it.
  const name = `${kind}\0${partition}`
  let key = partitionKeys.get(name)
  if (key === undefined) {
    key = Buffer.concat([LETTER, encodeKey([kind, partition])])
    if (partitionKeys.size >= PARTITION_KEYS_MAX) partitionKeys.clear()
    partitionKeys.set(name, key)
  }
  return key
}

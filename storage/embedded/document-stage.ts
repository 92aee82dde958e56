import { documentAddressKind, documentEntryKind, documentKind, fencedKind } from '../codec/document.ts'
import type { DocumentRecord, FencedRecord } from '../codec/document.ts'
import { documentRecordKey, expiriesUntil, expiryKey } from '../codec/document-record-keys.ts'
import { keyText } from '../codec/keys.ts'
import type { Key } from '../codec/keys.ts'
import type { RecordKind } from '../codec/record.ts'
import type {
  DocumentAddress,
  DocumentHeader,
  DocumentRow,
  HotValue,
  NewDocumentRow,
  Refusal
} from '../document-store.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** Expired documents that are deleted at a time: about 10 ms of CPU time, once a second. */
const SWEPT_MAX = 1_000

/** Documents as they are after the changes that a group has staged so far. */
export class DocumentStage {
  /** The time of the changes, from which times to live are counted. */
  nowMs: number
  readonly #view: View
  readonly #batch: WriteBatch
  /** Values of keys that the group writes, in front of the view's; null marks a deleted key. */
  readonly #staged = new Map<string, unknown>()

  constructor(view: View, batch: WriteBatch, nowMs: number) {
    this.#view = view
    this.#batch = batch
    this.nowMs = nowMs
  }

  /** Whether the group writes nothing. */
  get isEmpty(): boolean {
    return this.#staged.size === 0
  }

  /** Stores a document, as DocumentStore.put does. */
  put({ ttlMs, isScratch, ...row }: NewDocumentRow, before: DocumentHeader | null): DocumentRow | Refusal {
    const { address } = row
    const stored = this.#document(address)
    const alive = this.#alive(stored)
    if (before === null && alive !== null) return 'exists'
    if (before !== null && alive?.version !== before.version) return 'changed'
    const owners = row.unique.map((entry) => this.#owner(address, entry))
    if (owners.some((owner) => this.#alive(this.#document(owner)) !== null)) return 'taken'
    for (const owner of owners) this.#drop(owner, this.#document(owner))
    if (alive === null) this.#drop(address, stored)
    else this.#remove(address, alive)
    const written = { ...row, expiresAtMs: ttlMs === null ? null : this.nowMs + ttlMs }
    this.#write(written, isScratch)
    if (alive === null && !isScratch) this.#keepNoHot(address, row.born)
    return written
  }

  /** Saves the first write of a hot value two reads: of an earlier value, and of the document. */
  #keepNoHot(address: DocumentAddress, born: string): void {
    const key = documentRecordKey(address, 'hot', address.key)
    const none = { born, token: 0, value: '' }
    this.#staged.set(keyText(key), none)
    this.#batch.keep(fencedKind, key, none)
  }

  /** Stores a document unchanged, with its entries, which have been lost. */
  restore(row: DocumentRow): void {
    this.#write(row, false)
  }

  /** Deletes a document, as DocumentStore.delete does. */
  delete({ address, version }: DocumentHeader): boolean {
    const stored = this.#alive(this.#document(address))
    if (stored?.version !== version) return false
    this.#drop(address, stored)
    return true
  }

  /** Stores a hot value, as DocumentStore.putFenced does. */
  putFenced(document: DocumentHeader, token: number, value: string): void {
    this.#putHot(document, token, () => value)
  }

  /** Announces a writer of the hot value, as DocumentStore.fence does. */
  fence(document: DocumentHeader, token: number): HotValue {
    return hotValueOf(this.#putHot(document, token, (before) => before))
  }

  /** Returns the current hot value after the write, or null if the document does not exist. */
  #putHot(
    { address, born }: DocumentHeader,
    token: number,
    change: (before: string) => string
  ): FencedRecord | null {
    const key = documentRecordKey(address, 'hot', address.key)
    const before = this.#get(fencedKind, key)
    // A hot value is deleted with its document: if it has one, the document exists.
    const isKnown = before?.born === born
    if (isKnown && before.token > token) return before
    if (!isKnown && this.#document(address)?.born !== born) return null
    const hot = { born, token, value: change(isKnown ? before.value : '') }
    this.#staged.set(keyText(key), hot)
    // The token stays stored: the next write needs it.
    this.#batch.putOwned(fencedKind, key, hot)
    return hot
  }

  /** Deletes some of the expired documents; true if there are more. Damaged ones stay. */
  async sweep(): Promise<boolean> {
    try {
      const expiries = await this.#view.keys(expiriesUntil(this.nowMs), SWEPT_MAX)
      for (const expiry of expiries) {
        const address = this.#get(documentAddressKind, expiry)
        const stored = this.#document(address)
        if (this.#alive(stored) === null) this.#drop(address, stored)
        this.#delete(expiry)
      }
      return expiries.length === SWEPT_MAX
    } catch {
      return false
    }
  }

  /** The document that has a unique entry, if its address is not the given one. */
  #owner(address: DocumentAddress, entry: Uint8Array): DocumentAddress | null {
    const key = this.#get(documentEntryKind, documentRecordKey(address, 'unique', entry))
    return key === null || Buffer.compare(key, address.key) === 0 ? null : { ...address, key }
  }

  #document(address: DocumentAddress | null): DocumentRecord | null {
    return address === null
      ? null
      : this.#get(documentKind, documentRecordKey(address, 'document', address.key))
  }

  #alive(record: DocumentRecord | null): DocumentRecord | null {
    return record === null || isExpired(record, this.nowMs) ? null : record
  }

  /** Writes a document with its entries. Memory keeps no scratch document, since most are never read. */
  #write({ address, ...record }: DocumentRow, isScratch: boolean): void {
    const key = documentRecordKey(address, 'document', address.key)
    if (isScratch) {
      this.#staged.set(keyText(key), record)
      this.#batch.putUncached(documentKind, key, record)
    } else this.#put(documentKind, key, record)
    // Lists read entries in ranges, never by their keys.
    for (const entry of record.entries)
      this.#batch.putUncached(documentEntryKind, documentRecordKey(address, 'entry', entry), address.key)
    for (const entry of record.unique)
      this.#put(documentEntryKind, documentRecordKey(address, 'unique', entry), address.key)
    if (record.expiresAtMs !== null)
      this.#batch.putUncached(documentAddressKind, expiryKey(record.expiresAtMs, key), address)
  }

  /** Deletes a document, if it exists, with its hot value. */
  #drop(address: DocumentAddress | null, record: DocumentRecord | null): void {
    if (address === null || record === null) return
    this.#remove(address, record)
    this.#delete(documentRecordKey(address, 'hot', address.key))
  }

  #remove(address: DocumentAddress, record: DocumentRecord): void {
    const key = documentRecordKey(address, 'document', address.key)
    this.#delete(key)
    for (const entry of record.entries) this.#delete(documentRecordKey(address, 'entry', entry))
    for (const entry of record.unique) this.#delete(documentRecordKey(address, 'unique', entry))
    if (record.expiresAtMs !== null) this.#delete(expiryKey(record.expiresAtMs, key))
  }

  #get<T>(kind: RecordKind<T>, key: Key): T | null {
    const staged = this.#staged.get(keyText(key))
    return staged === undefined ? this.#view.get(kind, key) : (staged as T | null)
  }

  #put<T>(kind: RecordKind<T>, key: Key, value: T): void {
    this.#staged.set(keyText(key), value)
    this.#batch.put(kind, key, value)
  }

  #delete(key: Key): void {
    this.#staged.set(keyText(key), null)
    this.#batch.delete(key)
  }
}

/** Tells whether a document is not served any more. */
export const isExpired = ({ expiresAtMs }: Pick<DocumentHeader, 'expiresAtMs'>, nowMs: number): boolean =>
  expiresAtMs !== null && nowMs >= expiresAtMs

/** Returns a stored hot value in the form of the port. For null that is the token 0 and no value. */
export const hotValueOf = (hot: FencedRecord | null): HotValue => ({
  token: hot?.token ?? 0,
  value: hot === null || hot.value === '' ? null : hot.value
})

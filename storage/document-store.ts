/** The place of a document. Documents of one kind and partition are ordered by the bytes of their keys. */
export interface DocumentAddress {
  readonly kind: string
  readonly partition: string
  readonly key: Uint8Array
}

/**
 * A document as an adapter stores it. An adapter knows no schema, so everything that follows from the value is stated here.
 */
export interface DocumentRow {
  readonly address: DocumentAddress
  /** Random, chosen by the writer; unique to each write of the document. */
  readonly version: string
  /** The version that the document was inserted with. */
  readonly born: string
  /**
   * The versions before this one, newest first: the last TRAIL_MAX. They tell whether a write without an answer was done.
   */
  readonly trail: readonly string[]
  /** Unix milliseconds from which the document is not served; null means never. */
  readonly expiresAtMs: number | null
  /** Entries that lists by an index go through, ordered by their bytes. */
  readonly entries: readonly Uint8Array[]
  /** Entries that one document of a partition can have at a time. */
  readonly unique: readonly Uint8Array[]
  /** JSON. */
  readonly value: string
}

/** A document without its value, as a later write of it needs it. */
export type DocumentHeader = Omit<DocumentRow, 'value'>

export const TRAIL_MAX = 8

/** A document that is to be stored. Its expiry is counted from the write by the store's clock. */
export type NewDocumentRow = Omit<DocumentRow, 'expiresAtMs'> & {
  readonly ttlMs: number | null
  /** Whether a crash of the machine may undo the write. */
  readonly isScratch: boolean
}

/**
 * The reason why a document was not stored. Another document has its key (`exists`) or a unique entry (`taken`), or it has
 * changed (`changed`).
 */
export type Refusal = 'exists' | 'taken' | 'changed'

/** The hot value of a document. */
export interface HotValue {
  /** The greatest token that the document was fenced or written with; 0 before the first. */
  readonly token: number
  /** The value that was written with the greatest token of all, or null. */
  readonly value: string | null
}

/** A stretch of the keys, or of the index entries, of one kind and partition: from `gte` up to but without `lt`. */
export interface DocumentRange {
  readonly kind: string
  readonly partition: string
  readonly of: 'keys' | 'entries'
  readonly gte: Uint8Array
  readonly lt: Uint8Array
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface DocumentRowPage {
  readonly rows: readonly DocumentRow[]
  /** The key or entry after which the next page begins; null at the end of the range. */
  readonly last: Uint8Array | null
}

/** A kind of history, and how a cluster divides the rows of an owner. */
export interface HistoryKind {
  readonly kind: string
  readonly bucketMs: number
}

/** A row of a history. Rows of an owner are ordered by the bytes of their keys, which begin with the time. */
export interface HistoryRow {
  readonly key: Uint8Array
  /** JSON. */
  readonly value: string
}

export interface NewHistoryRow extends HistoryRow {
  readonly owner: string
  readonly atMs: number
  readonly ttlMs: number | null
}

/**
 * Stores documents of every kind, on each adapter. A write resolves after it is durable (a scratch document's after the
 * engine has it); reads that begin after that see it. Expired documents are absent for all methods, and are deleted from
 * disk later. Every method rejects with STORAGE_UNAVAILABLE when the store cannot answer; it is then unknown whether a write
 * was done.
 */
export interface DocumentStore {
  get(address: DocumentAddress): Promise<DocumentRow | null>
  /** The document that has a unique entry. */
  owner(kind: string, partition: string, unique: Uint8Array): Promise<DocumentRow | null>
  list(range: DocumentRange): Promise<DocumentRowPage>
  /**
   * Stores a document with all of its entries, or nothing. The stored version must be that of `before`; with null there must
   * be no document. It is written once, even if the store loses the answer and retries. With `isSoon` it may wait about 20
   * ms to share a disk sync with other writes.
   */
  put(
    row: NewDocumentRow,
    before: DocumentHeader | null,
    options?: { readonly isSoon?: boolean }
  ): Promise<DocumentRow | Refusal>
  /** Deletes a document with its entries and its hot value; false if it has changed or is gone. */
  delete(before: DocumentHeader): Promise<boolean>
  /**
   * Stores a hot value of a document under the fencing token of a lease. It needs no condition, and is one plain write: a
   * value is never read once another value has a greater token. Values under one token count in the order of the calls. If
   * the document does not exist, the embedded store stores nothing, and a cluster keeps an orphan that is never read.
   */
  putFenced(document: DocumentHeader, token: number, value: string): Promise<void>
  /**
   * Announces a writer with a token, and copies the current value to that token. Later writes with a lesser token are never
   * read. Resolves with the value and the greatest token; if that is another writer's, nothing is changed. If a lesser
   * writer reads after its write, either it sees this token, or its write is the value returned here.
   */
  fence(document: DocumentHeader, token: number): Promise<HotValue>
  /** The hot values of documents, in their order. */
  fenced(documents: readonly DocumentHeader[]): Promise<HotValue[]>
  /**
   * Stores rows of histories, without a condition and without a list besides that of their owner. A row that is stored
   * already, or was deleted, may be appended again only as it was.
   */
  append(kind: HistoryKind, rows: readonly NewHistoryRow[]): Promise<void>
  /** Reads the newest rows of an owner, the newest first. */
  newest(kind: HistoryKind, owner: string, limit: number): Promise<HistoryRow[]>
  /** Deletes the rows of an owner up to and including a key; with null all rows. */
  deleteUpTo(kind: HistoryKind, owner: string, key: Uint8Array | null): Promise<void>
}

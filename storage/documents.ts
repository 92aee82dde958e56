import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { ServiceError } from '../src/errors.ts'
import { encodeKey, endOf } from './codec/document-key.ts'
import type { DocumentKey } from './codec/document-key.ts'
import type { DocumentDefinition } from './document-definition.ts'
import { TRAIL_MAX } from './document-store.ts'
import type {
  DocumentAddress,
  DocumentRow,
  DocumentStore,
  NewDocumentRow,
  Refusal
} from './document-store.ts'

/** Bytes of a value at most. Chosen: well below the 50 KiB at which servers refuse a batch with its entries. */
export const DOCUMENT_BYTES_MAX = 32 * 2 ** 10
/** Entries of one document at most, so that they are one batch with it. */
const ENTRIES_MAX = 16
/** Documents of one page at most: 32 MiB of the largest. */
export const PAGE_MAX = 1_000

/** A document as it was read or written. */
export interface Stored<T> {
  readonly value: T
  /** Opaque; no two writes have the same one. */
  readonly version: string
  readonly row: DocumentRow
}

export type Outcome<T> =
  { readonly ok: true; readonly stored: Stored<T> } | { readonly ok: false; readonly reason: Refusal }

export interface ListOptions {
  /** Only documents whose key, or index entry, begins with these parts. */
  readonly prefix?: DocumentKey
  /** Only those up to and including these parts. */
  readonly until?: DocumentKey
  /** `next` of the page before. */
  readonly after?: string | null
  readonly order?: 'asc' | 'desc'
  /** From 1 to PAGE_MAX. */
  readonly limit: number
}

export interface Page<T> {
  readonly documents: readonly Stored<T>[]
  /** Continues the list; null at its end. Text of letters, digits, `-` and `_`, which may be shown to clients. */
  readonly next: string | null
}

/** Documents of one kind, typed and checked by their schema. */
export class Documents<T, Index extends string = never, Unique extends string = never, Hot = never> {
  readonly #store: DocumentStore
  readonly #definition: DocumentDefinition<T, Index, Unique, Hot>

  constructor(store: DocumentStore, definition: DocumentDefinition<T, Index, Unique, Hot>) {
    this.#store = store
    this.#definition = definition
  }

  async get(partition: string, key: DocumentKey): Promise<Stored<T> | null> {
    const row = await this.#store.get(this.#address(partition, key))
    return row === null ? null : this.#read(row)
  }

  /** The document with a unique value. */
  async findBy(unique: Unique, partition: string, value: DocumentKey): Promise<Stored<T> | null> {
    const entry = encodeKey([unique, ...value])
    const row = await this.#store.owner(this.#definition.kind, partition, entry)
    return row === null ? null : this.#read(row)
  }

  /** Stores a document that is not there; refused with `exists` or `taken`. */
  async insert(value: T): Promise<Outcome<T>> {
    return this.#put(value, null)
  }

  /**
   * Stores a document in place of the version that was read; refused with `changed` or `taken`. Its partition and key stay
   * as they are. The time to live begins anew.
   */
  async update(before: Stored<T>, value: T): Promise<Outcome<T>> {
    return this.#put(value, before.row)
  }

  /** Deletes the version that was read; false where the document has changed or is gone. */
  delete(before: Stored<T>): Promise<boolean> {
    return this.#store.delete(before.row)
  }

  /** Lists the documents of a partition in the order of their keys. */
  list(partition: string, options: ListOptions): Promise<Page<T>> {
    return this.#list(partition, 'keys', [], options)
  }

  /** Lists the documents that an index has, in its order; those of one entry in the order of their keys. */
  listBy(index: Index, partition: string, options: ListOptions): Promise<Page<T>> {
    return this.#list(partition, 'entries', [index], options)
  }

  /** Lists documents whose entry in an index begins with a time up to now, the longest due first. */
  async due(index: Index, partition: string, nowMs: number, limit: number): Promise<readonly Stored<T>[]> {
    const { documents } = await this.listBy(index, partition, { until: [nowMs], limit })
    return documents
  }

  /** Stores the hot value of a document under a lease's fencing token, as DocumentStore.putFenced does. */
  async putHot(document: Pick<Stored<T>, 'row'>, token: number, hot: Hot): Promise<void> {
    await this.#store.putFenced(document.row, token, this.#encoded(this.#hotSchema, hot))
  }

  /** The hot values of documents, in their order. */
  async hot(documents: readonly Pick<Stored<T>, 'row'>[]): Promise<(Hot | null)[]> {
    const values = await this.#store.fenced(documents.map(({ row }) => row))
    return values.map((value) => (value === null ? null : this.#decoded(this.#hotSchema, value)))
  }

  async #list(
    partition: string,
    of: 'keys' | 'entries',
    before: DocumentKey,
    { prefix = [], until, after = null, order = 'asc', limit }: ListOptions
  ): Promise<Page<T>> {
    if (!(limit >= 1 && limit <= PAGE_MAX)) throw new RangeError(`a page of ${limit} documents`)
    const begin = encodeKey([...before, ...prefix])
    let [gte, lt] = [begin, endOf(until === undefined ? begin : encodeKey([...before, ...prefix, ...until]))]
    if (after !== null) {
      const last = Buffer.from(after, 'base64url')
      const isBeyond = Buffer.compare(last, gte) < 0 || Buffer.compare(last, lt) >= 0
      if (isBeyond) throw new ServiceError('CURSOR_INVALID', 'the position is none of this list')
      if (order === 'asc') gte = Buffer.concat([last, Buffer.of(0)])
      else lt = last
    }
    const { kind } = this.#definition
    const { rows, last } = await this.#store.list({ kind, partition, of, gte, lt, order, limit })
    const next = last === null ? null : Buffer.from(last).toString('base64url')
    return { documents: rows.map((row) => this.#read(row)), next }
  }

  async #put(value: T, before: DocumentRow | null): Promise<Outcome<T>> {
    const row = this.#row(value, before)
    const stored = await this.#store.put(row, before)
    if (typeof stored === 'string') return { ok: false, reason: stored }
    return { ok: true, stored: { value, version: stored.version, row: stored } }
  }

  #row(value: T, before: DocumentRow | null): NewDocumentRow {
    const { partition, key, indexes, unique, schema, ttlMs = null } = this.#definition
    const address = this.#address(partition(value), key(value))
    if (before !== null && !isSameAddress(address, before.address))
      throw new RangeError(`an update of a ${address.kind} must not change its partition or key`)
    const entries = encodedEntries<T>(indexes, value).map((entry) => Buffer.concat([entry, address.key]))
    const uniques = encodedEntries<T>(unique, value)
    if (entries.length + uniques.length > ENTRIES_MAX)
      throw new RangeError(`a ${address.kind} has more than ${ENTRIES_MAX} entries`)
    const version = randomBytes(12).toString('base64url')
    return {
      address,
      version,
      born: before?.born ?? version,
      trail: before === null ? [] : [before.version, ...before.trail].slice(0, TRAIL_MAX),
      entries,
      unique: uniques,
      value: this.#encoded(schema, value),
      ttlMs
    }
  }

  #address(partition: string, key: DocumentKey): DocumentAddress {
    return { kind: this.#definition.kind, partition, key: encodeKey(key) }
  }

  #read(row: DocumentRow): Stored<T> {
    return { value: this.#decoded(this.#definition.schema, row.value), version: row.version, row }
  }

  get #hotSchema(): z.ZodType<Hot> {
    const { hot, kind } = this.#definition
    if (hot === undefined) throw new TypeError(`a ${kind} has no hot value`)
    return hot
  }

  /** Throws RangeError, naming the field, for a value that is none of the schema or too large. */
  #encoded<V>(schema: z.ZodType<V>, value: V): string {
    const { kind } = this.#definition
    const encoded = z.safeEncode(schema, value)
    if (!encoded.success)
      throw new RangeError(`a ${kind} cannot be stored: ${z.prettifyError(encoded.error)}`)
    const text = JSON.stringify(encoded.data)
    const bytes = Buffer.byteLength(text)
    if (bytes > DOCUMENT_BYTES_MAX)
      throw new RangeError(`a ${kind} of ${bytes} bytes is larger than ${DOCUMENT_BYTES_MAX}`)
    return text
  }

  #decoded<V>(schema: z.ZodType<V>, text: string): V {
    // The text is JSON that was written here, under a checksum.
    const decoded = schema.safeParse(JSON.parse(text))
    if (decoded.success) return decoded.data
    const { kind } = this.#definition
    throw new ServiceError(
      'STORAGE_UNAVAILABLE',
      `a stored ${kind} does not follow its schema: ${z.prettifyError(decoded.error)}`
    )
  }
}

function encodedEntries<T>(
  indexes: Readonly<Record<string, (value: T) => DocumentKey | null>> | undefined,
  value: T
): Buffer[] {
  return Object.entries(indexes ?? {}).flatMap(([name, entryOf]) => {
    const entry = entryOf(value)
    return entry === null ? [] : [encodeKey([name, ...entry])]
  })
}

const isSameAddress = (a: DocumentAddress, b: DocumentAddress): boolean =>
  a.partition === b.partition && Buffer.compare(a.key, b.key) === 0

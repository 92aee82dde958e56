import type { z } from 'zod'
import { ERRORS, ServiceError } from '../src/kernel/errors.ts'
import { encodeKey, endOf } from './codec/document-key.ts'
import type { DocumentKey } from './codec/document-key.ts'
import type { DocumentDefinition } from './document-definition.ts'
import type {
  DocumentAddress,
  DocumentHeader,
  DocumentRange,
  DocumentRow,
  DocumentStore,
  HotValue,
  Refusal
} from './document-store.ts'
import { decodedValue, encodedValue, newRow } from './document-values.ts'
import { noted } from '../src/kernel/request-effects.ts'

/** Maximum documents of one page: 32 MiB of the largest. */
export const PAGE_MAX = 1_000

/** Maximum attempts of a change when other changes come first: far more than two processes cause each other. */
const CHANGE_TRIES = 20

/** A document as it was read or written. */
export interface Stored<T> {
  readonly value: T
  /** Opaque; unique to each write. */
  readonly version: string
  readonly header: DocumentHeader
}

export type Outcome<T> =
  | { readonly ok: true; readonly stored: Stored<T> }
  | { readonly ok: false; readonly reason: Refusal }

export interface ListOptions {
  /** Only documents whose key, or index entry, begins with these parts. */
  readonly prefix?: DocumentKey
  /** Only those after these parts, and after all that begin with them. */
  readonly above?: DocumentKey
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

/** A hot value, and the greatest token that its document was fenced or written with. */
export interface FencedHot<Hot> {
  readonly token: number
  readonly hot: Hot | null
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

  /** Stores a new document; refused with `exists` or `taken`. With `isSoon` it may wait for other writes. */
  async insert(value: T, options?: { readonly isSoon?: boolean }): Promise<Outcome<T>> {
    return this.#put(value, null, options)
  }

  /**
   * Stores a document in place of the version that was read; refused with `changed` or `taken`. Its partition and key stay
   * as they are. The TTL begins again.
   */
  async update(before: Stored<T>, value: T): Promise<Outcome<T>> {
    return this.#put(value, before.header)
  }

  /**
   * Changes a document that was read. If it has changed since, the change is applied again to the newer version, so `change`
   * may run several times. If `change` returns the value it was given, nothing is written. Refused with `changed` if the
   * document is gone, or with `taken`.
   */
  async change(document: Stored<T>, change: (value: T) => T): Promise<Outcome<T>> {
    let before: Stored<T> | null = document
    for (let tries = 0; tries < CHANGE_TRIES; tries++) {
      const value = change(before.value)
      if (value === before.value) return { ok: true, stored: before }
      const outcome: Outcome<T> = await this.update(before, value)
      if (outcome.ok || outcome.reason !== 'changed') return outcome
      const row = await this.#store.get(before.header.address)
      if (row === null) return outcome
      before = this.#read(row)
    }
    const { kind } = this.#definition
    throw new ServiceError(
      ERRORS.STORAGE_UNAVAILABLE,
      `other changes of a ${kind} came first ${CHANGE_TRIES} times`
    )
  }

  /** Deletes the version that was read; false if the document has changed or is gone. */
  delete(before: Stored<T>): Promise<boolean> {
    return noted(
      () => this.#store.delete(before.header),
      (isDeleted) => isDeleted
    )
  }

  /**
   * Lists the documents of a partition in the order of their keys. A document whose stored version is `known` is not parsed
   * again.
   */
  list(
    partition: string,
    options: ListOptions,
    known?: (version: string) => Stored<T> | undefined
  ): Promise<Page<T>> {
    return this.#list(partition, 'keys', [], options, known)
  }

  /**
   * Reads all documents of a partition in the order of their keys: for partitions that fit in memory. A document whose
   * stored version is `known` is not parsed again.
   */
  async all(
    partition: string,
    known: (version: string) => Stored<T> | undefined = () => undefined
  ): Promise<Stored<T>[]> {
    const all: Stored<T>[] = []
    let range: DocumentRange | null = this.#range(partition, 'keys', [], { limit: PAGE_MAX })
    while (range !== null) {
      const { rows, last } = await this.#store.list(range)
      for (const row of rows) all.push(known(row.version) ?? this.#read(row))
      range = last === null ? null : { ...range, gte: after(last) }
    }
    return all
  }

  /**
   * Lists the documents that an index has, in its order; those of one entry in the order of their keys. A document whose
   * stored version is `known` is not parsed again.
   */
  listBy(
    index: Index,
    partition: string,
    options: ListOptions,
    known?: (version: string) => Stored<T> | undefined
  ): Promise<Page<T>> {
    return this.#list(partition, 'entries', [index], options, known)
  }

  /** Lists documents whose entry in an index begins with a time up to now, the longest due first. */
  async due(index: Index, partition: string, nowMs: number, limit: number): Promise<readonly Stored<T>[]> {
    const { documents } = await this.listBy(index, partition, { until: [nowMs], limit })
    return documents
  }

  /** Stores the hot value of a document under a lease's fencing token, as DocumentStore.putFenced does. */
  async putHot(document: Pick<Stored<T>, 'header'>, token: number, hot: Hot): Promise<void> {
    await this.#store.putFenced(
      document.header,
      token,
      encodedValue(this.#definition.kind, this.#hotSchema, hot)
    )
  }

  /** Announces a writer of the hot value with a greater token, as DocumentStore.fence does; resolves with the value. */
  async fenceHot(document: Pick<Stored<T>, 'header'>, token: number): Promise<FencedHot<Hot>> {
    return this.#fencedHot(await this.#store.fence(document.header, token))
  }

  /** The hot values of documents, in their order. */
  async hot(documents: readonly Pick<Stored<T>, 'header'>[]): Promise<(Hot | null)[]> {
    return (await this.fencedHot(documents)).map(({ hot }) => hot)
  }

  /** The hot values of documents in their order, each with the greatest token that it was fenced or written with. */
  async fencedHot(documents: readonly Pick<Stored<T>, 'header'>[]): Promise<FencedHot<Hot>[]> {
    const values = await this.#store.fenced(documents.map(({ header }) => header))
    return values.map((each) => this.#fencedHot(each))
  }

  #fencedHot({ token, value }: HotValue): FencedHot<Hot> {
    const hot = value === null ? null : decodedValue(this.#definition.kind, this.#hotSchema, value)
    return { token, hot }
  }

  async #list(
    partition: string,
    of: DocumentRange['of'],
    before: DocumentKey,
    options: ListOptions,
    known: (version: string) => Stored<T> | undefined = () => undefined
  ): Promise<Page<T>> {
    const { rows, last } = await this.#store.list(this.#range(partition, of, before, options))
    const next = last === null ? null : Buffer.from(last).toString('base64url')
    return { documents: rows.map((row) => known(row.version) ?? this.#read(row)), next }
  }

  #range(
    partition: string,
    of: DocumentRange['of'],
    before: DocumentKey,
    { prefix = [], above, until, after: position = null, order = 'asc', limit }: ListOptions
  ): DocumentRange {
    if (!(limit >= 1 && limit <= PAGE_MAX)) throw new RangeError(`a page of ${limit} documents`)
    const begin = encodeKey([...before, ...prefix])
    let [gte, lt] = [begin, endOf(until === undefined ? begin : encodeKey([...before, ...prefix, ...until]))]
    if (above !== undefined) gte = endOf(encodeKey([...before, ...prefix, ...above]))
    if (position !== null) {
      const last = Buffer.from(position, 'base64url')
      const isBeyond = Buffer.compare(last, gte) < 0 || Buffer.compare(last, lt) >= 0
      if (isBeyond) throw new ServiceError(ERRORS.CURSOR_INVALID, 'the position is not of this list')
      if (order === 'asc') gte = after(last)
      else lt = last
    }
    return { kind: this.#definition.kind, partition, of, gte, lt, order, limit }
  }

  async #put(
    value: T,
    before: DocumentHeader | null,
    options?: { readonly isSoon?: boolean }
  ): Promise<Outcome<T>> {
    const stored = await noted(
      () => this.#store.put(newRow(this.#definition, value, before), before, options),
      (outcome) => typeof outcome !== 'string'
    )
    if (typeof stored === 'string') return { ok: false, reason: stored }
    return { ok: true, stored: storedOf(value, stored) }
  }

  #address(partition: string, key: DocumentKey): DocumentAddress {
    return { kind: this.#definition.kind, partition, key: encodeKey(key) }
  }

  #read(row: DocumentRow): Stored<T> {
    const { kind, schema } = this.#definition
    return storedOf(decodedValue(kind, schema, row.value), row)
  }

  get #hotSchema(): z.ZodType<Hot> {
    const { hot, kind } = this.#definition
    if (hot === undefined) throw new TypeError(`a ${kind} has no hot value`)
    return hot
  }
}

/** Keeps the header without the value's text, so that the value is not in memory twice. */
function storedOf<T>(value: T, { value: _, ...header }: DocumentRow): Stored<T> {
  return { value, version: header.version, header }
}

/**
 * The part of a document's header that its hot value needs: a fifth of it. For documents of which thousands are held at
 * once.
 */
export interface DocumentReference {
  readonly partition: string
  readonly version: string
  readonly born: string
  readonly expiresAtMs: number | null
}

export function referenceOf({
  header: { address, version, born, expiresAtMs }
}: Pick<Stored<unknown>, 'header'>): DocumentReference {
  return { partition: address.partition, version, born, expiresAtMs }
}

/** Returns a document whose hot value can be read and written. A change of the document itself needs a read first. */
export function storedFrom<T, Index extends string, Unique extends string, Hot>(
  { kind, key }: DocumentDefinition<T, Index, Unique, Hot>,
  value: T,
  { partition, ...rest }: DocumentReference
): Stored<T> {
  const address = { kind, partition, key: encodeKey(key(value)) }
  const header: DocumentHeader = { ...rest, address, trail: [], entries: [], unique: [] }
  return { value, version: rest.version, header }
}

/** The first bytes that sort above a key or entry. */
const after = (last: Uint8Array): Buffer => Buffer.concat([last, Buffer.of(0)])

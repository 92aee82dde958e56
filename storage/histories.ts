import type { z } from 'zod'
import { encodeKey } from './codec/document-key.ts'
import type { DocumentKey } from './codec/document-key.ts'
import type { DocumentStore, HistoryRow } from './document-store.ts'
import { decodedValue, encodedValue } from './document-values.ts'

/** The definition of a history: rows that come with events, each written once. */
export interface HistoryDefinition<T> {
  /** Name in words for the operator; it is a part of stored keys, and must stay. No kind of documents has it. */
  readonly kind: string
  /** Values as JSON, as those of a document. A field that is added later needs a default. */
  readonly schema: z.ZodType<T>
  /** Rows that are listed together, such as those of one webhook. */
  readonly owner: (value: T) => string
  /** Unix milliseconds, by which rows are ordered. */
  readonly atMs: (value: T) => number
  /** Distinguishes rows of one time. A row with the time and id of an earlier one is that row. */
  readonly id: (value: T) => DocumentKey
  /** Milliseconds for which a row is stored; null for ever. */
  readonly ttlMs: number | null
  /** Milliseconds whose rows of an owner share a partition of a cluster: at most 100 MB of them. */
  readonly bucketMs: number
}

/** Declares a history. */
export const defineHistory = <T>(definition: HistoryDefinition<T>): HistoryDefinition<T> => definition

/** The place of a row in its owner's history; opaque. */
export type HistoryPlace = Uint8Array & { readonly place?: never }

export interface HistoryItem<T> {
  readonly value: T
  readonly place: HistoryPlace
}

/** Rows of one history, typed and checked by their schema. */
export class History<T> {
  readonly #store: DocumentStore
  readonly #definition: HistoryDefinition<T>

  constructor(store: DocumentStore, definition: HistoryDefinition<T>) {
    this.#store = store
    this.#definition = definition
  }

  /** Stores rows durably, one by one. Rows that are stored already stay as they are. Rejects with STORAGE_UNAVAILABLE. */
  async append(values: readonly T[]): Promise<void> {
    const { kind, schema, owner, atMs, id, ttlMs, bucketMs } = this.#definition
    const rows = values.map((value) => ({
      owner: owner(value),
      atMs: atMs(value),
      key: encodeKey([atMs(value), ...id(value)]),
      value: encodedValue(kind, schema, value),
      ttlMs
    }))
    await this.#store.append({ kind, bucketMs }, rows)
  }

  /** Lists the newest rows of an owner, the newest first. */
  async newest(owner: string, limit: number): Promise<HistoryItem<T>[]> {
    const { kind, schema, bucketMs } = this.#definition
    const rows = await this.#store.newest({ kind, bucketMs }, owner, limit)
    return rows.map(({ key, value }: HistoryRow) => ({
      value: decodedValue(kind, schema, value),
      place: key
    }))
  }

  /** Deletes the rows of an owner up to a place, which is one of them; with null all rows. */
  async deleteUpTo(owner: string, place: HistoryPlace | null): Promise<void> {
    const { kind, bucketMs } = this.#definition
    await this.#store.deleteUpTo({ kind, bucketMs }, owner, place)
  }
}

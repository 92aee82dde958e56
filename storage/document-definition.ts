import { z } from 'zod'
import type { DocumentKey } from './codec/document-key.ts'

/** The definition of a kind of documents; documents.ts derives everything else from it, for every adapter. */
export interface DocumentDefinition<
  T,
  Index extends string = never,
  Unique extends string = never,
  Hot = never
> {
  /** Name in words for the operator, such as `webhook`; it is a part of stored keys, and must stay. */
  readonly kind: string
  /** Values as JSON: bytes and bigint by `jsonBytes` and `jsonBigint`. A field that is added later needs a default. */
  readonly schema: z.ZodType<T>
  /**
   * Documents that are listed together, and among which unique values are unique, such as those of a tenant. On a cluster
   * changes of one partition are made one after another.
   */
  readonly partition: (value: T) => string
  /** The order in the partition. */
  readonly key: (value: T) => DocumentKey
  /** The entry of a document in each index; null if it is not listed. For a due list it begins with unix milliseconds. */
  readonly indexes?: Readonly<Record<Index, (value: T) => DocumentKey | null>>
  /** Values that only one document of a partition has at a time; null if a document has no such value. */
  readonly unique?: Readonly<Record<Unique, (value: T) => DocumentKey | null>>
  /** Milliseconds for which a document is served after its last write; absent means for ever. */
  readonly ttlMs?: number
  /**
   * Whether a crash of the machine may undo the last writes, which are not synced. For data that can be recreated. A crash
   * of the process undoes none.
   */
  readonly isScratch?: boolean
  /** A value that changes often, stored separately from the document: a position, a count. */
  readonly hot?: z.ZodType<Hot>
}

/** Declares a kind of documents. */
export function defineDocument<T, Index extends string = never, Unique extends string = never, Hot = never>(
  definition: DocumentDefinition<T, Index, Unique, Hot>
): DocumentDefinition<T, Index, Unique, Hot> {
  return definition
}

/** Returns a kind whose documents are served for a time after their last write; null means for ever. */
export const withTtl = <Definition extends { readonly ttlMs?: number }>(
  definition: Definition,
  ttlMs: number | null
): Definition => (ttlMs === null ? definition : { ...definition, ttlMs })

/** Bytes, as base64 in JSON. */
export const jsonBytes = z.codec(z.string(), z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array), {
  // It checks the text as it decodes it; the check of zod is a decoding of its own.
  decode: (text, context) => {
    try {
      return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
    } catch {
      context.issues.push({
        code: 'invalid_format',
        format: 'base64',
        input: text,
        message: 'Invalid base64'
      })
      return z.NEVER
    }
  },
  encode: (bytes) => bytes.toBase64()
})

/** A bigint, as decimal digits in JSON. */
export const jsonBigint = z.codec(z.string().regex(/^-?\d{1,80}$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (value) => value.toString()
})

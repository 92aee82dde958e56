import { randomFillSync } from 'node:crypto'
import { z } from 'zod'
import { ServiceError } from '../src/kernel/errors.ts'
import { encodeKey } from './codec/document-key.ts'
import type { DocumentKey } from './codec/document-key.ts'
import type { DocumentDefinition } from './document-definition.ts'
import { TRAIL_MAX } from './document-store.ts'
import type { DocumentAddress, DocumentHeader, NewDocumentRow } from './document-store.ts'

/** Maximum bytes of a value: well below the 50 KiB at which servers refuse a batch with its entries. */
export const DOCUMENT_BYTES_MAX = 32 * 2 ** 10
/** Maximum entries of one document, so that they are one batch with it. */
const ENTRIES_MAX = 16

/**
 * Returns the row that stores a value, in place of an earlier version where one is given. Throws RangeError for a value
 * that cannot be stored, or has another partition or key than the earlier one.
 */
export function newRow<T, Index extends string, Unique extends string, Hot>(
  definition: DocumentDefinition<T, Index, Unique, Hot>,
  value: T,
  before: DocumentHeader | null
): NewDocumentRow {
  const { kind, partition, key, indexes, unique, schema, ttlMs = null, isScratch = false } = definition
  const address = { kind, partition: partition(value), key: encodeKey(key(value)) }
  if (before !== null && !isSameAddress(address, before.address))
    throw new RangeError(`an update of a ${kind} must not change its partition or key`)
  const entries = encodedEntries<T>(indexes, value).map((entry) => Buffer.concat([entry, address.key]))
  const uniques = encodedEntries<T>(unique, value)
  if (entries.length + uniques.length > ENTRIES_MAX)
    throw new RangeError(`a ${kind} has more than ${ENTRIES_MAX} entries`)
  const version = randomVersion()
  return {
    address,
    version,
    born: before?.born ?? version,
    trail: before === null ? [] : [before.version, ...before.trail].slice(0, TRAIL_MAX),
    entries,
    unique: uniques,
    value: encodedValue(kind, schema, value),
    ttlMs,
    isScratch
  }
}

const VERSION_BYTES = 12
/** Random bytes for the next versions: a call for each takes as long as for hundreds. */
const randomness = Buffer.alloc(VERSION_BYTES * 256)
let randomAt = randomness.length

function randomVersion(): string {
  if (randomAt === randomness.length) {
    randomFillSync(randomness)
    randomAt = 0
  }
  return randomness.toString('base64url', randomAt, (randomAt += VERSION_BYTES))
}

/** Encodes a value as JSON. Throws RangeError, naming the field, for a value that violates the schema or is too large. */
export function encodedValue<V>(kind: string, schema: z.ZodType<V>, value: V): string {
  const encoded = z.safeEncode(schema, value)
  if (!encoded.success) throw new RangeError(`a ${kind} cannot be stored: ${z.prettifyError(encoded.error)}`)
  const text = JSON.stringify(encoded.data)
  const bytes = Buffer.byteLength(text)
  if (bytes > DOCUMENT_BYTES_MAX)
    throw new RangeError(`a ${kind} of ${bytes} bytes is larger than ${DOCUMENT_BYTES_MAX}`)
  return text
}

/** Decodes a stored value. Throws STORAGE_UNAVAILABLE, naming the field, for one that does not follow the schema. */
export function decodedValue<V>(kind: string, schema: z.ZodType<V>, text: string): V {
  // The text is JSON that was written here, under a checksum.
  const decoded = schema.safeParse(JSON.parse(text))
  if (decoded.success) return decoded.data
  throw new ServiceError(
    'STORAGE_UNAVAILABLE',
    `a stored ${kind} does not follow its schema: ${z.prettifyError(decoded.error)}`
  )
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

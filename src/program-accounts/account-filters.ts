import { z } from 'zod'
import { decodeBase58 } from '../chain/base58.ts'
import type { BytesFilter } from '../accounts/ports.ts'
import type { DataMatcher } from '../../storage/port.ts'
import type { FieldPlace } from './field-place.ts'

/** Limits of nodes (agave: MAX_GET_PROGRAM_ACCOUNT_FILTERS, and MAX_DATA_SIZE of a memcmp). */
export const FILTERS_MAX = 4
export const COMPARED_BYTES_MAX = 128
/** Bytes of an account's data at most (agave, MAX_PERMITTED_DATA_LENGTH). */
export const DATA_BYTES_MAX = 10 * 1024 * 1024

/** Digits of 128 bytes in base58 and in base64: longer texts are refused before they are decoded. */
const BASE58_DIGITS_MAX = 175
const BASE64_DIGITS_MAX = 172

export type AccountFilter = { readonly dataSize: number } | { readonly memcmp: BytesFilter }

/** A fault of filters: its message, to be read after the name of the field, and the field's place in the list. */
export class FilterFault extends Error {
  readonly place: FieldPlace

  constructor(message: string, place: FieldPlace = []) {
    super(message)
    this.place = place
  }
}

const COUNT_MESSAGE = 'must be a whole number of at least 0'
const FILTER_MESSAGE = 'must be {"dataSize":n} or {"memcmp":{"offset":n,"bytes":text}}'

const count = z.int(COUNT_MESSAGE).min(0, COUNT_MESSAGE)
/** A single object, so that the refusal of a field names that field and not the filter. */
const jsonFilter = z
  .strictObject(
    {
      dataSize: count.optional(),
      memcmp: z
        .strictObject(
          {
            offset: count,
            bytes: z.string('must be text'),
            encoding: z.enum(['base58', 'base64'], 'must be base58 or base64').default('base58')
          },
          { error: ({ code }) => (code === 'unrecognized_keys' ? undefined : 'must be an object') }
        )
        .optional()
    },
    FILTER_MESSAGE
  )
  .refine(({ dataSize, memcmp }) => (dataSize === undefined) !== (memcmp === undefined), FILTER_MESSAGE)

/** Reads `<offset>:<base58>`. Throws FilterFault. */
export function memcmpOf(text: string): AccountFilter {
  const [, offset, bytes] = /^(\d{1,9}):([^:]*)$/.exec(text) ?? []
  if (offset === undefined) throw new FilterFault('must be <offset>:<base58>')
  return { memcmp: filterOf(Number(offset), bytes!, 'base58') }
}

/** Reads a JSON array of filters as in getProgramAccounts. Throws FilterFault, which names the wrong field. */
export function filtersOf(text: string): AccountFilter[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    throw new FilterFault('must be a JSON array')
  }
  if (!Array.isArray(list)) throw new FilterFault('must be a JSON array')
  return list.map((each, i) => {
    const known = jsonFilter.safeParse(each)
    if (!known.success) throw faultOf(known.error.issues[0]!, i)
    const { dataSize, memcmp } = known.data
    if (memcmp === undefined) return { dataSize: dataSize! }
    return { memcmp: filterOf(memcmp.offset, memcmp.bytes, memcmp.encoding, [i, 'memcmp', 'bytes']) }
  })
}

function faultOf(issue: z.core.$ZodIssue, i: number): FilterFault {
  const place = [i, ...(issue.path as (string | number)[])]
  if (issue.code !== 'unrecognized_keys' || place.length === 1) return new FilterFault(issue.message, place)
  return new FilterFault('is not a field of memcmp', [...place, issue.keys[0]!])
}

/** Throws FilterFault for too many filters, or for filters that no account can pass. */
export function checkFilters(filters: readonly AccountFilter[]): void {
  if (filters.length > FILTERS_MAX)
    throw new FilterFault(`must not bring the filters to more than ${FILTERS_MAX}`)
  const sizes = filters.flatMap((each) => ('dataSize' in each ? [each.dataSize] : []))
  const shortest = Math.min(DATA_BYTES_MAX, ...sizes)
  for (const each of filters)
    if ('memcmp' in each && each.memcmp.offset + each.memcmp.bytes.length > shortest)
      throw new FilterFault(
        `must not compare past the data: ${each.memcmp.offset} + ${each.memcmp.bytes.length} bytes is more than ${shortest}`
      )
}

/** Returns a matcher of data that pass all filters, which compares bytes in place; undefined if all data pass. */
export function matcherOf(filters: readonly AccountFilter[]): DataMatcher | undefined {
  const [first, ...others] = filters.map((each) =>
    'dataSize' in each ? sizeMatcher(each.dataSize) : bytesMatcher(each.memcmp)
  )
  if (first === undefined || others.length === 0) return first
  const all = [first, ...others]
  return (bytes, from, to) => {
    for (const matches of all) if (!matches(bytes, from, to)) return false
    return true
  }
}

const sizeMatcher =
  (size: number): DataMatcher =>
  (_, from, to) =>
    to - from === size

function bytesMatcher({ offset, bytes: wanted }: BytesFilter): DataMatcher {
  const { length } = wanted
  return (bytes, from, to) => {
    const at = from + offset
    if (at + length > to) return false
    for (let i = 0; i < length; i++) if (bytes[at + i] !== wanted[i]) return false
    return true
  }
}

function filterOf(
  offset: number,
  text: string,
  encoding: 'base58' | 'base64',
  place: FieldPlace = []
): BytesFilter {
  const tooLong = new FilterFault(`must compare at most ${COMPARED_BYTES_MAX} bytes`, place)
  if (text.length > (encoding === 'base64' ? BASE64_DIGITS_MAX : BASE58_DIGITS_MAX)) throw tooLong
  const bytes = decoded(text, encoding)
  if (bytes === null) throw new FilterFault(`must have its bytes in ${encoding}`, place)
  if (bytes.length > COMPARED_BYTES_MAX) throw tooLong
  return { offset, bytes }
}

function decoded(text: string, encoding: 'base58' | 'base64'): Uint8Array | null {
  try {
    return encoding === 'base64'
      ? Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
      : decodeBase58(text)
  } catch {
    return null
  }
}

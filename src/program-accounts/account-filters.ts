import { z } from 'zod'
import { decodeBase58 } from '../chain/base58.ts'
import type { BytesFilter } from '../accounts/ports.ts'
import { isTokenAccountIn } from '../localnet/node/token-state.ts'
import type { DataMatcher } from '../../storage/port.ts'
import type { FieldPlace } from './field-place.ts'

/**
 * Maximum filters of a request, and bytes that a memcmp compares. Limits of nodes (agave:
 * MAX_GET_PROGRAM_ACCOUNT_FILTERS, and MAX_DATA_SIZE of a memcmp).
 */
export const FILTERS_MAX = 4
export const COMPARED_BYTES_MAX = 128
/** Maximum bytes of an account's data (agave, MAX_PERMITTED_DATA_LENGTH). */
export const DATA_BYTES_MAX = 10 * 1024 * 1024

/** Digits of 128 bytes in base58 and in base64: longer texts are refused before they are decoded. */
const BASE58_DIGITS_MAX = 175
const BASE64_DIGITS_MAX = 172

/** The filter that selects initialized token accounts, with or without extensions. */
export const TOKEN_ACCOUNT_STATE = 'tokenAccountState'

export type AccountFilter =
  | { readonly dataSize: number }
  | { readonly memcmp: BytesFilter }
  | { readonly state: typeof TOKEN_ACCOUNT_STATE }

/** A fault of filters: its message, to be read after the name of the field, and the field's place in the list. */
export class FilterFault extends Error {
  readonly place: FieldPlace

  constructor(message: string, place: FieldPlace = []) {
    super(message)
    this.place = place
  }
}

const COUNT_MESSAGE = 'must be a whole number of at least 0'
const FILTER_MESSAGE = 'must be {"dataSize":n}, {"memcmp":{"offset":n,"bytes":text}} or "tokenAccountState"'

const BYTE_MESSAGE = 'must be a whole number between 0 and 255'

const count = z.int(COUNT_MESSAGE).min(0, COUNT_MESSAGE)
const byte = z.int(BYTE_MESSAGE).min(0, BYTE_MESSAGE).max(255, BYTE_MESSAGE)
/** A single object, so that the refusal of a field names that field and not the filter. */
const jsonFilter = z
  .strictObject(
    {
      dataSize: count.optional(),
      memcmp: z
        .strictObject(
          {
            offset: count,
            bytes: z.union([z.string(), z.array(byte)], 'must be text or a list of bytes'),
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
    if (each === TOKEN_ACCOUNT_STATE) return { state: TOKEN_ACCOUNT_STATE }
    const known = jsonFilter.safeParse(each)
    if (!known.success) throw faultOf(known.error.issues[0]!, i)
    const { dataSize, memcmp } = known.data
    if (memcmp === undefined) return { dataSize: dataSize! }
    const { offset, bytes, encoding } = memcmp
    const place = [i, 'memcmp', 'bytes']
    if (typeof bytes === 'string') return { memcmp: filterOf(offset, bytes, encoding, place) }
    return { memcmp: { offset, bytes: boundedBytes(Uint8Array.from(bytes), place) } }
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

/** Returns a matcher of data that pass all filters, which compares bytes in place; undefined if there are no filters. */
export function matcherOf(filters: readonly AccountFilter[]): DataMatcher | undefined {
  const [first, ...others] = filters.map(filterMatcher)
  if (first === undefined || others.length === 0) return first
  const all = [first, ...others]
  return (bytes, from, to) => {
    for (const matches of all) if (!matches(bytes, from, to)) return false
    return true
  }
}

function filterMatcher(filter: AccountFilter): DataMatcher {
  if ('dataSize' in filter) return sizeMatcher(filter.dataSize)
  return 'memcmp' in filter ? bytesMatcher(filter.memcmp) : isTokenAccountIn
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
  if (text.length > (encoding === 'base64' ? BASE64_DIGITS_MAX : BASE58_DIGITS_MAX)) throw tooLong(place)
  const bytes = decoded(text, encoding)
  if (bytes === null) throw new FilterFault(`must have its bytes in ${encoding}`, place)
  return { offset, bytes: boundedBytes(bytes, place) }
}

function boundedBytes(bytes: Uint8Array, place: FieldPlace): Uint8Array {
  if (bytes.length > COMPARED_BYTES_MAX) throw tooLong(place)
  return bytes
}

const tooLong = (place: FieldPlace): FilterFault =>
  new FilterFault(`must compare at most ${COMPARED_BYTES_MAX} bytes`, place)

function decoded(text: string, encoding: 'base58' | 'base64'): Uint8Array | null {
  try {
    return encoding === 'base64'
      ? Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
      : decodeBase58(text)
  } catch {
    return null
  }
}

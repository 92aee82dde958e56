import { z } from 'zod'
import { withoutApiKeys } from '../../access/api-key.ts'
import { pubkeyFromBase58, type Pubkey } from '../../chain/pubkey.ts'
import { ERRORS, ServiceError } from '../errors.ts'

/** An address in a path or query. A malformed one is refused with `invalid_address`. */
export const address = z
  .string()
  .transform((text, context): Pubkey => {
    try {
      return pubkeyFromBase58(text)
    } catch {
      context.addIssue({
        code: 'custom',
        message: 'must be a base58 address of 32 bytes',
        params: { address: true }
      })
      return z.NEVER
    }
  })
  .meta({ format: 'solana-address', pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' })

/** A whole number in a query, `fallback` if absent. Out of range is refused, not clamped. */
export function wholeNumber(min: number, max: number, fallback: number) {
  const message = `must be a whole number between ${min} and ${max}`
  return (
    z
      .string()
      .regex(/^\d{1,15}$/, message)
      .transform(Number)
      .pipe(z.number().min(min, message).max(max, message))
      .default(fallback)
      // A query is text; the document describes the number.
      .meta({ type: 'integer', minimum: min, maximum: max, default: fallback })
  )
}

export function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, `must be one of ${values.join(', ')}`)
}

/** A flag in a query, `fallback` if absent: true and 1 are equal, as are false and 0. */
export function flag(fallback: boolean) {
  return oneOf(['true', 'false', '1', '0'])
    .default(fallback ? 'true' : 'false')
    .transform((text) => text === 'true' || text === '1')
}

/** Deepest offset; beyond it lists are walked with `after` (src/docs/endpoints.md). */
const OFFSET_DEPTH = 10_000

/** Query of every list. */
export function paging(limitMax: number, limitDefault: number) {
  return {
    limit: wholeNumber(1, limitMax, limitDefault).describe('Maximum number of rows'),
    offset: wholeNumber(0, OFFSET_DEPTH, 0).describe(
      `Rows to skip; offset + limit is at most ${OFFSET_DEPTH}. Use \`after\` to read further`
    ),
    order: oneOf(['desc', 'asc']).default('desc').describe('`desc`: newest first'),
    after: z.string().optional().describe('The `nextCursor` of the previous page, with the same parameters')
  }
}

/** Query of a list whose rows have a `cursor` (`readRowPlace`). */
export function rowPaging(limitMax: number, limitDefault: number) {
  return {
    ...paging(limitMax, limitDefault),
    after: z
      .string()
      .optional()
      .describe(
        'The `nextCursor` of the previous page, with the same parameters; or the `cursor` of a row, after which the page begins'
      )
  }
}

/** Checks combinations of paging parameters. Throws PARAMETER_INVALID. */
export function checkPaging(page: { limit: number; offset: number; after?: string | undefined }): void {
  if (page.offset + page.limit > OFFSET_DEPTH) {
    throw invalid('offset', `plus limit must be at most ${OFFSET_DEPTH}; use after to read further`)
  }
  if (page.after !== undefined && page.offset > 0) throw invalid('offset', 'must be 0 when after is given')
}

/**
 * Returns a function that validates input by a schema. It throws an error that names each wrong field, and refuses
 * unknown fields unless the schema is loose. The schema is compiled once, not for each request.
 */
export function reader<T extends z.ZodObject>(
  shape: T,
  source: 'url' | 'body' = 'url'
): (input: unknown) => z.output<T> {
  const strict = strictly(shape)
  return (input) => {
    const result = strict.safeParse(input)
    if (result.success) return result.data as z.output<T>
    throw refusalOf(result.error, source)
  }
}

/** Returns a schema that refuses unknown fields. A loose object (`z.looseObject`), which accepts them, stays unchanged. */
export const strictly = <T extends z.ZodObject>(shape: T): z.ZodObject =>
  shape.def.catchall === undefined ? shape.strict() : shape

const readers = new WeakMap<z.ZodObject, (input: unknown) => unknown>()

/** Validates input by a schema, as `reader` does. */
export function read<T extends z.ZodObject>(shape: T, input: unknown): z.output<T> {
  const known = readers.get(shape) ?? reader(shape)
  readers.set(shape, known)
  return known(input) as z.output<T>
}

function refusalOf(error: z.ZodError, source: 'url' | 'body'): ServiceError {
  const fields = error.issues.flatMap(innermost).flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        // The name may be an API key in the wrong place, and error texts get shared.
        field: withoutApiKeys(key),
        message: 'is not a parameter of this endpoint',
        address: false
      }))
    }
    const isAddress = issue.code === 'custom' && issue.params?.address === true
    const form =
      issue.code !== 'invalid_type' ? null : source === 'url' ? 'once, as text' : `as ${issue.expected}`
    const message = form === null ? issue.message : `must be given ${form}`
    return [{ field: issue.path.join('.') || source, message, address: isAddress }]
  })
  const first = fields[0]!
  const kind = fields.every((field) => field.address) ? ERRORS.ADDRESS_INVALID : ERRORS.PARAMETER_INVALID
  return new ServiceError(kind, `${first.field} ${first.message}`, {
    ...(fields.length > 1 ? { fields: fields.map(({ field, message }) => ({ field, message })) } : {})
  })
}

type Issue = z.core.$ZodIssue

/**
 * Returns the issues of the form of a union that the input most resembles: the form with the fewest issues, all inside it.
 * The union's own issue names only the place of the union.
 */
function innermost(issue: Issue): readonly Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const forms = issue.errors.filter(
    (each) =>
      each.length > 0 && each.every(({ path, code }) => path.length > 0 && code !== 'unrecognized_keys')
  )
  const [nearest] = forms.toSorted((a, b) => a.length - b.length)
  if (nearest === undefined)
    return [
      issue.message === 'Invalid input' ? { ...issue, message: 'has none of the accepted forms' } : issue
    ]
  return nearest
    .map((each) => ({ ...each, path: [...issue.path, ...each.path] }))
    .flatMap((each) => innermost(each))
}

/** Returns the refusal of a parameter for a reason beyond its schema. */
export function invalid(field: string, message: string): ServiceError {
  return new ServiceError(ERRORS.PARAMETER_INVALID, `${field} ${message}`)
}

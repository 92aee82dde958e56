import { z } from 'zod'
import { LateRows, type LateBody } from './late-rows.ts'

/**
 * Maximum characters of `fields`: all names of the largest row, those of a trade of a wallet, take 600. A longer text is
 * refused before it is split.
 */
const FIELDS_LENGTH_MAX = 2_000

/** The fields that a request names, in its order; null for all fields. */
export type FieldChoice = readonly string[] | null

/** Returns the names of the fields of a list's rows, in the order of the schema; null for an answer that is not a list. */
export function rowFieldsOf(answer: z.ZodType): readonly string[] | null {
  const data: unknown = answer instanceof z.ZodObject ? answer.shape['data'] : null
  const row: unknown = data instanceof z.ZodArray ? data.element : null
  return row instanceof z.ZodObject ? Object.keys(row.shape) : null
}

/** The parameter that selects the fields of rows. Each name may be given once, so a request has at most `known` names. */
export function fieldsParameter(known: readonly string[]) {
  const names = new Set(known)
  return z
    .string()
    .transform((text, context): readonly string[] => {
      const fault = text.length > FIELDS_LENGTH_MAX ? `must be at most ${FIELDS_LENGTH_MAX} characters` : null
      const chosen = fault === null ? text.split(',') : []
      const message = fault ?? fieldsFault(chosen, names)
      if (message === null) return chosen
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    })
    .optional()
    .meta({
      type: 'array',
      items: { type: 'string', enum: [...known] },
      minItems: 1,
      maxItems: known.length,
      uniqueItems: true
    })
    .describe(
      'Names of fields, separated by commas: rows have only these, in this order. A nested object is named as a whole. Default: all fields, which the schema of the answer describes'
    )
}

/** Returns why a choice of fields is refused; null if it is accepted. */
export function fieldsFault(chosen: readonly string[], known: ReadonlySet<string>): string | null {
  const unknown = chosen.find((name) => !known.has(name))
  if (unknown !== undefined)
    return `names ${JSON.stringify(unknown.slice(0, 64))}, which is not a field of these rows; they have ${[...known].join(', ')}`
  const repeated = chosen.find((name, at) => chosen.indexOf(name) !== at)
  return repeated === undefined ? null : `names ${repeated} twice`
}

/** Returns the chosen fields of a row, in the order of the choice. Absent fields stay absent. */
export function pickFields(row: object, fields: readonly string[]): object {
  const values = row as Readonly<Record<string, unknown>>
  const picked: Record<string, unknown> = {}
  for (const name of fields) if (values[name] !== undefined) picked[name] = values[name]
  return picked
}

/** Returns a list's body whose rows have only the chosen fields, once they are made. */
export function withPickedRows<Body>(
  body: Body | LateBody<Body>,
  fields: FieldChoice
): Body | LateBody<Body> {
  if (fields === null) return body
  const { data } = body as { readonly data: readonly object[] | LateRows<object> }
  return { ...body, data: LateRows.in(data).map((row) => pickFields(row, fields)) }
}

/** Returns the same with rows that are made, for a short list. */
export function withPickedRowsNow<Body>(body: Body, fields: FieldChoice): Body {
  if (fields === null) return body
  const { data } = body as { readonly data: readonly object[] }
  return { ...body, data: data.map((row) => pickFields(row, fields)) }
}

import type { FastifyRequest } from 'fastify'
import { oneOf } from '../parameters.ts'
import { LIST_FORMATS, acceptedFormat, type ListFormat } from './list-format.ts'
import { fieldsParameter, type FieldChoice } from './row-fields.ts'

/** Returns the parameters that every list has, and those of a list with columns. Throws a TypeError unless these are its fields. */
export function listParameters(rowFields: readonly string[], columns: readonly string[] | null) {
  const fields = fieldsParameter(rowFields)
  if (columns === null) return { fields }
  const unlisted = new Set(rowFields).symmetricDifference(new Set(columns))
  if (unlisted.size > 0 || columns.length !== rowFields.length)
    throw new TypeError(`columns must name each field of the rows once: ${[...unlisted].join(', ')}`)
  return {
    fields,
    format: oneOf(LIST_FORMATS)
      .optional()
      .describe(
        'Format of the answer; default: that of the `Accept` header (`text/csv`, `application/x-ndjson`), else JSON'
      )
  }
}

/** Choices of a request that every list offers. */
export interface ListChoice {
  readonly fields: FieldChoice
  readonly format: ListFormat
}

/** Returns the choices of a validated query. */
export function listChoice(
  query: object,
  columns: readonly string[] | null,
  { headers }: Pick<FastifyRequest, 'headers'>
): ListChoice {
  const { fields = null, format } = query as { readonly fields?: FieldChoice; readonly format?: ListFormat }
  return { fields, format: columns === null ? 'json' : (format ?? acceptedFormat(headers.accept)) }
}

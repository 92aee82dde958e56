import { z } from 'zod'
import { WEIGHT_SETTINGS } from '../../access/call-weights.ts'
import { pricesText, WORK_PRICES } from '../work/work-units.ts'
import { ERRORS } from '../errors.ts'
import type { ErrorKind } from '../error-kind.ts'
import type { Endpoint, Example, Served } from './endpoint.ts'
import { EXPORT_TRAILER, isExportable } from './list/export.ts'
import { IDEMPOTENCY_KEY_MAX } from './idempotency.ts'
import type { JsonSchema, JsonSchemas } from './json-schemas.ts'
import { withNullFields } from './null-fields.ts'
import { strictly } from './parameters.ts'
import { headersOf, type ProblemResponses } from './problem-responses.ts'

/** Errors that any request can have. */
const ANYWHERE = [
  ERRORS.PARAMETER_INVALID,
  ERRORS.REQUEST_TIMEOUT,
  ERRORS.HEADERS_EXCEEDED,
  ERRORS.CONNECTIONS_EXCEEDED,
  ERRORS.SERVICE_FAILED,
  ERRORS.STORAGE_UNAVAILABLE
] as const
const WITH_KEY = [
  ERRORS.KEY_MISSING,
  ERRORS.KEY_INVALID,
  ERRORS.KEY_EXPIRED,
  ERRORS.KEY_REVOKED,
  ERRORS.IP_REFUSED,
  ERRORS.ORIGIN_REFUSED,
  ERRORS.RATE_LIMITED
] as const
const WITH_BODY = [ERRORS.JSON_INVALID, ERRORS.BODY_EXCEEDED, ERRORS.MEDIA_TYPE_INVALID] as const

const EVERY_RESPONSE = ['X-Request-Id', 'X-Data-Freshness-Seconds']
const RATE = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Work-Units'
]

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
  readonly style?: string
  readonly explode?: boolean
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

/** The header of an endpoint that accepts an idempotency key. */
const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes a retry safe: within 24 hours, requests with one key, path and body take effect once and get the first answer, its secrets included. Use a random text, such as a UUID',
  schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX }
}

/** Returns an endpoint as an operation of the document. */
export function operationOf(
  { endpoint, isCached }: Served,
  schemas: JsonSchemas,
  problems: ProblemResponses
): JsonSchema {
  const { tag, summary, description, scope, params, query, body, examples, isIdempotent, weighted, work } =
    endpoint
  const parameters = [
    ...parametersOf(params, 'path', examples, schemas),
    ...parametersOf(query, 'query', examples, schemas),
    ...(isIdempotent ? [IDEMPOTENCY_KEY] : [])
  ]
  const isExported = isExportable(endpoint)
  const takesAddress = parameters.some(({ schema }) => schema.format === 'solana-address')
  return {
    operationId: operationId(endpoint),
    tags: [tag],
    summary,
    description: [
      description,
      isExported ? EXPORT_TEXT : undefined,
      costText(weighted),
      scope === 'open' ? undefined : workText(work, isCached),
      neededKey(scope)
    ]
      .filter((text) => text !== undefined)
      .join('\n\n'),
    security: securityOf(scope),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body instanceof z.ZodUndefined ? {} : { requestBody: requestBodyOf(body, examples, schemas) }),
    // If the endpoint sends a status itself, the document shows that answer.
    responses: {
      ...Object.fromEntries(problems.byStatus(errorsOf(endpoint, takesAddress))),
      ...answersOf(endpoint, isCached, schemas)
    }
  }
}

const EXPORT_TEXT = `With \`from\`, \`to\` and a table (\`format=csv\` or \`ndjson\`), but without \`limit\`, the answer is an export: all rows in one stream, counted against \`export_rows_per_day\` of the key. A complete export ends with the trailer \`${EXPORT_TRAILER}\`; any other breaks off.`

/** Returns the other formats of a list. */
const tableContent = (columns: readonly string[]): JsonSchema => ({
  'text/csv': {
    schema: {
      type: 'string',
      description: `A line for each row, after a header line. The columns are, in this order: ${columns.join(', ')}`
    }
  },
  'application/x-ndjson': {
    schema: { type: 'string', description: 'A line for each row, which is its JSON object' }
  }
})

function securityOf(scope: Endpoint['scope']): readonly JsonSchema[] {
  if (scope === 'open') return []
  const keys = [{ ApiKey: [] }, { Bearer: [] }]
  return scope === 'loopback-or-admin' ? [{}, ...keys] : keys
}

function costText(weighted: Endpoint['weighted']): string | undefined {
  if (weighted === null) return undefined
  return `Counts as several calls of the quota, because it reads many rows: as \`${WEIGHT_SETTINGS[weighted]}\` calls, but never as more than the whole quota. The \`RateLimit\` fields of the answer state how many are left.`
}

function workText(work: Endpoint['work'], isCached: boolean): string {
  const cached = isCached ? `; a cached answer costs ${WORK_PRICES.call}` : ''
  return `Units of work: ${pricesText(['call', ...work])}${cached}.`
}

function neededKey(scope: Endpoint['scope']): string {
  switch (scope) {
    case 'open':
      return 'Needs no key.'
    case 'any-key':
      return 'Needs a key, of any scope.'
    case 'loopback-or-admin':
      return 'Needs a key with the scope `admin`. Requests from the machine of the service need no key unless `MILLRACE_METRICS_KEY_REQUIRED` is set.'
    default:
      return `Needs a key with the scope \`${scope}\`.`
  }
}

/** Returns every error that an endpoint can answer with. */
function errorsOf(endpoint: Endpoint, takesAddress: boolean): ErrorKind[] {
  const { method, scope, errors, answersWhileDraining, isIdempotent } = endpoint
  return [
    ...ANYWHERE,
    method === 'GET' ? ERRORS.DEADLINE_EXCEEDED : ERRORS.CHANGE_NOT_BEGUN,
    ...errors,
    ...(isExportable(endpoint)
      ? [ERRORS.EXPORT_REFUSED, ERRORS.EXPORT_ROWS_EXCEEDED, ERRORS.SERVICE_DRAINING]
      : []),
    ...(takesAddress ? [ERRORS.ADDRESS_INVALID] : []),
    ...(isIdempotent ? [ERRORS.IDEMPOTENCY_KEY_REUSED] : []),
    ...(method === 'GET' ? [] : ([...WITH_BODY, ERRORS.OUTCOME_UNKNOWN] as const)),
    ...(scope === 'open' ? [] : WITH_KEY),
    ...(scope === 'open' || scope === 'any-key' ? [] : [ERRORS.SCOPE_MISSING]),
    ...(answersWhileDraining ? [] : ([ERRORS.SERVICE_DRAINING, ERRORS.RESTARTING] as const))
  ]
}

function operationId({ method, path }: Endpoint): string {
  const names = path.split('/').filter((name) => name !== '' && name !== 'v1')
  const words = names.flatMap((name) =>
    name.startsWith('{') ? ['by', name.slice(1, -1)] : name.split(/[-.]/)
  )
  return [method.toLowerCase(), ...words.map((word) => word[0]!.toUpperCase() + word.slice(1))].join('')
}

function parametersOf(
  shape: z.ZodObject,
  place: 'path' | 'query',
  examples: readonly Example[],
  schemas: JsonSchemas
): Parameter[] {
  const { properties = {}, required = [] } = schemas.ofInput(shape)
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, property]) => {
    const { description, ...schema } = property
    const shown = examples.flatMap((example) => {
      const text = (place === 'path' ? example.params : example.query)?.[name]
      if (text === undefined) return []
      return [
        [
          example.name,
          { value: schema.type === 'integer' || schema.type === 'number' ? Number(text) : text }
        ] as const
      ]
    })
    return {
      name,
      in: place,
      required: place === 'path' || (required as string[]).includes(name),
      ...(typeof description === 'string' ? { description } : {}),
      schema,
      // Elements of a list are separated by commas.
      ...(schema.type === 'array' && place === 'query' && schema.uniqueItems === true
        ? { style: 'form', explode: false }
        : {}),
      ...(shown.length > 0 ? { examples: Object.fromEntries(shown) } : {})
    }
  })
}

function requestBodyOf(body: z.ZodType, examples: readonly Example[], schemas: JsonSchemas): JsonSchema {
  const shown = examples.filter((example) => example.body !== undefined)
  const isOptional = body instanceof z.ZodOptional
  const schema = isOptional ? (body.unwrap() as z.ZodType) : body
  return {
    required: !isOptional,
    content: {
      'application/json': {
        // The body's reader refuses fields that its schema does not name, unless the schema is loose.
        schema:
          schema instanceof z.ZodObject
            ? withNullFields(schemas.ofInput(strictly(schema)), schema)
            : schemas.ofInput(schema),
        ...(shown.length > 0
          ? { examples: Object.fromEntries(shown.map(({ name, body: value }) => [name, { value }])) }
          : {})
      }
    }
  }
}

function answersOf(endpoint: Endpoint, isCached: boolean, schemas: JsonSchemas): JsonSchema {
  const { status, otherStatuses, answer, mediaType, scope, summary, columns } = endpoint
  const headers = headersOf([
    ...EVERY_RESPONSE,
    ...(isCached ? ['ETag'] : []),
    ...(columns === null ? [] : ['Link']),
    ...(scope === 'open' || scope === 'loopback-or-admin' ? [] : RATE)
  ])
  const content = {
    [mediaType]: { schema: schemas.ofOutput(answer) },
    ...(columns === null ? {} : tableContent(columns))
  }
  return Object.fromEntries([
    [status, { description: summary, headers, content }],
    ...(isCached
      ? [[304, { description: 'The answer is unchanged since the one in `If-None-Match`', headers }]]
      : []),
    ...otherStatuses.map((other) => [
      other,
      other === 204
        ? { description: 'No answer is due', headers }
        : { description: `${summary}; see the body`, headers, content }
    ])
  ]) as JsonSchema
}

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../../src/kernel/http/json-schemas.ts'

/** A request and its response, as the client sees them. */
export interface Exchange {
  readonly method: string
  /** Path with its query. */
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: 'path' | 'query'
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
  }[]
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': {
        readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
      }
    }
  }
  readonly responses: Readonly<Record<string, JsonSchema>>
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
  readonly headers?: Readonly<Record<string, unknown>>
}

/** An example request of the document. */
export interface ShownRequest {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly body: unknown
}

const METHODS_WITHOUT_BODY = new Set(['HEAD', 'OPTIONS'])

/** Returns the document with additional fields forbidden: clients must accept them, tests must not. */
export function closed(document: JsonSchema): JsonSchema {
  const close = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(close)
    if (typeof value !== 'object' || value === null) return value
    const open = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, close(part)]))
    const isNamed = 'properties' in open && open.type === 'object' && !('additionalProperties' in open)
    return isNamed ? { ...open, additionalProperties: false } : open
  }
  return close(document) as JsonSchema
}

/** Checks responses against an OpenAPI document. */
export class Contract {
  readonly #operations: {
    readonly method: string
    readonly path: string
    readonly matches: RegExp
    readonly operation: Operation
  }[]
  readonly #responses: Readonly<Record<string, Response>>
  readonly #validator: Ajv2020
  /** Compiled schemas of the document; compiling one takes milliseconds. */
  readonly #checks = new Map<JsonSchema, ValidateFunction>()

  constructor(document: JsonSchema) {
    const paths = document.paths as Record<string, Record<string, Operation>>
    this.#operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        matches: expressionOf(path),
        operation
      }))
    )
    this.#responses = (document.components as { responses: Record<string, Response> }).responses
    this.#validator = new Ajv2020({
      strict: false,
      allErrors: true,
      validateFormats: false,
      // The document is no schema itself, and `openapi.test.ts` checks its form.
      validateSchema: false
    })
    this.#validator.addSchema({ ...document, $id: 'document' })
  }

  get operationIds(): string[] {
    return this.#operations.map(({ operation }) => operation.operationId)
  }

  /** Every example request of the operations, in the order of the document. */
  get shown(): ShownRequest[] {
    return this.#operations.flatMap(({ method, path, operation }) => {
      const { parameters = [], requestBody, operationId } = operation
      const bodies = requestBody?.content['application/json'].examples ?? {}
      const names = new Set([
        ...parameters.flatMap(({ examples }) => Object.keys(examples ?? {})),
        ...Object.keys(bodies)
      ])
      return [...(names.size === 0 ? [''] : names)].map((name) => {
        const values = (place: string) =>
          parameters.flatMap(({ in: where, name: parameter, examples }) =>
            where === place && examples?.[name] !== undefined
              ? [[parameter, String(examples[name].value)]]
              : []
          )
        const filled = values('path').reduce(
          (text, [parameter, value]) => text.replace(`{${parameter}}`, value!),
          path
        )
        const query = new URLSearchParams(values('query')).toString()
        return {
          operationId,
          method,
          path: query === '' ? filled : `${filled}?${query}`,
          body: bodies[name]?.value
        }
      })
    })
  }

  /** Returns the violation of the document by a response, or null if it conforms. */
  breach({ method, path, status, headers, text }: Exchange): string | null {
    const asked = path.split('?', 1)[0]!
    const found = this.#operations.find(
      (one) =>
        (one.method === method || (one.method === 'GET' && method === 'HEAD')) && one.matches.test(asked)
    )
    // Requests without an operation are refused by path or method.
    if (found === undefined) return status === 404 || status === 405 ? null : `${status} where nothing is`
    const referred = found.operation.responses[String(status)]
    if (referred === undefined) return `${status} is not documented of ${found.operation.operationId}`
    const response = (
      typeof referred.$ref === 'string' ? this.#responses[referred.$ref.split('/').at(-1)!] : referred
    ) as Response
    if (response.content === undefined || METHODS_WITHOUT_BODY.has(method)) {
      return text === '' ? null : `${status} has a body`
    }
    const mediaType = String(headers['content-type']).split(';', 1)[0]!
    const content = response.content[mediaType]
    if (content === undefined) return `${mediaType} is not documented of ${found.operation.operationId}`
    if (!mediaType.endsWith('json')) return null
    const check = this.#checkOf(content.schema)
    if (check(JSON.parse(text))) return null
    return `${found.operation.operationId} ${status}: ${this.#validator.errorsText(check.errors)}`
  }

  #checkOf(schema: JsonSchema): ValidateFunction {
    const known = this.#checks.get(schema)
    if (known !== undefined) return known
    const check = this.#validator.compile(absolute(schema))
    this.#checks.set(schema, check)
    return check
  }
}

function absolute(schema: JsonSchema): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')) as object
}

function expressionOf(template: string): RegExp {
  const expression = template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${expression}$`)
}

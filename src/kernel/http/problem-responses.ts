import type { ErrorKind } from '../error-kind.ts'
import type { JsonSchema } from './json-schemas.ts'
import { problemPath } from './problem.ts'

/** The problem responses that operations share: each set of codes becomes one component. */
export class ProblemResponses {
  readonly #schema: JsonSchema
  readonly #components = new Map<string, JsonSchema>()

  constructor(problemSchema: JsonSchema) {
    this.#schema = problemSchema
  }

  /** Components by name, sorted. */
  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Returns the responses of an operation with the given errors, by status. */
  byStatus(errors: Iterable<ErrorKind>): Map<number, JsonSchema> {
    const groups = Map.groupBy(new Set(errors), ({ status }) => status)
    const inOrder = [...groups].sort(([a], [b]) => a - b)
    return new Map(inOrder.map(([status, group]) => [status, this.#refer(group)]))
  }

  #refer(errors: readonly ErrorKind[]): JsonSchema {
    const name = errors.map(nameOf).sort().join('Or')
    if (!this.#components.has(name)) this.#components.set(name, this.#response(errors))
    return { $ref: `#/components/responses/${name}` }
  }

  #response(errors: readonly ErrorKind[]): JsonSchema {
    const headers = ['X-Request-Id']
    if (errors.some(({ retryable }) => retryable)) headers.push('Retry-After')
    if (errors.some(({ status }) => status === 401)) headers.push('WWW-Authenticate')
    return {
      description: errors.map(lineOf).join('\n\n'),
      headers: headersOf(headers),
      content: {
        'application/problem+json': {
          schema: this.#schema,
          examples: Object.fromEntries(errors.map((error) => [error.code, { value: exampleProblem(error) }]))
        }
      }
    }
  }
}

/** Returns an example of a problem. */
export function exampleProblem({ code, title, status, example }: ErrorKind): JsonSchema {
  const request_id = '6f1f8d3e-6c7a-4a83-9d3b-2f7f1a0c9b11'
  return { type: problemPath(code), title, status, detail: example, code, request_id }
}

/** Returns references to headers, which the document defines once. */
export function headersOf(names: readonly string[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function lineOf({ code, meaning }: ErrorKind): string {
  return `[\`${code}\`](${problemPath(code)}): ${meaning}`
}

/** Returns the component name of a wire code: `invalid_cursor` becomes `InvalidCursor`. */
function nameOf({ code }: ErrorKind): string {
  return code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}

import { ERRORS, type ErrorCode } from '../errors.ts'
import type { JsonSchema } from './json-schemas.ts'
import { problemPath } from './problem.ts'
import { PROBLEM_TEXTS } from '../../edge/routes/problem-texts.ts'

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
  byStatus(codes: Iterable<ErrorCode>): Map<number, JsonSchema> {
    const groups = Map.groupBy(new Set(codes), (code) => ERRORS[code].status)
    const inOrder = [...groups].sort(([a], [b]) => a - b)
    return new Map(inOrder.map(([status, codes]) => [status, this.#refer(codes)]))
  }

  #refer(codes: readonly ErrorCode[]): JsonSchema {
    const name = codes.map(nameOf).sort().join('Or')
    if (!this.#components.has(name)) this.#components.set(name, this.#response(codes))
    return { $ref: `#/components/responses/${name}` }
  }

  #response(codes: readonly ErrorCode[]): JsonSchema {
    const headers = ['X-Request-Id']
    if (codes.some((code) => ERRORS[code].retryable)) headers.push('Retry-After')
    if (codes.some((code) => ERRORS[code].status === 401)) headers.push('WWW-Authenticate')
    return {
      description: codes.map(lineOf).join('\n\n'),
      headers: headersOf(headers),
      content: {
        'application/problem+json': {
          schema: this.#schema,
          examples: Object.fromEntries(
            codes.map((code) => [ERRORS[code].code, { value: exampleProblem(code) }])
          )
        }
      }
    }
  }
}

/** Returns an example of a problem. */
export function exampleProblem(error: ErrorCode): JsonSchema {
  const { code, title, status } = ERRORS[error]
  const request_id = '6f1f8d3e-6c7a-4a83-9d3b-2f7f1a0c9b11'
  return { type: problemPath(code), title, status, detail: PROBLEM_TEXTS[error].example, code, request_id }
}

/** Returns references to headers, which the document defines once. */
export function headersOf(names: readonly string[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function lineOf(error: ErrorCode): string {
  const { code } = ERRORS[error]
  return `[\`${code}\`](${problemPath(code)}): ${PROBLEM_TEXTS[error].meaning}`
}

/** Returns the component name of a wire code: `invalid_cursor` becomes `InvalidCursor`. */
function nameOf(error: ErrorCode): string {
  return ERRORS[error].code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}

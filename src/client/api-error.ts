import type { Problem, ProblemCode } from './api.ts'

/** Code of an ApiError: that of the service's problem, or `http_502` and the like if a proxy answered. */
export type ApiErrorCode = ProblemCode | `http_${number}`

/** The facts of a refusal. */
interface Refusal {
  /** Method and path. */
  readonly request: string
  readonly status: number
  readonly body: unknown
  readonly retryAfterMs: number | null
  readonly attempts: number
}

/** The service refused a request, or failed. `code` states the reason for programs, `message` for people. */
export class ApiError extends Error {
  /** The HTTP status. */
  readonly status: number
  readonly code: ApiErrorCode
  /** The problem as the service answered it; null if a proxy answered. */
  readonly problem: Problem | null
  /** The body: parsed, if it is JSON. */
  readonly body: unknown
  /** Milliseconds after which a repeat may succeed, by `Retry-After`; null if the answer has none. */
  readonly retryAfterMs: number | null
  /** Number of attempts that were made. */
  readonly attempts: number

  constructor({ request, status, body, retryAfterMs, attempts }: Refusal) {
    const problem = isProblem(body) ? body : null
    const code: ApiErrorCode = problem?.code ?? `http_${status}`
    super(`${request}: ${status} ${code}${problem === null ? '' : `: ${problem.detail}`}`)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.problem = problem
    this.body = body
    this.retryAfterMs = retryAfterMs
    this.attempts = attempts
  }

  /** Id of the request in the log of the service; null if a proxy answered. */
  get requestId(): string | null {
    return this.problem?.request_id ?? null
  }
}

/**
 * No whole answer came. A change that was sent without an idempotency key may have taken effect; all others are safe to
 * repeat.
 */
export class ConnectionError extends Error {
  readonly code: 'timeout' | 'connection_failed' | 'invalid_answer'
  readonly attempts: number

  constructor(code: ConnectionError['code'], message: string, attempts: number, cause?: unknown) {
    super(message, { cause })
    this.name = 'ConnectionError'
    this.code = code
    this.attempts = attempts
  }
}

function isProblem(body: unknown): body is Problem {
  if (typeof body !== 'object' || body === null) return false
  const { code, detail } = body as Partial<Problem>
  return typeof code === 'string' && typeof detail === 'string'
}

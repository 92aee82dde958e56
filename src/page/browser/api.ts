import { learnClock, serviceNow } from './clock.ts'
import { apiKey, keyRefusal } from './session.ts'

/** URL that the service's paths are below: the folder of the page, also behind a proxy's prefix. */
export const SERVICE_URL = new URL('.', location.href.replace(/[?#].*$/, ''))

type Texts = Readonly<Record<string, string | number | boolean | null | undefined>>

/** A request of the API, as any user can make it. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path as the OpenAPI document has it, with `{parameters}`. */
  readonly template: string
  /** Path with its values and the query. */
  readonly path: string
  readonly body?: unknown
}

/** An answer, with the call that gave it. */
export interface Answer<T> {
  readonly body: T
  readonly call: Call
  readonly receivedAtMs: number
}

/**
 * Limit of a call in milliseconds: above every deadline of the service, whose longest one is 30 s. Without it, a call whose
 * connection is lost silently would never end.
 */
const CALL_LIMIT_MS = 40_000
/** Wait in milliseconds before a failed call is repeated, if the service names none. */
export const RETRY_MS = 5_000

/** A refusal of the service, or a failure to reach it (`status` 0). */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly retryAfterMs: number | null

  constructor(
    status: number,
    code: string,
    title: string,
    detail: string,
    retryAfterMs: number | null = null
  ) {
    super(detail)
    this.status = status
    this.code = code
    this.title = title
    this.retryAfterMs = retryAfterMs
  }

  /** Whether a repeated call may succeed. */
  get isTemporary(): boolean {
    const { status, code } = this
    return (status === 0 || status === 429 || status >= 500) && code !== 'not_configured'
  }

  /** Wait in milliseconds before the call is repeated. */
  get repeatMs(): number {
    return this.retryAfterMs ?? RETRY_MS
  }
}

/** Returns the problem of a failure: an error that no call describes is a fault of the page. */
export function problemOf(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(0, 'fault', 'The page failed', String(error))
}

/** Returns the call of an endpoint. Null and empty values of the query are left out. */
export function callOf(
  template: string,
  params: Texts = {},
  query: Texts = {},
  method: Call['method'] = 'GET',
  body?: unknown
): Call {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== ''
  )
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  const whole = search === '' ? path : `${path}?${search}`
  return { method, template, path: whole, ...(body !== undefined && { body }) }
}

/**
 * Makes a call with the key of this tab. Throws a Problem if the call fails: no answer within the limit, a connection that is lost
 * before the end of the answer, a refusal. Throws the signal's reason if the caller aborts the call.
 */
export async function answerOf<T>(call: Call, signal?: AbortSignal): Promise<Answer<T>> {
  const key = apiKey.value
  const { response, body } = await received(call, key, signal)
  learnClock(response.headers.get('date'))
  if (response.ok && body !== NOT_JSON) {
    if (key === apiKey.value) keyRefusal.set(null)
    return { body: body as T, call, receivedAtMs: serviceNow() }
  }
  const problem = refusalOf(response, body)
  if (problem.status === 401 && key === apiKey.value && key !== '') keyRefusal.set(problem.message)
  throw problem
}

async function received(
  { method, path, body, template }: Call,
  key: string,
  signal: AbortSignal | undefined
): Promise<{ readonly response: Response; readonly body: unknown }> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), CALL_LIMIT_MS)
  try {
    const response = await fetch(new URL(path.slice(1), SERVICE_URL), {
      method,
      headers: {
        ...(key !== '' && { 'X-API-Key': key }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        // A reading by JSON-RPC changes nothing.
        ...(method === 'POST' && template !== '/v1/rpc' && { 'Idempotency-Key': newIdempotencyKey() })
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal])
    })
    return { response, body: parsed(await response.text()) }
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new Problem(
      0,
      'unreachable',
      'The service does not answer',
      'Check that it runs, and that this machine reaches it.',
      2_000
    )
  } finally {
    clearTimeout(timer)
  }
}

/** The body of an answer that is neither empty nor JSON. */
const NOT_JSON = Symbol('not JSON')

function parsed(text: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return NOT_JSON
  }
}

function refusalOf({ status, statusText, headers }: Response, body: unknown): Problem {
  const seconds = Number(headers.get('retry-after') ?? NaN)
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : null
  const { code, title, detail } = (typeof body === 'object' && body !== null ? body : {}) as Readonly<
    Record<string, unknown>
  >
  const textOr = (value: unknown, other: string): string => (typeof value === 'string' ? value : other)
  return new Problem(
    // An answer that is no JSON comes from something between: it is no refusal, and may pass.
    status < 400 ? 0 : status,
    textOr(code, `http_${status}`),
    textOr(title, `HTTP ${status} ${statusText}`),
    textOr(detail, 'The answer is not from the service: a proxy may have sent it.'),
    retryAfterMs
  )
}

/** Returns a new key of idempotency: 16 random bytes in hexadecimal. A page without a secure context has no UUIDs. */
function newIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}

/** Returns a call as a command for a terminal. The key is a variable, so that the command can be shared. */
export function curlOf({ method, path, body }: Call): string {
  const url = new URL(path.slice(1), SERVICE_URL).href
  const verb = method === 'GET' ? '' : ` -X ${method}`
  const data =
    body === undefined
      ? ''
      : ` -H 'Content-Type: application/json' -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`
  return `curl${verb} -H "X-API-Key: $KEY"${data} '${url.replaceAll("'", '%27')}'`
}

import { ApiError, ConnectionError } from './api-error.ts'
import { quotasOf, quotaWaitMs, type Quotas } from './quota.ts'
import type { RequestOptions, RequestSettings } from './request-options.ts'
import { mayRepeat, retryAfterMsOf, retryWaitMs, RETRY_WAIT_MAX_MS, type Failure } from './retry.ts'

/** A request of the service. */
export interface ServiceRequest {
  readonly method: string
  /** From the root of the service, with its query. */
  readonly path: string
  /** Sent as JSON; undefined for no body. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whether it may be sent again though it may have taken effect. */
  readonly isRepeatable: boolean
  /** Statuses from 400 on that are answers. */
  readonly answersAt?: readonly number[]
}

/** Sends requests with the key. Repeats failed ones by the rule of `retry.ts`, and waits while a quota is used up. */
export class Requester {
  readonly settings: RequestSettings
  #quotas: Quotas | null = null

  constructor(settings: RequestSettings) {
    this.settings = settings
  }

  /** The quotas of the key after the last answer; null before the first one. */
  get quotas(): Quotas | null {
    return this.#quotas
  }

  /** Resolves with the answer as `read` returns it. Rejects with ApiError, ConnectionError, or the signal's reason. */
  async send<Answer>(
    request: ServiceRequest,
    options: RequestOptions,
    read: (response: Response) => Promise<Answer>
  ): Promise<Answer> {
    const { clock, random, onNotice } = this.settings
    const { signal, retries = this.settings.retries } = options
    for (let retry = 0; ; retry++) {
      if (retries > 0) await this.#quota(signal)
      signal?.throwIfAborted()
      const outcome = await this.#attempt(request, options, read, retry + 1)
      if ('answer' in outcome) return outcome.answer
      const { failure, error } = outcome
      const waitMs =
        retry < retries && mayRepeat(failure, request.isRepeatable)
          ? retryWaitMs(failure, retry, random)
          : null
      if (waitMs === null) throw error
      onNotice({ kind: 'retrying', message: `${error.message}; repeated in ${waitMs} ms` })
      await pause(clock, waitMs, signal)
    }
  }

  /** Waits until the quotas allow a call. */
  async #quota(signal: AbortSignal | undefined): Promise<void> {
    const { clock, onNotice } = this.settings
    const waitMs = Math.min(quotaWaitMs(this.#quotas, clock.now()), RETRY_WAIT_MAX_MS)
    if (waitMs === 0) return
    onNotice({
      kind: 'retrying',
      message: `the quota of the key is used up; the next call is made in ${waitMs} ms`
    })
    await pause(clock, waitMs, signal)
  }

  async #attempt<Answer>(
    request: ServiceRequest,
    { signal, timeoutMs = this.settings.timeoutMs }: RequestOptions,
    read: (response: Response) => Promise<Answer>,
    attempts: number
  ): Promise<
    { readonly answer: Answer } | { readonly failure: Failure; readonly error: ApiError | ConnectionError }
  > {
    const { url, fetch, clock } = this.settings
    const { method, path, answersAt = [] } = request
    const what = `${method} ${path.split('?')[0]!}`
    const ending = new AbortController()
    const abort = (): void => ending.abort()
    signal?.addEventListener('abort', abort)
    const timer = clock.setTimeout(abort, timeoutMs)
    try {
      const response = await fetch(url + path, {
        ...initOf(request, this.settings.key),
        signal: ending.signal
      })
      const { status, headers } = response
      this.#quotas = quotasOf(headers.get('ratelimit'), clock.now()) ?? this.#quotas
      if (response.ok || answersAt.includes(status)) return { answer: await read(response) }
      const body = parsed(await response.text())
      const retryAfterMs = retryAfterMsOf(headers.get('retry-after'), clock.now())
      const error = new ApiError({ request: what, status, body, retryAfterMs, attempts })
      return { failure: { status, code: error.problem?.code ?? null, retryAfterMs }, error }
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof ConnectionError) throw cause
      const error = ending.signal.aborted
        ? new ConnectionError('timeout', `${what} was not answered within ${timeoutMs} ms`, attempts, cause)
        : new ConnectionError(
            'connection_failed',
            `${what} has no answer: ${reasonOf(cause)}`,
            attempts,
            cause
          )
      return { failure: 'unanswered', error }
    } finally {
      clock.clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** Returns the answer of JSON, or the text of another media type. */
export async function readAnswer(response: Response): Promise<unknown> {
  const text = await response.text()
  if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return text
  const body = parsed(text)
  if (body !== text) return body
  throw new ConnectionError('invalid_answer', `${response.url} answered JSON that cannot be parsed`, 1)
}

function initOf({ method, body, headers }: ServiceRequest, key: string): RequestInit {
  const hasBody = body !== undefined
  return {
    method,
    // A redirect would carry the key to another place.
    redirect: 'error',
    headers: { 'X-API-Key': key, ...(hasBody ? { 'Content-Type': 'application/json' } : {}), ...headers },
    ...(hasBody ? { body: JSON.stringify(body) } : {})
  }
}

/** Returns the value of JSON; a text that is not JSON as it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** Returns the words of a failure. Those of `fetch` itself say nothing: their cause does. */
function reasonOf(cause: unknown): string {
  const { message, cause: inner } = cause as Error
  return inner instanceof Error && inner.message !== '' ? inner.message : message
}

/** Resolves after a wait. Rejects with the signal's reason when the signal is aborted before. */
export function pause(clock: RequestSettings['clock'], ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error)
    const abort = (): void => {
      clock.clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

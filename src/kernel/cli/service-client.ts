import { maskedUrl } from '../config/url-mask.ts'
import { WRITE_LIMIT_MS } from '../http/deadline.ts'

/** Timeout of a running service, in milliseconds. */
const ANSWER_MS_MAX = 10_000
/** Timeout of a change, in milliseconds. The service answers within its own limit, and reports an unknown outcome. */
const CHANGE_MS_MAX = WRITE_LIMIT_MS + 5_000

/** A request of the API. */
export interface Order {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
  /** Timeout in milliseconds of requests that may take longer than usual. */
  readonly answerMs?: number
}

export interface Outcome {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Neither the store nor a service can be reached; the message is for the operator. */
export class Unreachable extends Error {}

/** Sends a request to a running service. Rejects with Unreachable. */
export async function askService(
  url: string,
  key: string,
  { method, path, body, answerMs = ANSWER_MS_MAX }: Order
): Promise<Outcome> {
  const isChange = method !== 'GET'
  const waitMs = isChange ? Math.max(answerMs, CHANGE_MS_MAX) : answerMs
  // Redirects are refused, because they would carry the key along.
  const response = await fetch(url.replace(/\/$/, '') + path, {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(waitMs),
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  }).catch((cause: unknown) => {
    const isLate = isChange && cause instanceof Error && cause.name === 'TimeoutError'
    throw new Unreachable(
      isLate
        ? `${maskedUrl(url)} has not answered within ${waitMs / 1_000} s; the change may have been made`
        : `no service answers at ${maskedUrl(url)}`,
      { cause }
    )
  })
  const answer: unknown = await response.json().catch(() => null)
  if (typeof answer !== 'object' || answer === null)
    throw new Unreachable(`${maskedUrl(url)} is not a Millrace service`)
  return { status: response.status, body: answer as Outcome['body'] }
}

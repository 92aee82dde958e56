/** Milliseconds that a running service may take to answer. */
const ANSWER_MS_MAX = 10_000

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
  // Redirects are refused, since the key would go with them.
  const response = await fetch(url.replace(/\/$/, '') + path, {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(answerMs),
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  }).catch((cause: unknown) => {
    throw new Unreachable(`no service answers at ${url}`, { cause })
  })
  const answer: unknown = await response.json().catch(() => null)
  if (typeof answer !== 'object' || answer === null) throw new Unreachable(`${url} is not a Millrace service`)
  return { status: response.status, body: answer as Outcome['body'] }
}

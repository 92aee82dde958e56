import { createMillrace, type Millrace, type MillraceOptions } from '../../src/client/client.ts'
import { settle, virtualClock, type VirtualClock } from '../virtual-time.ts'

/** A request as the client sent it. */
export interface SentRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Headers
  readonly body: unknown
  readonly signal: AbortSignal
  /** Milliseconds of the virtual clock at which it was sent. */
  readonly atMs: number
}

/** The service's answer to a request, or its fault. */
export type Reaction = (request: SentRequest) => Response | Promise<Response>

export const json =
  (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Reaction =>
  () =>
    new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/json', ...headers }
    })

export const problem = (
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {}
): Reaction => {
  const body = {
    type: `/problems/${code}`,
    title: code,
    status,
    detail: `it is ${code}`,
    code,
    request_id: 'r-1'
  }
  return json(body, status, { 'content-type': 'application/problem+json', ...headers })
}

/** The answer is lost after the service has read the request. */
export const lost: Reaction = () =>
  Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNRESET') }))

/** No answer comes until the client ends the request. */
export const silent: Reaction = ({ signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })

/** A service whose reactions a test lists, in front of a client on virtual time. The last reaction stays. */
export class ScriptedService {
  readonly clock: VirtualClock = virtualClock()
  readonly sent: SentRequest[] = []
  readonly notices: string[] = []
  readonly #reactions: Reaction[]

  constructor(...reactions: readonly Reaction[]) {
    this.#reactions = [...reactions]
  }

  client(options: Partial<MillraceOptions> = {}): Millrace {
    return createMillrace({
      url: 'https://api.example/millrace/',
      key: 'a key',
      clock: this.clock,
      random: () => 1,
      onNotice: ({ message }) => void this.notices.push(message),
      fetch: this.#fetch,
      ...options
    })
  }

  /** Moves the clock until a promise settles, a second at a time and an hour at most, and returns its outcome. */
  async outcome<Value>(promise: PromiseLike<Value>): Promise<Value> {
    let isSettled = false
    const done = promise.then(
      (value) => ((isSettled = true), () => value),
      (error: unknown) => (
        (isSettled = true),
        () => {
          throw error as Error
        }
      )
    )
    for (let second = 0; second < 3_600; second++) {
      for (let turns = 0; turns < 5 && !isSettled; turns++) await settle()
      if (isSettled) break
      this.clock.increment(1_000)
    }
    if (!isSettled) throw new Error('the promise has not settled within an hour of the clock')
    return (await done)()
  }

  readonly #fetch: typeof globalThis.fetch = async (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input)
    const body = init?.body
    const request: SentRequest = {
      method: init?.method ?? 'GET',
      path: pathname + search,
      headers: new Headers(init?.headers),
      body: typeof body === 'string' ? (JSON.parse(body) as unknown) : undefined,
      signal: init!.signal!,
      atMs: this.clock.now()
    }
    this.sent.push(request)
    const reaction = this.#reactions.length > 1 ? this.#reactions.shift()! : this.#reactions[0]!
    return reaction(request)
  }
}

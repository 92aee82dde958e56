/** The interface of a WebSocket in browsers and Node. */
export interface Socket {
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(text: string): void
  close(): void
}

/** A notification for logs; the program need not react to it. */
export interface Notice {
  readonly kind:
    | 'connected'
    | 'live'
    | 'disconnected'
    | 'refetching'
    | 'slow_consumer'
    | 'warning'
    | 'retrying'
  readonly message: string
}

/** Options of `connect`. */
export interface ConnectOptions {
  /** URL of the service, `http:`, `https:`, `ws:` or `wss:`; `/v1/stream` is appended if missing. */
  readonly url: string
  /** An API key with the scope `stream`. It is sent in the query, because browsers cannot set headers. */
  readonly key: string
  /** Events that may wait for the consumer of a subscription; 10,000 by default. */
  readonly bufferEvents?: number
  readonly onNotice?: (notice: Notice) => void
  /** The platform's by default. Node has one from version 22; on Node 20 pass the class of the package `ws`. */
  readonly WebSocket?: new (url: string) => Socket
  /** The platform's by default, like the clock and the random numbers below. */
  readonly fetch?: (url: string) => Promise<{ readonly status: number; json(): Promise<unknown> }>
  readonly clock?: {
    setTimeout(run: () => void, ms: number): unknown
    clearTimeout(timer: unknown): void
  }
  readonly random?: () => number
}

export type Settings = Required<ConnectOptions>

export const BUFFER_EVENTS = 10_000

/** Completes options with the platform's defaults. Throws TypeError if there is no WebSocket, or for an invalid `url`. */
export function settingsOf(options: ConnectOptions): Settings {
  const { WebSocket = globalThis.WebSocket } = options as Partial<ConnectOptions>
  if (WebSocket === undefined)
    throw new TypeError(
      'this platform has no WebSocket (Node before 22): install the package ws and pass its class, connect({ ..., WebSocket })'
    )
  return {
    bufferEvents: BUFFER_EVENTS,
    onNotice: () => undefined,
    fetch: (url) => globalThis.fetch(url),
    clock: {
      setTimeout: (run, ms) => globalThis.setTimeout(run, ms),
      clearTimeout: (timer) => globalThis.clearTimeout(timer as number)
    },
    random: Math.random,
    ...options,
    WebSocket,
    url: streamUrl(options)
  }
}

/** Returns the URL of the stream with the key. Throws TypeError for an invalid `url`. */
function streamUrl({ url, key }: ConnectOptions): string {
  const address = new URL(url)
  address.protocol = address.protocol.replace('http', 'ws')
  const path = address.pathname.replace(/\/$/, '')
  address.pathname = path.endsWith('/v1/stream') ? path : `${path}/v1/stream`
  address.search = new URLSearchParams({ key }).toString()
  return address.href
}

import type { ServerMessage } from '../stream/message-schemas.ts'
import type { Settings, Socket } from './options.ts'
import { StreamError } from './stream-error.ts'

/** An event message; its channel determines its type. */
export interface EventMessage {
  readonly type: 'event'
  readonly channel: string
  readonly data: Readonly<Record<string, unknown>>
  readonly cursor: number
  readonly replay?: boolean
}

export type Incoming = ServerMessage | EventMessage

/** The owner of a connection. */
export interface ConnectionUser {
  receive(message: Incoming): void
  /** The connection ended for good. */
  failed(error: StreamError): void
}

/** Backoff before a reconnect, in milliseconds: doubled from `minMs` to `maxMs`, half of it random. */
export const BACKOFF_MS = { minMs: 500, maxMs: 30_000 }
/** Interval of connection checks, in milliseconds. A connection that received nothing since the last check is closed. */
export const KEEPALIVE_MS = 25_000
/** Close codes after which a reconnect would be closed again. */
export const FATAL_CLOSES: ReadonlySet<number> = new Set([1007, 1008, 1009, 4400, 4401, 4403])

/** Returns a wait in milliseconds up to `BACKOFF_MS.maxMs`; attempts are counted from 0. */
export function backoffMs(attempt: number, random: () => number): number {
  const maxMs = Math.min(BACKOFF_MS.maxMs, BACKOFF_MS.minMs * 2 ** attempt)
  return Math.round(maxMs / 2 + (random() * maxMs) / 2)
}

/** A socket to the stream that reconnects whenever it is lost. */
export class Connection {
  readonly #settings: Settings
  readonly #user: ConnectionUser
  #socket: Socket | null = null
  #isGreeted = false
  /** Whether a message arrived since the last check. */
  #isHeard = false
  #attempt = 0
  #retryAfterMs: number | null = null
  #retry: unknown
  #keepalive: unknown
  #isClosed = false

  constructor(settings: Settings, user: ConnectionUser) {
    this.#settings = settings
    this.#user = user
  }

  open(): void {
    const { WebSocket, url, clock } = this.#settings
    clock.clearTimeout(this.#retry)
    if (this.#isClosed || this.#socket !== null) return
    const socket: Socket = new WebSocket(url)
    this.#socket = socket
    this.#isGreeted = false
    this.#isHeard = false
    socket.onmessage = ({ data }: { readonly data: unknown }) => this.#receive(String(data))
    socket.onclose = ({ code, reason }: { readonly code: number; readonly reason: string }) =>
      this.#lost(code, reason)
    // The close event that follows carries the reason.
    socket.onerror = () => undefined
    this.#keepalive = clock.setTimeout(() => this.#lookAfter(), KEEPALIVE_MS)
  }

  send(message: object): void {
    if (this.#isGreeted) this.#socket?.send(JSON.stringify(message))
  }

  /** Closes the socket and reconnects after a pause. */
  reopen(why: string): void {
    if (this.#isClosed) return
    this.pause()
    const delay = this.#retryAfterMs ?? backoffMs(this.#attempt++, this.#settings.random)
    this.#retryAfterMs = null
    this.#retry = this.#settings.clock.setTimeout(() => this.open(), delay)
    this.#settings.onNotice({ kind: 'disconnected', message: `${why}; reconnecting in ${delay} ms` })
  }

  /** Closes the socket until `open` is called. */
  pause(): void {
    const socket = this.#socket
    this.#socket = null
    this.#settings.clock.clearTimeout(this.#keepalive)
    if (socket === null) return
    // The server may take long to answer the close, so its events are ignored.
    socket.onmessage = null
    socket.onclose = null
    socket.close()
  }

  close(): void {
    this.pause()
    this.#isClosed = true
    this.#settings.clock.clearTimeout(this.#retry)
  }

  #receive(text: string): void {
    const message = messageOf(text)
    if (message === null) return this.reopen('the received data is not a message of the stream')
    this.#isHeard = true
    if (message.type === 'hello') this.#isGreeted = true
    else if (message.type === 'event') this.#attempt = 0
    else if (message.type === 'warning' && message.code === 'server_draining')
      this.#retryAfterMs = message.retry_after_ms
    this.#user.receive(message)
  }

  #lost(code: number, reason: string): void {
    const said = reason === '' ? '' : `: ${reason}`
    if (FATAL_CLOSES.has(code))
      return this.#fail(new StreamError(`closed_${code}`, `closed with ${code}${said}`))
    if (!this.#isGreeted) void this.#askWhy()
    this.reopen(`closed with ${code}${said}`)
  }

  /** Repeats a refused handshake as an HTTP request, because a WebSocket client cannot read the reason of a refusal. */
  async #askWhy(): Promise<void> {
    try {
      const { status, json } = await this.#ask()
      if (status !== 401 && status !== 403) return
      const { code, detail } = (await json()) as { readonly code?: string; readonly detail?: string }
      this.#fail(new StreamError(code ?? `http_${status}`, detail ?? `refused with HTTP ${status}`))
    } catch {
      // No answer; that may be temporary.
    }
  }

  async #ask() {
    const answer = await this.#settings.fetch(this.#settings.url.replace(/^ws/, 'http'))
    return { status: answer.status, json: () => answer.json() }
  }

  #fail(error: StreamError): void {
    if (this.#isClosed) return
    this.close()
    this.#user.failed(error)
  }

  #lookAfter(): void {
    if (!this.#isHeard) return this.reopen('no message came from the service')
    // The connection is stable.
    this.#attempt = 0
    this.#isHeard = false
    this.send({ ping: true })
    this.#keepalive = this.#settings.clock.setTimeout(() => this.#lookAfter(), KEEPALIVE_MS)
  }
}

function messageOf(text: string): Incoming | null {
  try {
    return JSON.parse(text) as Incoming
  } catch {
    return null
  }
}

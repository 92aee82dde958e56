import type { Page, WebSocketRoute } from 'playwright-core'

/** A message that a page sends to the stream. */
interface Subscription {
  readonly channels: readonly string[]
  /** Null if the page begins live. */
  readonly since: number | null
}

export type PlayedMessage = Readonly<Record<string, unknown>> & { readonly type: string }

/** The stream of a page, as a test plays it: no event comes by itself. */
export class PlayedStream {
  /** All subscriptions, the earliest first. */
  readonly subscriptions: Subscription[] = []
  /** Whether sockets are refused, as while the service is away. */
  isAway = false
  /** Returns the messages that follow the answer to a subscription. */
  replay: (subscription: Subscription) => readonly PlayedMessage[] = () => []
  /** Newest published cursor. */
  head = 0
  readonly #open = new Map<WebSocketRoute, readonly string[]>()

  /** Takes the place of the service's stream in a page that is not loaded yet. */
  static async on(page: Page): Promise<PlayedStream> {
    const stream = new PlayedStream()
    await page.routeWebSocket(/\/v1\/stream\?/, (socket) => stream.#accept(socket))
    return stream
  }

  /** Sends an event on a channel to all that follow it. */
  send(channel: string, data: Readonly<Record<string, unknown>>, cursor: number): void {
    for (const [socket, channels] of this.#open)
      if (channels.includes(channel)) socket.send(JSON.stringify({ type: 'event', channel, data, cursor }))
  }

  /** Closes all sockets. */
  async cut(): Promise<void> {
    for (const socket of [...this.#open.keys()]) await socket.close({ code: 1012, reason: 'restart' })
    this.#open.clear()
  }

  #accept(socket: WebSocketRoute): void {
    if (this.isAway) return void socket.close({ code: 1012, reason: 'restart' })
    this.#open.set(socket, [])
    socket.onClose(() => this.#open.delete(socket))
    socket.onMessage((text) => this.#receive(socket, JSON.parse(String(text)) as Record<string, unknown>))
    const limits = { channels: 50, buffer: 2_000 }
    const hello = { type: 'hello', tenant: 'acme', channels: [], cursor: this.head, horizon: null, limits }
    socket.send(JSON.stringify({ ...hello, server_time_ms: 0, protocol: 1 }))
  }

  #receive(socket: WebSocketRoute, message: Readonly<Record<string, unknown>>): void {
    const send = (sent: PlayedMessage): void => socket.send(JSON.stringify(sent))
    if (message['ping'] !== undefined) return send({ type: 'pong' })
    const channels = message['subscribe'] as readonly string[]
    const since = (message['since'] as number | undefined) ?? null
    const subscription = { channels, since }
    this.subscriptions.push(subscription)
    this.#open.set(socket, channels)
    send({ type: 'subscribed', channels, cursor: this.head, ...(since !== null && { since }) })
    for (const played of this.replay(subscription)) send(played)
    if (since !== null) send({ type: 'replay_complete', cursor: this.head })
  }
}

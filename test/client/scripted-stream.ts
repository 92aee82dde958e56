import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { WebSocket as WsSocket, WebSocketServer } from 'ws'
import { connect, type ConnectOptions, type Notice } from '../../src/client/client.ts'
import type { Channel } from '../../src/client/events.ts'
import * as messages from '../../src/stream/messages.ts'
import { virtualClock, type VirtualClock } from '../virtual-time.ts'

/** A message of a client. */
export interface Said {
  readonly subscribe?: readonly string[]
  readonly since?: number
  readonly ping?: true
}

/** The server's side of one connection, controlled by the test. */
export class ScriptedConnection {
  readonly #socket: WsSocket
  readonly #said: Said[] = []
  #wake: () => void = () => undefined

  constructor(socket: WsSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer) => {
      this.#said.push(JSON.parse(data.toString()) as Said)
      this.#wake()
    })
    this.send(messages.hello('acme', 0, null, 0))
  }

  send(...sent: readonly object[]): void {
    for (const message of sent) this.#socket.send(JSON.stringify(message))
  }

  /** Resolves with the client's next message. */
  async said(): Promise<Said> {
    while (this.#said.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.#said.shift()!
  }

  /** Answers the client's next message, a subscription, and resolves with it. */
  async subscribes(head = 0): Promise<Said> {
    const said = await this.said()
    const names = said.subscribe ?? []
    this.send(messages.subscribed(names, names, said.since ?? 'now', said.since !== undefined, head))
    return said
  }

  events(channel: Channel, cursors: readonly number[], replay = false): void {
    for (const cursor of cursors) this.send(eventMessage(channel, cursor, replay))
  }

  close(code: number, reason = ''): void {
    this.#socket.close(code, reason)
  }

  /** Ends the connection without a close frame, as a pulled cable does. */
  cut(): void {
    this.#socket.terminate()
  }

  async closed(): Promise<void> {
    if (this.#socket.readyState !== WsSocket.CLOSED) await once(this.#socket, 'close')
  }
}

export const eventMessage = (channel: Channel, cursor: number, replay: boolean): object => ({
  type: 'event',
  channel,
  data: { kind: 'trade', event: 'buy', cursor },
  cursor,
  ...(replay ? { replay: true } : {})
})

/** A scripted stream server in this process, with clients on virtual time. */
export class ScriptedStream {
  readonly clock: VirtualClock = virtualClock()
  readonly notices: Notice[] = []
  readonly #server: WebSocketServer
  readonly #arrived: ScriptedConnection[] = []
  #wake: () => void = () => undefined

  private constructor(server: WebSocketServer) {
    this.#server = server
    server.on('connection', (socket) => {
      this.#arrived.push(new ScriptedConnection(socket))
      this.#wake()
    })
  }

  static async start(t: Test): Promise<ScriptedStream> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    const stream = new ScriptedStream(server)
    t.teardown(() => {
      for (const socket of server.clients) socket.terminate()
      server.close()
    })
    return stream
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  client(t: Test, options: Partial<ConnectOptions> = {}) {
    const client = connect({
      url: this.url,
      key: 'a key',
      clock: this.clock,
      random: () => 1,
      onNotice: (notice) => void this.notices.push(notice),
      ...options
    })
    t.teardown(() => client.close())
    return client
  }

  /** Resolves with the next connection of a client. */
  async connection(): Promise<ScriptedConnection> {
    while (this.#arrived.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.#arrived.shift()!
  }

  get waiting(): number {
    return this.#arrived.length
  }

  /** Resolves once a notice of a kind has arrived, and removes it and those before it. */
  async noticed(kind: Notice['kind']): Promise<Notice> {
    for (;;) {
      const at = this.notices.findIndex((notice) => notice.kind === kind)
      if (at >= 0) return this.notices.splice(0, at + 1).at(-1)!
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

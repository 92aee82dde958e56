import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { marketApp, type MarketApp } from './market-app.ts'

/** A connection on which a test writes raw bytes. */
export class RawClient {
  readonly socket: Socket
  /** Resolves with everything that was received, once the service has closed the connection. */
  readonly received: Promise<string>
  #bytes = ''

  constructor(port: number, localAddress = '127.0.0.1') {
    this.socket = connect({ port, host: '127.0.0.1', localAddress })
    this.socket.setEncoding('latin1')
    this.socket.on('data', (text: string) => (this.#bytes += text))
    this.socket.on('error', () => undefined)
    this.received = new Promise((resolve) => this.socket.once('close', () => resolve(this.#bytes)))
  }

  get isClosed(): boolean {
    return this.socket.closed
  }

  get text(): string {
    return this.#bytes
  }

  send(bytes: string): this {
    this.socket.write(Buffer.from(bytes, 'latin1'))
    return this
  }

  /** Sends a byte every few milliseconds until the service closes the connection. Resolves with everything sent. */
  async trickle(byte: string): Promise<string> {
    while (!this.isClosed && this.socket.writable) {
      this.send(byte)
      await sleep(5)
    }
    return this.received
  }

  /** Resolves once a text was received. */
  async heard(text: string): Promise<void> {
    while (!this.#bytes.includes(text)) {
      if (this.isClosed) throw new Error(`closed without ${text}: ${this.#bytes}`)
      await Promise.race([once(this.socket, 'data'), this.received])
    }
  }
}

/** Returns the answers in received bytes as `status code`; an incomplete problem is named. */
export function answersIn(received: string): string[] {
  const starts = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)]
  return starts.map((start, i) => {
    const answer = received.slice(start.index, starts[i + 1]?.index)
    const [head = '', body = ''] = answer.split('\r\n\r\n', 2)
    const status = start[1]!
    if (Number(status) < 400) return status
    const id = /^x-request-id: ([0-9a-f-]{36})\r?$/im.exec(head)?.[1]
    if (id === undefined || !/^content-type: application\/problem\+json/im.test(head)) return `${status} bare`
    if (body === '') return `${status} without a body`
    const problem = JSON.parse(body) as { status: number; code: string; request_id: string }
    if (problem.request_id !== id || problem.status !== Number(status)) return `${status} of another request`
    return `${status} ${problem.code}`
  })
}

export interface ListeningApp extends MarketApp {
  readonly port: number
  /** A key with the scope `admin`. */
  readonly adminKey: string
  connect(localAddress?: string): RawClient
  /** Number of connections that were refused with a code. */
  refused(code: string): Promise<number>
}

/** The HTTP side listening on loopback. Clients that a test leaves open are closed at its end. */
export async function listeningApp(
  t: Test,
  ...options: Parameters<typeof marketApp> extends [Test, ...infer R] ? R : never
): Promise<ListeningApp> {
  const app = await marketApp(t, ...options)
  await app.app.listen({ host: '0.0.0.0', port: 0 })
  const { port } = app.app.server.address() as { port: number }
  const clients: RawClient[] = []
  t.teardown(() => clients.forEach(({ socket }) => socket.destroy()))
  return Object.assign(app, {
    port,
    adminKey: await app.makeKey(['admin']),
    connect(localAddress?: string) {
      const client = new RawClient(port, localAddress)
      clients.push(client)
      return client
    },
    async refused(code: string) {
      const { values } = await app.deps.metrics.connectionsRefused.get()
      return values.find(({ labels }) => labels.code === code)?.value ?? 0
    }
  })
}

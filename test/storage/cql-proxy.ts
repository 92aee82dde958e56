import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

/** How the bytes between a client and a server are handled. */
export type ProxyMode =
  /** Everything passes. */
  | 'open'
  /** Requests pass, answers are lost. */
  | 'deaf'
  /** Bytes pass in neither direction, and connections stay open. */
  | 'held'
  /** Connections are closed, and new ones refused. */
  | 'shut'

/** A proxy of a CQL server through which a test disturbs connections. */
export class CqlProxy {
  readonly #server: Server
  readonly #target: { readonly host: string; readonly port: number }
  readonly #links = new Set<readonly [Socket, Socket]>()
  #mode: ProxyMode = 'open'
  /** Changes an answer on its way. */
  readonly #rewrite: (answer: Buffer) => Buffer
  /** Number of answers that did not pass. */
  lost = 0
  /** Number of connections that were refused. */
  refused = 0

  private constructor(target: { host: string; port: number }, rewrite: (answer: Buffer) => Buffer) {
    this.#target = target
    this.#rewrite = rewrite
    this.#server = createServer((client) => this.#link(client))
  }

  static async start(
    contactPoint: string,
    rewrite: (answer: Buffer) => Buffer = (answer) => answer
  ): Promise<CqlProxy> {
    const [host, port] = contactPoint.split(':')
    const proxy = new CqlProxy({ host: host!, port: Number(port ?? 9042) }, rewrite)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get mode(): ProxyMode {
    return this.#mode
  }

  set mode(mode: ProxyMode) {
    this.#mode = mode
    for (const [client, server] of this.#links) {
      if (mode === 'shut') {
        client.destroy()
        server.destroy()
      } else if (mode === 'held') {
        client.pause()
        server.pause()
      } else {
        client.resume()
        server.resume()
      }
    }
  }

  async end(): Promise<void> {
    this.mode = 'shut'
    this.#server.close()
    await once(this.#server, 'close')
  }

  #link(client: Socket): void {
    if (this.#mode === 'shut') {
      this.refused++
      client.destroy()
      return
    }
    const server = connect(this.#target)
    const link = [client, server] as const
    this.#links.add(link)
    if (this.#mode === 'held') {
      client.pause()
      server.pause()
    }
    client.on('data', (request) => server.write(request))
    server.on('data', (answer: Buffer) => {
      if (this.#mode === 'deaf') this.lost++
      else client.write(this.#rewrite(answer))
    })
    for (const socket of link) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        this.#links.delete(link)
        client.destroy()
        server.destroy()
      })
    }
  }
}

import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Accepts connections on the port for handshakes, and hands them to the app's HTTP server. The limits, time limits and
 * routes of the service's own port hold for them.
 */
export class HandshakeListener {
  readonly #servers: readonly Server[]

  private constructor(servers: readonly Server[]) {
    this.#servers = servers
  }

  /** Listens on every address of the app. Rejects if one of them cannot be listened on. */
  static async open(
    app: FastifyInstance,
    port: number,
    how: { readonly backlog: number; readonly reusePort: boolean }
  ): Promise<HandshakeListener> {
    const bound = app.addresses().filter((each) => typeof each === 'object')
    // Before the first connection, which the app must know by its port.
    app.handshakePort.open(port, bound[0]!.port)
    const servers: Server[] = []
    const listener = new HandshakeListener(servers)
    try {
      for (const { address: host } of bound) {
        // The HTTP server ends a connection itself, after its last answer.
        const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
          app.handshakePort.add(socket)
          app.server.emit('connection', socket)
        })
        server.listen({ host, port, ...how })
        await once(server, 'listening')
        servers.push(server)
      }
    } catch (error) {
      await listener.close()
      throw error
    }
    return listener
  }

  /** Stops accepting connections. Resolves when the accepted ones are closed. */
  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map(async (server) => {
        const closed = once(server, 'close')
        server.close()
        await closed
      })
    )
  }
}

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import plugin from 'fastify-plugin'
import { withoutApiKeys } from '../../access/api-key.ts'
import { ServiceError } from '../errors.ts'
import { asksForSocket, HANDSHAKE_FIELDS, isHandshake, RPC_PATH, RPC_SOCKET_PATH } from './handshake.ts'
import { publicOrigin } from './host.ts'

/**
 * The connections of a second port, which serves only handshakes of the RPC URL. Clients that are given an `http://` URL
 * with a port add one to that port and connect there.
 */
export class HandshakePort {
  /** Null if there is no such port. */
  #sockets: WeakSet<Socket> | null = null
  #port = ''
  #servicePort = ''

  /** Starts to follow connections of a port. */
  open(port: number, servicePort: number): void {
    this.#sockets = new WeakSet()
    this.#port = `:${port}`
    this.#servicePort = `:${servicePort}`
  }

  add(socket: Socket): void {
    this.#sockets?.add(socket)
  }

  /** Tells whether a request came to this port. */
  has({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
    return this.#sockets !== null && this.#sockets.has(socket)
  }

  /**
   * Names the service's port in the `Host` of a request to this port. A page of the service is then same-origin here too,
   * and refusals name the right URL.
   */
  nameService(request: IncomingMessage): void {
    const { headers } = request
    if (!this.has(request) || headers.host?.endsWith(this.#port) !== true) return
    headers.host = headers.host.slice(0, -this.#port.length) + this.#servicePort
  }
}

/** Refuses everything but handshakes of the RPC URL on a handshake port, and names the right URL. */
export const handshakesAlone = plugin(
  async (app, { handshakePort }: { readonly handshakePort: HandshakePort }) => {
    app.addHook('onRequest', ({ raw, headers, url }, reply, done) => {
      if (!handshakePort.has(raw) || isHandshake(raw, [RPC_SOCKET_PATH])) return done()
      const isSocket = asksForSocket(raw)
      const origin = publicOrigin(headers)
      const right = (isSocket ? origin.replace('http', 'ws') : origin) + url.split('?', 1)[0]!
      const detail = `this port accepts only WebSocket handshakes at ${RPC_PATH}; use ${withoutApiKeys(right)}`
      if (isSocket) return done(new ServiceError('ROUTE_NOT_FOUND', detail))
      void reply.headers(HANDSHAKE_FIELDS)
      done(new ServiceError('UPGRADE_MISSING', detail))
    })
  },
  { name: 'handshakes-alone', dependencies: ['requests'] }
)

declare module 'fastify' {
  interface FastifyInstance {
    /** The port for handshakes only. */
    handshakePort: HandshakePort
  }
}

import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import type { Caller } from '../../access/caller.ts'
import type { Scope } from '../../access/scopes.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { handshakeFault, HANDSHAKE_FIELDS } from '../../kernel/http/handshake.ts'

const NO_HANDSHAKE = 'connect with a WebSocket client'

export interface SocketRoute {
  readonly path: string
  /** The scope that a key needs. */
  readonly scope: Scope
  /** Whether a request without a good key is refused with 403 and not with 401. */
  readonly refusesWith403: boolean
  /** The owner of the connections. */
  readonly gateway: {
    admits(caller: Caller): boolean
    open(ws: WebSocket, socket: Socket, caller: Caller): void
  }
}

/** Upgrades connections at a path, and passes them to their owner. The app needs the WebSocket plugin. */
export function serveSocket(
  app: FastifyInstance,
  { path, scope, refusesWith403, gateway }: SocketRoute
): void {
  app.route({
    method: 'GET',
    url: path,
    config: { scope, keyInQuery: true, refusesWith403 },
    preHandler: (request, reply, done) => {
      const { headers } = request
      const fault = request.ws ? handshakeFault(headers) : new ServiceError('UPGRADE_MISSING', NO_HANDSHAKE)
      if (fault !== undefined) {
        if (fault.code === 'UPGRADE_MISSING') void reply.headers(HANDSHAKE_FIELDS)
        return done(fault)
      }
      if (!gateway.admits(request.caller!)) {
        const detail = 'this key, or this process, has its maximum number of connections'
        return done(new ServiceError('CONNECTIONS_EXCEEDED', detail))
      }
      // Releases the request and its response, which the socket would otherwise retain until it closes.
      reply.raw.detachSocket(request.socket)
      done()
    },
    handler: () => {
      throw new ServiceError('UPGRADE_MISSING', NO_HANDSHAKE)
    },
    wsHandler: (ws, { socket, caller }) => {
      // The plugin's error listener would retain them too.
      ws.removeAllListeners('error').on('error', () => ws.terminate())
      app.connections.becomeStream(socket)
      gateway.open(ws, socket, caller!)
    }
  })
}

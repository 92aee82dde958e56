import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import type { SocketPlaces } from '../../../storage/cluster/coordination.ts'
import type { Caller } from '../../access/caller.ts'
import type { Scope } from '../../access/scopes.ts'
import { ERRORS, ServiceError } from '../errors.ts'
import { handshakeFault, HANDSHAKE_FIELDS } from './handshake.ts'

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

/**
 * Upgrades connections at a path, and passes them to their owner. The app needs the WebSocket plugin. A place that is shared
 * with other processes is returned when the connection closes, also if the upgrade fails.
 */
export function serveSocket(
  app: FastifyInstance,
  { path, scope, refusesWith403, gateway }: SocketRoute,
  places: SocketPlaces | null = null
): void {
  app.route({
    method: 'GET',
    url: path,
    config: { scope, keyInQuery: true, refusesWith403 },
    preHandler: (request, reply, done) => {
      const { headers } = request
      const fault = request.ws
        ? handshakeFault(headers)
        : new ServiceError(ERRORS.UPGRADE_MISSING, NO_HANDSHAKE)
      if (fault !== undefined) {
        if (fault.kind === ERRORS.UPGRADE_MISSING) void reply.headers(HANDSHAKE_FIELDS)
        return done(fault)
      }
      const { caller, socket } = request
      const admit = (isAdmitted: boolean): void => {
        if (!isAdmitted) {
          const detail = 'this key, or this process, has its maximum number of connections'
          return done(new ServiceError(ERRORS.CONNECTIONS_EXCEEDED, detail))
        }
        // Releases the request and its response, which the socket would otherwise retain until it closes.
        reply.raw.detachSocket(socket)
        done()
      }
      if (places === null || !gateway.admits(caller!)) return admit(gateway.admits(caller!))
      const { keyId } = caller!
      void places.take(keyId).then((isTaken) => {
        if (!isTaken) return admit(false)
        if (socket.destroyed) return places.release(keyId)
        socket.once('close', () => places.release(keyId))
        admit(true)
      })
    },
    handler: () => {
      throw new ServiceError(ERRORS.UPGRADE_MISSING, NO_HANDSHAKE)
    },
    wsHandler: (ws, { socket, caller }) => {
      // The plugin's error listener would retain them too.
      ws.removeAllListeners('error').on('error', () => ws.terminate())
      app.connections.becomeStream(socket)
      gateway.open(ws, socket, caller!)
    }
  })
}

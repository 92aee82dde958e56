import websocket from '@fastify/websocket'
import type { FastifyPluginAsync } from 'fastify'
import { BODY_BYTES_MAX } from '../../rpc/rpc-error.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { isHandshake, RPC_SOCKET_PATH } from '../../kernel/http/handshake.ts'
import { serveSocket } from './serve-socket.ts'
import { serveStream } from './stream.ts'

type Deps = Pick<
  AppDeps,
  'stream' | 'rpcSockets' | 'feed' | 'nodeHead' | 'pastEnd' | 'source' | 'clock' | 'draining'
>

/** Serves the WebSockets: the stream, and the RPC URL in a process with a node. */
export const socketRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { stream, rpcSockets = null } = deps
  if (stream === null) throw new TypeError('a process that serves the stream needs its connections')
  await app.register(websocket, {
    // The stream has its own, lower limit.
    options: { maxPayload: BODY_BYTES_MAX, perMessageDeflate: false, clientTracking: false },
    // The owners of the connections close them, and state when clients should reconnect.
    preClose: (done) => done(),
    errorHandler: (_error, socket) => socket.terminate()
  })
  // A connection whose handshake was refused is closed. The plugin closes it only if its own hook ran first.
  app.addHook('onSend', (request, reply, payload, done) => {
    if (isHandshake(request.raw)) void reply.header('connection', 'close')
    done(null, payload)
  })
  app.addHook('onResponse', (request, _reply, done) => {
    if (isHandshake(request.raw)) request.socket.destroySoon()
    done()
  })
  serveStream(app, { ...deps, stream })
  if (rpcSockets === null) return
  serveSocket(app, {
    path: RPC_SOCKET_PATH,
    scope: 'rpc:read',
    refusesWith403: false,
    gateway: rpcSockets
  })
}

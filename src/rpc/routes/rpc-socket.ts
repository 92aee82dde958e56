import type { FastifyPluginAsync } from 'fastify'
import { RPC_SOCKET_PATH } from '../../kernel/http/handshake.ts'
import { serveSocket } from '../../kernel/http/serve-socket.ts'
import type { RpcSocketGateway } from '../pubsub/gateway.ts'

/** Serves the socket of the RPC URL. */
export const rpcSocketRoutes: FastifyPluginAsync<{ readonly rpcSockets: RpcSocketGateway }> = async (
  app,
  { rpcSockets }
) =>
  serveSocket(app, {
    path: RPC_SOCKET_PATH,
    scope: 'rpc:read',
    refusesWith403: false,
    gateway: rpcSockets
  })

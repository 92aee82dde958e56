import { pubsub } from '../../actors/rpc/pubsub/pubsub.ts'
import type { OpenRpc } from '../../actors/rpc/rpc.ts'
import { giving, using } from '../../actors/supervision/held.ts'
import { child } from '../../actors/supervision/unit.ts'
import type { RpcParts } from '../http/deps.ts'
import type { RpcSocketGateway } from '../rpc/pubsub/gateway.ts'
import { hasNode, pubsubUrls } from './node-urls.ts'
import { beside, coordinationOf, type Product, type ServiceParts, type Spine } from './product.ts'

/**
 * Subscriptions of the RPC URL over a WebSocket, shared by all clients of the process. Their route belongs to the
 * sockets.
 */
export const RPC_SUBSCRIPTIONS: Product = {
  name: 'rpc-subscriptions',
  roles: ['gateway'],
  settings: {},
  units: (service) => {
    if (!hasNode(service)) return []
    const { ports, logger, sockets, metrics, turns, handles } = service
    const run = pubsub<Spine & { readonly rpc: OpenRpc; readonly calls: RpcParts }>(
      {
        ...ports,
        logger,
        sockets,
        metrics: metrics.pubsub,
        workTally: metrics.work,
        turns,
        urls: () => pubsubUrls(service)
      },
      ({ rpc: { nodes, floors }, calls }) => ({ ...calls, upstreams: nodes, floors }),
      (given) => coordinationOf(service, given)
    )
    const { rpc, calls, rpcSockets } = handles
    const live = using({ rpc, calls }, ports.clock, run)
    return [beside('rpc-sockets', child('pubsub', giving(rpcSockets, live)))]
  }
}

/** Returns whether a process serves the socket of the RPC URL. */
export const hasRpcSockets = (service: ServiceParts): boolean =>
  service.products.includes(RPC_SUBSCRIPTIONS) && hasNode(service)

/** The close code of a connection whose owner restarts (RFC 6455: service restart). */
const RESTARTS = 1012

/** Returns the socket of the RPC URL as the HTTP side uses it. */
export function rpcSocketsOf({ handles: { rpcSockets } }: ServiceParts): RpcSocketGateway {
  return {
    admits: (caller) => rpcSockets.get().admits(caller),
    open: (ws, socket, caller) => {
      if (rpcSockets.current === null) ws.close(RESTARTS, 'the sockets restart')
      else rpcSockets.current.open(ws, socket, caller)
    }
  }
}

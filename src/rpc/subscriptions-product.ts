import { pubsub } from '../../actors/rpc/pubsub/pubsub.ts'
import type { RpcSockets } from '../../actors/rpc/pubsub/rpc-sockets.ts'
import type { OpenRpc } from '../../actors/rpc/rpc.ts'
import { giving, using } from '../../actors/supervision/held.ts'
import { child } from '../../actors/supervision/unit.ts'
import type { RpcServices } from './services.ts'
import type { RpcSocketGateway } from './pubsub/gateway.ts'
import { pubsubMetrics } from './pubsub-metrics.ts'
import { hasNode, pubsubUrls } from '../ingest/node-urls.ts'
import { KEY_SOCKETS } from '../access/product.ts'
import {
  beside,
  capability,
  coordinationOf,
  metricGroup,
  resource,
  type Product,
  type Spine
} from '../kernel/compose/product.ts'
import { RPC_SOCKET_PATH } from '../kernel/http/handshake.ts'
import { RPC_CALLS, RPC_NODES } from './product.ts'
import { socketOwner } from '../kernel/compose/socket-owner.ts'

/** The sockets of the RPC URL. */
export const RPC_SOCKETS = resource<RpcSockets>('the sockets of the RPC URL')

const PUBSUB_METRICS = metricGroup(pubsubMetrics)

/** Subscriptions of the RPC URL over a WebSocket, shared by all clients of the process. */
export const RPC_SUBSCRIPTIONS: Product = {
  name: 'rpc-subscriptions',
  roles: ['gateway'],
  listedAs: 'rpc',
  units: (kernel) => {
    if (!hasNode(kernel)) return []
    const { ports, logger, metrics, turns, get } = kernel
    const run = pubsub<Spine & { readonly rpc: OpenRpc; readonly calls: RpcServices }>(
      {
        ...ports,
        logger,
        sockets: get(KEY_SOCKETS),
        metrics: get(PUBSUB_METRICS),
        workTally: metrics.work,
        turns,
        urls: () => pubsubUrls(kernel)
      },
      ({ rpc: { nodes, floors }, calls }) => ({ ...calls, upstreams: nodes, floors }),
      (given) => coordinationOf(kernel, given)
    )
    const live = using({ rpc: get(RPC_NODES), calls: get(RPC_CALLS) }, ports.clock, run)
    return [beside('rpc-sockets', child('pubsub', giving(get(RPC_SOCKETS), live)))]
  },
  socket: ({ get }) => {
    const gateway = get(RPC_SOCKET_GATEWAY)
    return gateway && { path: RPC_SOCKET_PATH, scope: 'rpc:read', refusesWith403: false, gateway }
  },
  metrics: [PUBSUB_METRICS]
}

/** The socket of the RPC URL as the HTTP side uses it; null in a process that does not serve it. */
export const RPC_SOCKET_GATEWAY = capability((kernel): RpcSocketGateway | null =>
  kernel.products.includes(RPC_SUBSCRIPTIONS) && hasNode(kernel)
    ? socketOwner(kernel.get(RPC_SOCKETS), 'the sockets restart')
    : null
)

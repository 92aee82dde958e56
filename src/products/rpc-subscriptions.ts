import { pubsub } from '../../actors/rpc/pubsub/pubsub.ts'
import { child } from '../../actors/supervision/unit.ts'
import { hasNode, pubsubUrls } from './node-urls.ts'
import { coordinationOf, type Given, type Product } from './product.ts'
import { rpcPartsOf } from './rpc.ts'

/** Subscriptions of the RPC URL over a WebSocket, for all clients of the process; its route is that of the sockets. */
export const RPC_SUBSCRIPTIONS: Product = {
  name: 'rpc-subscriptions',
  roles: ['gateway'],
  settings: {},
  units: (service) => {
    if (!hasNode(service)) return []
    const { ports, logger, sockets, metrics, turns } = service
    const run = pubsub<Given>(
      {
        ...ports,
        logger,
        sockets,
        metrics: metrics.pubsub,
        workTally: metrics.work,
        turns,
        urls: () => pubsubUrls(service)
      },
      (given) => ({
        ...rpcPartsOf(service, given),
        upstreams: given.rpc!.nodes,
        floors: given.rpc!.floors
      }),
      (given) => coordinationOf(service, given)
    )
    return [child('pubsub', run)]
  }
}

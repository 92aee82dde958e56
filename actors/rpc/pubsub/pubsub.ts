import type { KeySockets } from '../../../src/access/key-sockets.ts'
import type { Ports } from '../../../src/ports.ts'
import type { MethodTable } from '../../../src/rpc/methods.ts'
import type { RpcGateway } from '../../../src/rpc/gateway.ts'
import type { SlotFloors } from '../../../src/rpc/slot-floors.ts'
import type { RpcUpstreams } from '../../../src/rpc/upstreams.ts'
import type { PubsubMetrics } from '../../../src/rpc/pubsub-metrics.ts'
import type { WorkTally } from '../../../src/access/work-tally.ts'
import type { TakeTurns } from '../../../src/kernel/work/turns.ts'
import type { ClusterCoordination } from '../../../storage/cluster/coordination.ts'
import { aborted } from '../../supervision/aborted.ts'
import type { Run } from '../../supervision/process.ts'
import { GapReader } from './gap-reader.ts'
import { PubsubLinks, type PubsubLinksDeps } from './pubsub-links.ts'
import { RpcSockets, sweepUntil } from './rpc-sockets.ts'
import { SubscriptionHub } from './subscription-hub.ts'

export interface PubsubDeps extends Ports, Pick<PubsubLinksDeps, 'urls' | 'logger'> {
  readonly sockets: KeySockets
  readonly metrics: PubsubMetrics
  readonly workTally?: WorkTally
  readonly turns?: TakeTurns
}

/** Parts of the RPC URL that HTTP and sockets share. */
export interface RpcServices {
  readonly gateway: RpcGateway
  readonly methods: MethodTable
  readonly upstreams: RpcUpstreams
  readonly floors: SlotFloors
}

/** Owns the RPC sockets of clients, and the connections to nodes for their subscriptions. Its drain closes them. */
export function pubsub<Needs>(
  deps: PubsubDeps,
  rpcOf: (needs: Needs) => RpcServices,
  coordinationOf: (needs: Needs) => Pick<ClusterCoordination, 'limits'>
): Run<Needs, RpcSockets> {
  return async ({ input, draining, ready, gauge, report }) => {
    const { clock, random, metrics, urls, logger } = deps
    const { gateway, methods, upstreams, floors } = rpcOf(input)
    const end = new AbortController()
    const gaps = new GapReader(upstreams, clock, end.signal, report)
    const counts = { stray: () => metrics.strays.inc(), lost: () => metrics.losses.inc() }
    const hub = new SubscriptionHub(
      clock,
      metrics,
      (changed) => new PubsubLinks({ clock, random, upstreams, urls, logger, ...counts }, changed),
      gaps
    )
    const sockets = new RpcSockets(
      {
        hub,
        gateway,
        methods,
        floors,
        limits: coordinationOf(input).limits,
        workTally: deps.workTally,
        turns: deps.turns,
        clock,
        report,
        countClose: (code) => metrics.closed.inc({ code })
      },
      deps.sockets
    )
    gauge('connections', () => sockets.size)
    gauge('subscriptions', () => sockets.subscriptions)
    gauge('node_subscriptions', () => hub.size)
    gauge('node_subscriptions_waiting', () => hub.waiting)
    gauge('node_connections', () => hub.links.all.filter(({ isOpen }) => isOpen).length)
    gauge('unread_bytes', () => sockets.queuedBytes)
    gauge('gaps_waiting', () => gaps.waiting)
    try {
      ready(sockets)
      await sweepUntil(sockets, draining)
      await sockets.drain(AbortSignal.abort())
      await aborted(draining)
    } finally {
      end.abort()
      hub.close()
    }
  }
}

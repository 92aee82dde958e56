import { nodes } from '../../actors/chain/nodes.ts'
import { blockEngine, type BlockEngineOptions } from '../../actors/transactions/engine/block-engine.ts'
import type { leaders } from '../../actors/transactions/tpu/leaders.ts'
import { transactions, type TransactionsNeeds } from '../../actors/transactions/transactions.ts'
import { aborted } from '../../actors/supervision/aborted.ts'
import { giving, using } from '../../actors/supervision/held.ts'
import type { Run } from '../../actors/supervision/process.ts'
import { child, type Unit } from '../../actors/supervision/unit.ts'
import { replaySecondsOf, retentionSecondsOf } from '../config/retention.ts'
import { TRANSACTION_SETTINGS } from '../config/settings/transactions.ts'
import { bundleRoutes } from '../http/routes/bundles.ts'
import { priorityFeeRoutes } from '../http/routes/priority-fees.ts'
import { tipRoutes } from '../http/routes/tips.ts'
import { transactionRoutes } from '../http/routes/transactions.ts'
import { SharedTracking } from '../transactions/local-tracking.ts'
import { SharedBundles } from '../transactions/shared-bundles.ts'
import { changesTtlMs } from '../transactions/change-batch.ts'
import { RpcTransactionNode } from '../transactions/node-client.ts'
import type { LeaderSender, TransactionParts } from '../transactions/ports.ts'
import { ephemeralIdentity, readIdentityFile, type LeaderIdentity } from '../transactions/tpu/identity.ts'
import { RpcLeaderNode, type LeaderNode } from '../transactions/tpu/leader-node.ts'
import { hasLocalnet, hasNode, nodeUrls } from './node-urls.ts'
import { beside, coordinationOf, type Product, type ServiceParts, type Spine } from './product.ts'

/** Maximum milliseconds of a drain, which waits for sends in flight and the last writes. */
const DRAIN_MS = 5_000

/**
 * The nodes that transactions are sent to. Gateways use them to check and simulate, delivery processes to send and
 * track.
 */
export const TRANSACTIONS: Product = {
  name: 'transactions',
  roles: ['gateway', 'delivery'],
  settings: TRANSACTION_SETTINGS,
  units: (service) => {
    if (!hasNode(service)) return []
    const { ports, handles } = service
    const client = nodes(
      () => nodeUrls(service),
      (urls) => new RpcTransactionNode(urls, ports.clock)
    )
    const engine = blockEngine(() => engineOptions(service), ports.clock)
    return [
      beside(
        'submissions',
        child('nodes', giving(handles.nodes, client)),
        ...(hasEngine(service) ? [child('engine', giving(handles.engine, engine))] : []),
        child('requests', giving(handles.transactions, requests(service)))
      )
    ]
  },
  routes: [transactionRoutes, priorityFeeRoutes, bundleRoutes, tipRoutes],
  channels: ['tx']
}

/**
 * Sending and tracking of submitted transactions. It has its own supervisor, and drains after the edge. A process
 * without a node to send to has no shards.
 */
export const TRACKING: Product = {
  name: 'tracking',
  roles: ['delivery'],
  settings: {},
  units: (service) => {
    if (!hasNode(service)) return []
    const { ports, logger, metrics, tracking: local, tenantEvents, sightings, feed, handles } = service
    const deps = {
      ...ports,
      ...{ logger, local, tenantEvents, sightings, feed },
      metrics: metrics.sentTransactions,
      retentionMs: retentionMsOf(service),
      changesTtlMs: changesTtlMs(replaySecondsOf(service.config))
    }
    const leaders = leaderUnits(service)
    const toLeaders: LeaderSender = {
      send: async (wire, turn) => (await handles.leaders.current?.send(wire, turn)) ?? 0
    }
    const run = transactions<TransactionsNeeds & Spine>(
      { ...deps, leaders: leaders.length === 0 ? null : toLeaders },
      (given) => coordinationOf(service, given)
    )
    const { channels, nodes, engine } = handles
    const tracks = hasEngine(service)
      ? using({ channels, nodes, engine }, ports.clock, run)
      : using({ channels, nodes }, ports.clock, run)
    return [...leaders, beside('transactions', child('tracking', tracks, { drainMs: DRAIN_MS }))]
  }
}

/** Returns the unit that sends directly to leaders. The localnet has no leader to send to. */
function leaderUnits(service: ServiceParts): Unit<Spine>[] {
  const { config, ports, logger, metrics, handles } = service
  if (config.tpu === 'off' || hasLocalnet(service)) return []
  const identity = async (): Promise<LeaderIdentity> =>
    config.tpuIdentity === null ? ephemeralIdentity() : readIdentityFile(config.tpuIdentity)
  const openNode = (): LeaderNode => new RpcLeaderNode(config.rpcUrl, ports.clock)
  const run: ReturnType<typeof leaders> = async (scope) => {
    const { leaders } = await import('../../actors/transactions/tpu/leaders.ts')
    return leaders({ openNode, identity }, { ...ports, logger, metrics: metrics.leaders })(scope)
  }
  return [beside('leaders', child('quic', giving(handles.leaders, run)))]
}

/** Owns the resources that requests for transactions share, over HTTP and over JSON-RPC. */
function requests(service: ServiceParts): Run<Spine, TransactionParts> {
  return async ({ input, draining, ready }) => {
    const { tracking, sightings, ports, handles } = service
    const coordination = coordinationOf(service, input)
    ready({
      get node() {
        return handles.nodes.get()
      },
      get engine() {
        return hasEngine(service) ? handles.engine.get() : null
      },
      tracking: new SharedTracking(tracking, input.storage.documents, coordination, ports.clock),
      sightings,
      bundles: new SharedBundles(tracking, coordination),
      retentionMs: retentionMsOf(service)
    })
    await aborted(draining)
  }
}

/** Returns the transaction services that the HTTP side uses; null in a process without a node to send to. */
export function transactionPartsOf(service: ServiceParts): TransactionParts | null {
  if (!hasNode(service) || !service.products.includes(TRANSACTIONS)) return null
  const { transactions } = service.handles
  return {
    get node() {
      return transactions.get().node
    },
    get engine() {
      return transactions.get().engine
    },
    get tracking() {
      return transactions.get().tracking
    },
    get bundles() {
      return transactions.get().bundles
    },
    sightings: service.sightings,
    retentionMs: retentionMsOf(service)
  }
}

const hasEngine = (service: ServiceParts): boolean =>
  hasLocalnet(service) || service.config.blockEngineUrl.length > 0

/** Maximum requests a second to the localnet's own engine: far above the capacity of a bank in one process. */
const LOCALNET_RATE = 1_000

/** Returns the configured block engine, else the localnet's own. */
function engineOptions(service: ServiceParts): BlockEngineOptions {
  const { blockEngineUrl, blockEngineAuth: auth, blockEngineRate, tipFloorUrl } = service.config
  const localnet = hasLocalnet(service) ? service.localnetUrl() : null
  if (blockEngineUrl.length > 0 || localnet === null)
    return { urls: blockEngineUrl, auth, requestsPerSecond: blockEngineRate, tipFloorUrl }
  return {
    urls: [localnet],
    auth: null,
    requestsPerSecond: LOCALNET_RATE,
    tipFloorUrl: tipFloorUrl ?? `${localnet}/api/v1/bundles/tip_floor`
  }
}

/** Returns the TTL of submissions and bundles in milliseconds after their end; null for no expiry. */
function retentionMsOf({ config }: Pick<ServiceParts, 'config'>): number | null {
  const seconds = retentionSecondsOf(config)
  return seconds === null ? null : seconds * 1_000
}

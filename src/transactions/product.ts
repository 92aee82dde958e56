import { nodes } from '../../actors/ingest/nodes.ts'
import {
  blockEngine,
  type BlockEngineOptions,
  type OpenBlockEngine
} from '../../actors/transactions/engine/block-engine.ts'
import type { leaders } from '../../actors/transactions/tpu/leaders.ts'
import { transactions, type TransactionsNeeds } from '../../actors/transactions/transactions.ts'
import { aborted } from '../../actors/supervision/aborted.ts'
import { giving, using } from '../../actors/supervision/held.ts'
import type { Run } from '../../actors/supervision/process.ts'
import { child, type Unit } from '../../actors/supervision/unit.ts'
import { viewOf } from '../kernel/compose/handle.ts'
import { replaySecondsOf, retentionSecondsOf } from '../kernel/config/retention.ts'
import { TRANSACTION_ERRORS } from './errors.ts'
import { bundleRoutes } from './routes/bundles.ts'
import { priorityFeeRoutes } from './routes/priority-fees.ts'
import { tipRoutes } from './routes/tips.ts'
import { transactionRoutes } from './routes/transactions.ts'
import { LocalTracking, SharedTracking } from './local-tracking.ts'
import { leaderMetrics } from './leader-metrics.ts'
import { transactionMetrics } from './metrics.ts'
import { SharedBundles } from './shared-bundles.ts'
import { changesTtlMs } from './change-batch.ts'
import { RpcTransactionNode } from './node-client.ts'
import type { LeaderSender, TransactionServices } from './ports.ts'
import { ephemeralIdentity, readIdentityFile, type LeaderIdentity } from './tpu/identity.ts'
import { RpcLeaderNode, type LeaderNode } from './tpu/leader-node.ts'
import { hasLocalnet, hasNode, nodeUrls } from '../ingest/node-urls.ts'
import { WatchedSignatures } from './block-sightings.ts'
import { blockObserver, FEES, LOCALNET } from '../ingest/capabilities.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'
import {
  beside,
  capability,
  coordinationOf,
  metricGroup,
  resource,
  type Kernel,
  type Product,
  type ProductWork,
  type Spine
} from '../kernel/compose/product.ts'
import { LEASES } from '../fleet/capabilities.ts'
import { CHAIN_CHANNELS, TENANT_EVENTS } from '../stream/capabilities.ts'

/** Maximum milliseconds of a drain, which waits for sends in flight and the last writes. */
const DRAIN_MS = 5_000

const NODES = resource<RpcTransactionNode>('the connections to nodes')
const ENGINE = resource<OpenBlockEngine>('the connections to the block engine')
const LEADERS = resource<LeaderSender>('the connections to leaders')
/** The objects that requests for transactions share. */
const REQUESTS = resource<TransactionServices>('the transactions')

/** The transactions that this process tracks, for its requests. */
const LOCAL_TRACKING = capability(() => new LocalTracking())

/** Tracked signatures in the blocks that this process commits. */
const SIGHTINGS = blockObserver(() => new WatchedSignatures())

const TRANSACTION_METRICS = metricGroup(transactionMetrics)
const LEADER_METRICS = metricGroup(leaderMetrics)

/** Sends and tracking of accepted transactions. A process without a node sends nothing. */
export const SENDING: ProductWork = { name: 'transactions', role: 'delivery', isDone: hasNode }

/** The nodes that transactions are sent to. Gateways check and simulate by them, delivery processes send and track. */
export const TRANSACTIONS: Product = {
  name: 'transactions',
  roles: ['gateway', 'delivery'],
  listedAs: 'transactions',
  work: SENDING,
  errors: TRANSACTION_ERRORS,
  units: (kernel) => {
    if (!hasNode(kernel)) return []
    const { ports, get } = kernel
    const client = nodes(
      () => nodeUrls(kernel),
      (urls) => new RpcTransactionNode(urls, ports.clock)
    )
    const engine = blockEngine(() => engineOptions(kernel), ports.clock)
    return [
      beside(
        'submissions',
        child('nodes', giving(get(NODES), client)),
        ...(hasEngine(kernel) ? [child('engine', giving(get(ENGINE), engine))] : []),
        child('requests', giving(get(REQUESTS), requests(kernel)))
      )
    ]
  },
  routes: ({ get }) => {
    const needs = { transactions: get(TRANSACTION_SERVICES), fees: get(FEES) }
    return (side) =>
      routesWith({ ...side, ...needs }, [transactionRoutes, priorityFeeRoutes, bundleRoutes, tipRoutes])
  },
  channels: ['tx']
}

/**
 * Sending and tracking of submitted transactions. It has its own supervisor, and drains after the edge. A process
 * without a node to send to has no shards.
 */
export const TRACKING: Product = {
  name: 'tracking',
  roles: ['delivery'],
  units: (kernel) => {
    if (!hasNode(kernel)) return []
    const { config, ports, logger, feed, get } = kernel
    const deps = {
      ...ports,
      ...{ logger, feed },
      local: get(LOCAL_TRACKING),
      tenantEvents: get(TENANT_EVENTS),
      sightings: get(SIGHTINGS),
      metrics: get(TRANSACTION_METRICS),
      book: get(LEASES),
      retentionMs: retentionMsOf(kernel),
      changesTtlMs: changesTtlMs(replaySecondsOf(config))
    }
    const leaders = leaderUnits(kernel)
    const sender = get(LEADERS)
    const toLeaders: LeaderSender = {
      send: async (wire, turn) => (await sender.current?.send(wire, turn)) ?? 0
    }
    const run = transactions<TransactionsNeeds & Spine>(
      { ...deps, leaders: leaders.length === 0 ? null : toLeaders },
      (given) => coordinationOf(kernel, given)
    )
    const used = { channels: get(CHAIN_CHANNELS), nodes: get(NODES) }
    const tracks = hasEngine(kernel)
      ? using({ ...used, engine: get(ENGINE) }, ports.clock, run)
      : using(used, ports.clock, run)
    return [...leaders, beside('transactions', child('tracking', tracks, { drainMs: DRAIN_MS }))]
  },
  metrics: [TRANSACTION_METRICS, LEADER_METRICS]
}

/** Returns the unit that sends straight to leaders. The localnet has no leader to send to. */
function leaderUnits(kernel: Kernel): Unit<Spine>[] {
  const { config, ports, logger, get } = kernel
  if (config.tpu === 'off' || hasLocalnet(kernel)) return []
  const identity = async (): Promise<LeaderIdentity> =>
    config.tpuIdentity === null ? ephemeralIdentity() : readIdentityFile(config.tpuIdentity)
  const metrics = get(LEADER_METRICS)
  const openNode = (): LeaderNode => new RpcLeaderNode(config.rpcUrl, ports.clock)
  const run: ReturnType<typeof leaders> = async (scope) => {
    const { leaders } = await import('../../actors/transactions/tpu/leaders.ts')
    return leaders({ openNode, identity }, { ...ports, logger, metrics })(scope)
  }
  return [beside('leaders', child('quic', giving(get(LEADERS), run)))]
}

/** Owns what requests for transactions share, over HTTP and over JSON-RPC. */
function requests(kernel: Kernel): Run<Spine, TransactionServices> {
  const { ports, get } = kernel
  const [nodes, engine, tracking, sightings] = [get(NODES), get(ENGINE), get(LOCAL_TRACKING), get(SIGHTINGS)]
  return async ({ input, draining, ready }) => {
    const coordination = coordinationOf(kernel, input)
    const services = {
      tracking: new SharedTracking(tracking, input.storage.documents, coordination, ports.clock),
      sightings,
      bundles: new SharedBundles(tracking, coordination),
      retentionMs: retentionMsOf(kernel)
    }
    ready(
      hasEngine(kernel)
        ? viewOf({ node: nodes, engine }, services)
        : viewOf({ node: nodes }, { ...services, engine: null })
    )
    await aborted(draining)
  }
}

/** The transaction services that the HTTP side uses; null in a process without a node to send to. */
export const TRANSACTION_SERVICES = capability(transactionServicesOf)

function transactionServicesOf(kernel: Kernel): TransactionServices | null {
  if (!hasNode(kernel) || !kernel.products.includes(TRANSACTIONS)) return null
  return kernel.get(REQUESTS).view(['node', 'engine', 'tracking', 'bundles'], {
    sightings: kernel.get(SIGHTINGS),
    retentionMs: retentionMsOf(kernel)
  })
}

const hasEngine = (kernel: Kernel): boolean => hasLocalnet(kernel) || kernel.config.blockEngineUrl.length > 0

/** Maximum requests a second to the localnet's own engine: far above the capacity of a bank in one process. */
const LOCALNET_RATE = 1_000

/** Returns the configured block engine, else the localnet's own. */
function engineOptions(kernel: Kernel): BlockEngineOptions {
  const { blockEngineUrl, blockEngineAuth: auth, blockEngineRate, tipFloorUrl } = kernel.config
  const localnet = hasLocalnet(kernel) ? kernel.get(LOCALNET).url : null
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
function retentionMsOf({ config }: Pick<Kernel, 'config'>): number | null {
  const seconds = retentionSecondsOf(config)
  return seconds === null ? null : seconds * 1_000
}

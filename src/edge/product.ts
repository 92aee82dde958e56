import { workMetrics } from '../kernel/telemetry/work-metrics.ts'
import { edge, type EdgeOptions } from '../../actors/edge/edge.ts'
import { child } from '../../actors/supervision/unit.ts'
import { handshakePortOf } from '../kernel/config/handshake-port.ts'
import { buildApp } from './routes/app.ts'
import { httpBounds } from '../kernel/http/bounds.ts'
import { openFilesMax } from '../kernel/http/open-files.ts'
import { adminCoverageRoutes } from '../ingest/routes/admin-coverage.ts'
import { adminRecordedRoutes } from '../ingest/routes/admin-recorded.ts'
import { adminStorageRoutes } from '../store/routes/admin-storage.ts'
import { adminRoutes } from './routes/admin.ts'
import { docsRoutes } from './routes/docs.ts'
import { healthRoutes } from './routes/health.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { problemRoutes } from './routes/problems.ts'
import { accountServicesOf } from '../accounts/product.ts'
import { hasRpcSockets, RPC_SOCKETS, rpcSocketsOf } from '../rpc/subscriptions-product.ts'
import { RPC_NODES, rpcServicesOf, weightsOf } from '../rpc/product.ts'
import { STREAM, STREAM_TENANTS, streamOf } from '../stream/product.ts'
import { transactionServicesOf } from '../transactions/product.ts'
import { webhookServicesOf } from '../webhooks/product.ts'
import { DEMO_KEY } from '../access/product.ts'
import { SERVED_ARCHIVE } from '../archive/product.ts'
import { CASH, FEES, LOCALNET, RECORDED } from '../ingest/capabilities.ts'
import { NAMES, RANKING } from '../data/product.ts'
import { HOLDERS_REQUESTED } from '../holders/product.ts'
import {
  coordinationOf,
  metricGroup,
  routesOf,
  type Kernel,
  type Product,
  type Spine
} from '../kernel/compose/product.ts'
import { MIRROR_METRICS, PROGRAMS_CHANGED } from '../program-accounts/product.ts'
import { WATCHED_CHANGED } from '../revenue/product.ts'

const WORK_METRICS = metricGroup((registry, { turns }) => workMetrics(registry, turns))

/** The HTTP server with the routes of every process: health and the operator's views. It drains first. */
export const EDGE: Product = {
  name: 'edge',
  roles: ['ingest', 'gateway', 'delivery'],
  units: (kernel) => {
    const { config, ports, logger, onListening, get } = kernel
    const { host, port, rateLimitPerMinute: ratePerMinute, workPerMinute } = config
    const keyHints = (given: Spine) => coordinationOf(kernel, given).keys
    const build = appOf(kernel)
    return [
      child(
        'edge',
        edge<Spine>({
          tenants: get(STREAM_TENANTS),
          rpcSockets: get(RPC_SOCKETS),
          hasRpcSockets: hasRpcSockets(kernel),
          host,
          port,
          ratePerMinute,
          workPerMinute,
          onListening,
          handshakePort: handshakePortOf(config),
          logger,
          clock: ports.clock,
          keyHints,
          build
        })
      )
    ]
  },
  metrics: [WORK_METRICS],
  routes: [
    healthRoutes,
    adminRoutes,
    adminCoverageRoutes,
    adminRecordedRoutes,
    adminStorageRoutes,
    metricsRoutes,
    problemRoutes
  ]
}

/** The API's documents and the explorer. */
export const DOCS: Product = { name: 'docs', roles: ['gateway'], routes: [docsRoutes] }

/** Returns the builder of a process's app, with the routes of its products. */
function appOf(kernel: Kernel): EdgeOptions<Spine>['build'] {
  const { config, feed, decoding, metrics, logger, turns, version, budget, products, get } = kernel
  const localnet = get(LOCALNET)
  const nodes = get(RPC_NODES)
  const announcing = (capability: typeof PROGRAMS_CHANGED): (() => void) => {
    const announcements = get(capability)
    return () => announcements.publish()
  }
  const http = {
    ...{ feed, decoding, logger, turns, version },
    metrics: { ...metrics, mirror: get(MIRROR_METRICS) },
    ranking: get(RANKING),
    names: get(NAMES),
    archive: get(SERVED_ARCHIVE),
    venues: config.venues,
    cash: get(CASH),
    fees: get(FEES),
    clock: kernel.ports.clock,
    bounds: httpBounds(openFilesMax()),
    metricsKeyRequired: config.metricsKeyRequired,
    sourceKind: config.role.includes('ingest') ? config.source : null,
    demoKey: get(DEMO_KEY),
    recorded: get(RECORDED),
    programsChanged: announcing(PROGRAMS_CHANGED),
    holdersRequested: announcing(HOLDERS_REQUESTED),
    watchedChanged: announcing(WATCHED_CHANGED),
    answerBytes: budget.answers,
    windowBytes: budget.windows,
    tree: kernel.tree,
    source: kernel.sourceStatus,
    pastEnd: () => localnet.pastEnd
  }
  const services = {
    stream: products.includes(STREAM) ? streamOf(kernel) : null,
    transactions: transactionServicesOf(kernel),
    accounts: accountServicesOf(kernel),
    rpc: rpcServicesOf(kernel),
    rpcSockets: hasRpcSockets(kernel) ? rpcSocketsOf(kernel) : null
  }
  const webhooksOf = webhookServicesOf(kernel)
  const routes = routesOf(products)
  return (given, own) => {
    const coordination = coordinationOf(kernel, given)
    const limited = { limits: coordination.limits, redisAway: () => coordination.outage !== null }
    return buildApp(
      {
        ...http,
        ...services,
        ...own,
        ...limited,
        storage: given.storage,
        nodeHead: () =>
          kernel.sourceStatus()?.headSlot ?? nodes.current?.nodes.newest(config.indexCommitment) ?? null,
        webhooks: webhooksOf(given),
        weights: weightsOf(config)
      },
      routes
    )
  }
}

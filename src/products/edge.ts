import { workMetrics } from '../telemetry/work-metrics.ts'
import { edge, type EdgeOptions } from '../../actors/edge/edge.ts'
import { child } from '../../actors/supervision/unit.ts'
import { handshakePortOf } from '../config/handshake-port.ts'
import { SERVICE_SETTINGS } from '../config/settings/service.ts'
import { buildApp } from '../http/app.ts'
import { httpBounds } from '../http/bounds.ts'
import { openFilesMax } from '../http/open-files.ts'
import { adminCoverageRoutes } from '../http/routes/admin-coverage.ts'
import { adminRecordedRoutes } from '../http/routes/admin-recorded.ts'
import { adminStorageRoutes } from '../http/routes/admin-storage.ts'
import { adminRoutes } from '../http/routes/admin.ts'
import { docsRoutes } from '../http/routes/docs.ts'
import { healthRoutes } from '../http/routes/health.ts'
import { metricsRoutes } from '../http/routes/metrics.ts'
import { problemRoutes } from '../http/routes/problems.ts'
import { accountPartsOf } from './accounts.ts'
import { hasRpcSockets, rpcSocketsOf } from './rpc-subscriptions.ts'
import { rpcPartsOf, weightsOf } from './rpc.ts'
import { STREAM, streamOf } from './stream.ts'
import { transactionPartsOf } from './transactions.ts'
import { webhookPartsOf } from './webhooks.ts'
import { coordinationOf, routesOf, type Product, type ServiceParts, type Spine } from './product.ts'

/** The HTTP server with the routes of every process: health and the operator's views. It drains first. */
export const EDGE: Product = {
  name: 'edge',
  roles: ['ingest', 'gateway', 'delivery'],
  settings: SERVICE_SETTINGS,
  units: (service) => {
    const { config, ports, logger, onListening } = service
    const { host, port, rateLimitPerMinute: ratePerMinute, workPerMinute } = config
    const keyHints = (given: Spine) => coordinationOf(service, given).keys
    const build = appOf(service)
    return [
      child(
        'edge',
        edge<Spine>({
          tenants: service.handles.tenants,
          rpcSockets: service.handles.rpcSockets,
          hasRpcSockets: hasRpcSockets(service),
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
  metrics: ({ metrics, turns }) => workMetrics(metrics.registry, turns),
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
export const DOCS: Product = { name: 'docs', roles: ['gateway'], settings: {}, routes: [docsRoutes] }

/** Returns the builder of a process's app, with the routes of its products. */
function appOf(service: ServiceParts): EdgeOptions<Spine>['build'] {
  const { config, feed, fees, ranking, names, cash, decoding, metrics, logger } = service
  const { version, demoKey, recorded, budget, archive } = service
  const http = {
    feed,
    ranking,
    names,
    archive,
    venues: config.venues,
    cash,
    decoding,
    fees,
    metrics,
    logger,
    clock: service.ports.clock,
    turns: service.turns,
    version,
    bounds: httpBounds(openFilesMax()),
    metricsKeyRequired: config.metricsKeyRequired,
    sourceKind: config.role.includes('ingest') ? config.source : null,
    demoKey,
    recorded,
    programsChanged: () => service.programsChanged.publish(),
    holdersRequested: () => service.holdersRequested.publish(),
    watchedChanged: () => service.watchedChanged.publish(),
    answerBytes: budget.answers,
    windowBytes: budget.windows,
    tree: service.tree,
    source: service.sourceStatus,
    pastEnd: service.localnetPastEnd
  }
  const routes = routesOf(service.products)
  return (given, own) => {
    const coordination = coordinationOf(service, given)
    const limited = { limits: coordination.limits, redisAway: () => coordination.outage !== null }
    return buildApp(
      {
        ...http,
        ...own,
        ...limited,
        storage: given.storage,
        nodeHead: () =>
          service.sourceStatus()?.headSlot ??
          service.handles.rpc.current?.nodes.newest(config.indexCommitment) ??
          null,
        stream: service.products.includes(STREAM) ? streamOf(service) : null,
        webhooks: webhookPartsOf(service, given),
        transactions: transactionPartsOf(service),
        accounts: accountPartsOf(service),
        rpc: rpcPartsOf(service),
        weights: weightsOf(service.config),
        rpcSockets: hasRpcSockets(service) ? rpcSocketsOf(service) : null
      },
      routes
    )
  }
}

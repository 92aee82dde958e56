import { workMetrics } from '../kernel/telemetry/work-metrics.ts'
import { edge, type EdgeOptions } from '../../actors/edge/edge.ts'
import { child } from '../../actors/supervision/unit.ts'
import { handshakePortOf } from '../kernel/config/handshake-port.ts'
import { buildApp } from './routes/app.ts'
import { LISTED_PRODUCTS } from '../kernel/config/listed-products.ts'
import { httpBounds } from '../kernel/http/bounds.ts'
import { openFilesMax } from '../kernel/http/open-files.ts'
import { adminCoverageRoutes } from '../ingest/routes/admin-coverage.ts'
import { adminRecordedRoutes } from '../ingest/routes/admin-recorded.ts'
import { adminStorageRoutes } from '../store/routes/admin-storage.ts'
import { adminRoutes } from './routes/admin.ts'
import { docsRoutes } from './routes/docs.ts'
import { healthRoutes } from './routes/health.ts'
import { probeRoutes } from './routes/probes.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { problemRoutes } from './routes/problems.ts'
import { RPC_SOCKET_GATEWAY, RPC_SOCKETS } from '../rpc/subscriptions-product.ts'
import { RPC_NODES, weightsOf } from '../rpc/product.ts'
import { STREAM_TENANTS } from '../stream/product.ts'
import { DATA } from '../data/product.ts'
import { INDEX_PLACE, RANKING } from '../data/capabilities.ts'
import type { Work } from '../fleet/work.ts'
import { WEBHOOK_SERVICES } from '../webhooks/product.ts'
import { DEMO_KEY } from '../access/product.ts'
import { DEPARTURE, FLEET } from '../fleet/capabilities.ts'
import { RECORDED, SOURCE_KIND, START } from '../ingest/capabilities.ts'
import {
  coordinationOf,
  httpPartsOf,
  metricGroup,
  type Kernel,
  type Product,
  type Spine
} from '../kernel/compose/product.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'

const WORK_METRICS = metricGroup((registry, { turns }) => workMetrics(registry, turns))

/** The HTTP server with the routes of every process: health and the operator's views. It drains first. */
export const EDGE: Product = {
  name: 'edge',
  roles: ['ingest', 'gateway', 'delivery'],
  units: (kernel) => {
    const { config, ports, logger, isPortShared, onListening, get } = kernel
    const { host, port, rateLimitPerMinute: ratePerMinute, workPerMinute } = config
    const departure = get(DEPARTURE)
    const keyHints = (given: Spine) => coordinationOf(kernel, given).keys
    const build = appOf(kernel)
    return [
      child(
        'edge',
        edge<Spine>({
          tenants: get(STREAM_TENANTS),
          rpcSockets: get(RPC_SOCKETS),
          hasRpcSockets: get(RPC_SOCKET_GATEWAY) !== null,
          host,
          port,
          isPortShared,
          ratePerMinute,
          workPerMinute,
          onListening,
          handshakePort: handshakePortOf(config),
          logger,
          clock: ports.clock,
          keyHints,
          isLeaving: () => departure.isAnnounced,
          build
        })
      )
    ]
  },
  metrics: [WORK_METRICS],
  routes: (kernel) => {
    const { config, decoding, errors, tree, get } = kernel
    const needs = {
      ...{ decoding, errors, tree },
      ...get(START),
      sourceKind: get(SOURCE_KIND),
      recorded: get(RECORDED),
      fleet: get(FLEET),
      roles: config.role,
      isLoading: isLoadingOf(kernel)
    }
    return (side, given) => {
      const coordination = coordinationOf(kernel, given)
      return routesWith({ ...side, ...needs, redisAway: () => coordination.outage !== null }, [
        healthRoutes,
        probeRoutes,
        adminRoutes,
        adminCoverageRoutes,
        adminRecordedRoutes,
        adminStorageRoutes,
        metricsRoutes,
        problemRoutes
      ])
    }
  }
}

/** The API's documents and the explorer. */
export const DOCS: Product = {
  name: 'docs',
  roles: ['gateway'],
  routes: ({ errors, get }) => {
    const needs = { errors, sourceKind: get(SOURCE_KIND), demoKey: get(DEMO_KEY) }
    return (side) => routesWith({ ...side, ...needs }, [docsRoutes])
  }
}

/** Returns a function that tells whether answers of a gateway wait for data that is loaded from the store. */
function isLoadingOf({ products, get }: Kernel): () => boolean {
  if (!products.includes(DATA)) return () => false
  const [ranking, place] = [get(RANKING), get(INDEX_PLACE)]
  return () => place.isHeld !== false && !place.isAnsweredElsewhere && ranking.isLoading
}

/** Returns the builder of a process's app, with the routes of its products. */
function appOf(kernel: Kernel): EdgeOptions<Spine>['build'] {
  const { config, ports, feed, metrics, logger, turns, version, budget, sourceStatus, get } = kernel
  const nodes = get(RPC_NODES)
  const fleet = get(FLEET)
  const webhooksOf = get(WEBHOOK_SERVICES)
  const partsOf = httpPartsOf(kernel)
  const http = {
    ...{ feed, metrics, logger, turns, version },
    clock: ports.clock,
    weights: weightsOf(config),
    bounds: httpBounds(openFilesMax()),
    metricsKeyRequired: config.metricsKeyRequired,
    answerBytes: budget.answers,
    absence: (work: Work) => fleet.absence(work),
    roles: config.role,
    ...(config.role.includes('gateway') &&
      config.products.length < LISTED_PRODUCTS.length && { products: config.products }),
    nodeHead: () => sourceStatus()?.headSlot ?? nodes.current?.nodes.newest(config.indexCommitment) ?? null
  }
  return (given, own) =>
    buildApp(
      {
        ...{ ...http, ...own },
        limits: coordinationOf(kernel, given).limits,
        socketPlaces: coordinationOf(kernel, given).sockets,
        storage: given.storage,
        seal: webhooksOf(given)?.secrets
      },
      partsOf(given)
    )
}

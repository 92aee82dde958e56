import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { KeySockets } from '../../src/access/key-sockets.ts'
import { DEMO_KEY, KEY_SOCKETS } from '../../src/access/product.ts'
import { ACCOUNT_SERVICES } from '../../src/accounts/product.ts'
import { SERVED_ARCHIVE } from '../../src/archive/product.ts'
import { Registry } from 'prom-client'
import { INDEX_METRICS, INDEX_PLACE, NAMES, RANKING } from '../../src/data/capabilities.ts'
import { indexMetrics } from '../../src/data/metrics.ts'
import type { IndexHints } from '../../src/data/index-asker.ts'
import type { IndexPlace } from '../../src/data/index-place.ts'
import type { DataNeeds } from '../../src/data/routes/needs.ts'
import { buildApp } from '../../src/edge/routes/app.ts'
import type { EdgeNeeds } from '../../src/edge/routes/needs.ts'
import { FLEET } from '../../src/fleet/capabilities.ts'
import type { Fleet } from '../../src/fleet/fleet.ts'
import type { Role } from '../../src/fleet/work.ts'
import { HOLDERS_REQUESTED } from '../../src/holders/product.ts'
import type { HolderNeeds } from '../../src/holders/routes/needs.ts'
import { CASH, FEES, RECORDED, SOURCE_KIND, START } from '../../src/ingest/capabilities.ts'
import type { IngestNeeds } from '../../src/ingest/routes/needs.ts'
import type { Capability } from '../../src/kernel/compose/capability.ts'
import { httpPartsOf, type Kernel, type Product } from '../../src/kernel/compose/product.ts'
import { routesWith, type HttpKernel, type HttpParts } from '../../src/kernel/http/http-kernel.ts'
import { PROGRAMS_CHANGED } from '../../src/program-accounts/product.ts'
import type { ProgramAccountNeeds } from '../../src/program-accounts/routes/needs.ts'
import { MIRROR_METRICS } from '../../src/program-accounts/capabilities.ts'
import type { MirrorMetrics } from '../../src/program-accounts/metrics.ts'
import { WATCHED_CHANGED } from '../../src/revenue/product.ts'
import type { RevenueNeeds } from '../../src/revenue/routes/needs.ts'
import { RPC_SERVICES } from '../../src/rpc/product.ts'
import type { RpcSocketGateway } from '../../src/rpc/pubsub/gateway.ts'
import type { RpcNeeds } from '../../src/rpc/routes/needs.ts'
import { RPC_SOCKET_GATEWAY } from '../../src/rpc/subscriptions-product.ts'
import { STREAM_GATEWAY } from '../../src/stream/product.ts'
import type { TransactionNeeds } from '../../src/transactions/routes/needs.ts'
import { TRANSACTION_SERVICES } from '../../src/transactions/product.ts'
import { WEBHOOK_SERVICES } from '../../src/webhooks/product.ts'
import type { WebhookNeeds } from '../../src/webhooks/routes/needs.ts'
import { PRODUCTS } from '../products/loaded-products.ts'

/** Needs of the routes of all products, as one flat object. */
export interface AppNeeds
  extends
    HttpKernel,
    Omit<DataNeeds, 'mintWindows' | 'index'>,
    EdgeNeeds,
    HolderNeeds,
    IngestNeeds,
    Pick<ProgramAccountNeeds, 'programsChanged'>,
    RevenueNeeds,
    RpcNeeds,
    TransactionNeeds,
    WebhookNeeds {
  readonly metrics: HttpKernel['metrics'] & { readonly mirror: MirrorMetrics }
  readonly fleet: Fleet
  readonly roles: readonly Role[]
  /** Notifications of questions about names and rankings; absent for none. */
  readonly indexHints?: IndexHints
  /** Absent if this process holds names and rankings. */
  readonly indexPlace?: Pick<IndexPlace, 'isHeld' | 'isAnsweredElsewhere' | 'rank'>
  /** The socket of the RPC URL; absent if it is not served. */
  readonly rpcSockets?: RpcSocketGateway | null
}

/** Builds the app of some products, with what they need. */
export const appOf = (needs: AppNeeds, products: readonly Product[] = PRODUCTS): FastifyInstance =>
  buildApp(
    { seal: needs.webhooks?.secrets, ...needs },
    httpPartsOf(kernelOf(needs, products))({ storage: needs.storage })
  )

/** Returns the parts of an app with some routes alone. */
export const partsOf = <Needs extends object>(
  needs: Needs,
  plugins: readonly FastifyPluginAsync<Needs>[]
): HttpParts => ({ routes: () => routesWith(needs, plugins), sockets: [], exposed: [], inFront: [] })

/** Returns a kernel whose capabilities are the given needs. */
function kernelOf(needs: AppNeeds, products: readonly Product[]): Kernel {
  const publishing = (publish: () => void = () => undefined) => ({ publish })
  const given = new Map<unknown, unknown>([
    [RANKING, needs.ranking],
    [FLEET, needs.fleet],
    [NAMES, needs.names],
    [INDEX_PLACE, needs.indexPlace ?? { isHeld: true, isAnsweredElsewhere: false, rank: 0 }],
    [INDEX_METRICS, indexMetrics(new Registry())],
    [CASH, needs.cash],
    [FEES, needs.fees],
    [RECORDED, needs.recorded],
    [SOURCE_KIND, needs.sourceKind],
    [START, { source: needs.source, pastEnd: needs.pastEnd }],
    [DEMO_KEY, needs.demoKey],
    [KEY_SOCKETS, new KeySockets()],
    [SERVED_ARCHIVE, needs.archive],
    [PROGRAMS_CHANGED, publishing(needs.programsChanged)],
    [HOLDERS_REQUESTED, publishing(needs.holdersRequested)],
    [WATCHED_CHANGED, publishing(needs.watchedChanged)],
    [STREAM_GATEWAY, needs.stream],
    [RPC_SOCKET_GATEWAY, needs.rpcSockets ?? null],
    [WEBHOOK_SERVICES, () => needs.webhooks],
    [TRANSACTION_SERVICES, needs.transactions],
    [ACCOUNT_SERVICES, needs.accounts],
    [RPC_SERVICES, needs.rpc],
    [MIRROR_METRICS, needs.metrics.mirror]
  ])
  const kernel: Partial<Kernel> = {
    config: { venues: needs.venues, role: needs.roles } as Kernel['config'],
    budget: {} as Kernel['budget'],
    ...{ decoding: needs.decoding, errors: needs.errors },
    products,
    tree: needs.tree,
    soloCoordination: {
      questions: needs.indexHints?.questions ?? null,
      answers: needs.indexHints?.answers ?? null,
      get outage() {
        return needs.redisAway() ? { sinceMs: 0, detail: 'it does not answer' } : null
      }
    } as Kernel['soloCoordination'],
    get: <T>(capability: Capability<Kernel, T>): T => {
      if (!given.has(capability))
        throw new TypeError('the routes use a capability that the tests do not give')
      return given.get(capability) as T
    }
  }
  return kernel as Kernel
}

import { rpcNodes, type OpenRpc } from '../../actors/rpc/rpc.ts'
import { aborted } from '../../actors/supervision/aborted.ts'
import { giving, using } from '../../actors/supervision/held.ts'
import type { Run } from '../../actors/supervision/process.ts'
import { child } from '../../actors/supervision/unit.ts'
import { RPC_ERRORS } from './errors.ts'
import type { RpcServices } from './services.ts'
import { adminNodeRoutes } from './routes/admin-nodes.ts'
import { rpcRoutes } from './routes/rpc.ts'
import { rpcFastPath } from './routes/rpc-fast-path.ts'
import { RPC_FACT_FIELDS } from './routes/rpc-fields.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'
import { sourceCoverage } from '../ingest/coverage.ts'
import type { CallWeights } from '../access/call-weights.ts'
import { Cordons } from './cordons.ts'
import { MethodCosts } from './method-costs.ts'
import { MethodTable } from './methods.ts'
import { rpcMetrics } from './metrics.ts'
import { MirroredAccounts } from './mirrored-accounts.ts'
import { Gateway } from './rpc-gateway.ts'
import { SharedFloorGateway } from './shared-floors.ts'
import { SlotFloors } from './slot-floors.ts'
import { TrackedSends } from './tracked-sends.ts'
import { hasLocalnet, hasNode as isConfigured, nodeUrls } from '../ingest/node-urls.ts'
import {
  beside,
  capability,
  coordinationOf,
  metricGroup,
  resource,
  type Kernel,
  type Product,
  type Spine
} from '../kernel/compose/product.ts'
import { SENDING, TRANSACTION_SERVICES } from '../transactions/product.ts'
import { FLEET } from '../fleet/capabilities.ts'
import { MIRROR_METRICS } from '../program-accounts/capabilities.ts'

/** Slots by which processed state leads finalized state (Solana: 31 votes on top of a block finalize it). */
const FINALITY_SLOTS = 32

/** The connections to the nodes behind the RPC URL. */
export const RPC_NODES = resource<OpenRpc>('the connections to nodes')

/** The calls of the RPC URL, over HTTP and over sockets. */
export const RPC_CALLS = resource<RpcServices>('the calls of the RPC URL')

const RPC_METRICS = metricGroup(rpcMetrics)

/** The drop-in RPC URL: JSON-RPC of the operator's nodes, over HTTP. */
export const RPC: Product = {
  name: 'rpc',
  roles: ['gateway'],
  listedAs: 'rpc',
  needs: ['transactions'],
  errors: RPC_ERRORS,
  units: (kernel) => {
    const { ports, budget, config, feed, logger, get } = kernel
    if (!isConfigured(kernel)) return [beside('rpc', child('calls', giving(get(RPC_CALLS), calls(kernel))))]
    const deps = { ...ports, logger, cacheBytes: budget.rpcAnswers, metrics: get(RPC_METRICS) }
    const finalitySlots = config.indexCommitment === 'finalized' ? FINALITY_SLOTS : 0
    const run = rpcNodes<Spine>(deps, ({ storage }) => ({
      urls: () => nodeUrls(kernel),
      archiveUrls: hasLocalnet(kernel) ? [] : config.archiveRpcUrl,
      expectedGenesis: sourceCoverage(storage.coverage, ports.clock).expectedGenesis,
      indexedSlot: () => feed.head && feed.head.slot + finalitySlots,
      limits: hasLocalnet(kernel) ? [] : config.rpcNodeRps,
      cordons: () => new Cordons(storage.documents).list(),
      tuning: { deadlineMs: config.rpcDeadlineMs, costs: new MethodCosts(config.rpcMethodWeights) }
    }))
    return [
      beside(
        'rpc',
        child('nodes', giving(get(RPC_NODES), run)),
        child('calls', giving(get(RPC_CALLS), using({ rpc: get(RPC_NODES) }, ports.clock, calls(kernel))))
      )
    ]
  },
  metrics: [RPC_METRICS],
  routes: ({ get }) => {
    const rpc = get(RPC_SERVICES)
    return (side) => routesWith({ ...side, rpc }, [rpcRoutes, adminNodeRoutes])
  },
  exposed: RPC_FACT_FIELDS,
  inFront: ({ get }) => {
    const rpc = get(RPC_SERVICES)
    return (http, nextRequestId, rest) => rpcFastPath({ ...http, rpc }, nextRequestId, rest)
  }
}

/** Returns the units of a quota that each weighted call costs. */
export const weightsOf = (
  config: Pick<Kernel['config'], 'programAccountsWeight' | 'holdersWeight'>
): CallWeights => ({ 'program-accounts': config.programAccountsWeight, holders: config.holdersWeight })

/** The methods of the RPC URL. */
const METHODS = capability((kernel): MethodTable => {
  const { config } = kernel
  // A localnet has a faucet, which its wallets expect.
  const allowed = hasLocalnet(kernel) ? [...config.rpcAllow, 'requestAirdrop'] : config.rpcAllow
  return new MethodTable(allowed, weightsOf(config))
})

/** Owns the gateway of the RPC URL, which HTTP and sockets share. Without a node it answers what needs none. */
function calls(kernel: Kernel): Run<Spine & { readonly rpc?: OpenRpc }, RpcServices> {
  const { ports, turns, get } = kernel
  const [metrics, mirror] = [get(RPC_METRICS), get(MIRROR_METRICS)]
  const transactions = get(TRANSACTION_SERVICES)
  const methods = kernel.get(METHODS)
  const fleet = get(FLEET)
  return async ({ input: { storage, peers, rpc }, draining, ready }) => {
    const finalized = rpc === undefined ? null : { newest: () => rpc.nodes.newest('finalized') }
    const count = (selected_by: 'index' | 'scan'): void => mirror.pages.inc({ selected_by })
    const floors = rpc?.floors ?? new SlotFloors()
    const own = new Gateway({
      methods,
      reads: rpc?.reads ?? null,
      floors,
      accounts: new MirroredAccounts(storage, count, finalized),
      sends:
        transactions === null
          ? null
          : new TrackedSends(storage.documents, transactions, ports.clock, () => fleet.absence(SENDING)),
      clock: ports.clock,
      turns,
      count: (method, outcome) => metrics.countElement(method, outcome)
    })
    const { slotFloors } = coordinationOf(kernel, { ...(peers && { peers }) })
    const gateway = slotFloors === null ? own : new SharedFloorGateway(own, floors, slotFloors, ports.clock)
    ready({ gateway, methods, hasNode: rpc !== undefined, nodes: rpc?.nodes.control ?? null, finalized })
    await aborted(draining)
  }
}

/** The JSON-RPC services that the HTTP side uses. */
export const RPC_SERVICES = capability(rpcServicesOf)

function rpcServicesOf(kernel: Kernel): RpcServices {
  return kernel.get(RPC_CALLS).view(['gateway', 'nodes', 'finalized'], {
    methods: kernel.get(METHODS),
    hasNode: isConfigured(kernel) && kernel.products.includes(RPC)
  })
}

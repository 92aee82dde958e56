import { rpcNodes } from '../../actors/rpc/rpc.ts'
import { child } from '../../actors/supervision/unit.ts'
import { RPC_SETTINGS } from '../config/settings/rpc.ts'
import type { RpcParts } from '../http/deps.ts'
import { adminNodeRoutes } from '../http/routes/admin-nodes.ts'
import { rpcRoutes } from '../http/routes/rpc.ts'
import { sourceCoverage } from '../node/coverage.ts'
import type { CallWeights } from '../access/call-weights.ts'
import { Cordons } from '../rpc/cordons.ts'
import { MethodCosts } from '../rpc/method-costs.ts'
import { MethodTable } from '../rpc/methods.ts'
import { MirroredAccounts } from '../rpc/mirrored-accounts.ts'
import { Gateway } from '../rpc/rpc-gateway.ts'
import { SlotFloors } from '../rpc/slot-floors.ts'
import { TrackedSends } from '../rpc/tracked-sends.ts'
import { hasLocalnet, hasNode as isConfigured, nodeUrls } from './node-urls.ts'
import type { Given, Product, ServiceParts } from './product.ts'
import { transactionPartsOf } from './transactions.ts'

/** Slots by which processed state leads finalized state (Solana: 31 votes on top of a block finalize it). */
const FINALITY_SLOTS = 32

/** The drop-in RPC URL: JSON-RPC of the operator's nodes, over HTTP. */
export const RPC: Product = {
  name: 'rpc',
  roles: ['gateway'],
  settings: RPC_SETTINGS,
  units: (service) => {
    if (!isConfigured(service)) return []
    const { ports, budget, metrics, config, feed, logger } = service
    const deps = { ...ports, logger, cacheBytes: budget.rpcAnswers, metrics: metrics.rpc }
    const finalitySlots = config.indexCommitment === 'finalized' ? FINALITY_SLOTS : 0
    const run = rpcNodes<Pick<Given, 'storage'>>(deps, ({ storage }) => ({
      urls: () => nodeUrls(service),
      archiveUrls: hasLocalnet(service) ? [] : config.archiveRpcUrl,
      expectedGenesis: sourceCoverage(storage.coverage, ports.clock).expectedGenesis,
      indexedSlot: () => feed.head && feed.head.slot + finalitySlots,
      limits: hasLocalnet(service) ? [] : config.rpcNodeRps,
      cordons: () => new Cordons(storage.documents).list(),
      tuning: { deadlineMs: config.rpcDeadlineMs, costs: new MethodCosts(config.rpcMethodWeights) }
    }))
    return [child('rpc', run)]
  },
  routes: [rpcRoutes, adminNodeRoutes]
}

/** Returns the units of a quota that each weighted call costs. */
export const weightsOf = (
  config: Pick<ServiceParts['config'], 'programAccountsWeight' | 'holdersWeight'>
): CallWeights => ({ 'program-accounts': config.programAccountsWeight, holders: config.holdersWeight })

/** Returns the parts of JSON-RPC that the HTTP side uses. */
export function rpcPartsOf(service: ServiceParts, given: Given): RpcParts {
  const { rpc: open, storage } = given
  const hasNode = open !== undefined
  const { config, ports, metrics } = service
  const transactions = transactionPartsOf(service, given)
  const methods = new MethodTable(config.rpcAllow, weightsOf(config))
  const gateway = new Gateway({
    methods,
    reads: open?.reads ?? null,
    floors: open?.floors ?? new SlotFloors(),
    accounts: new MirroredAccounts(
      storage,
      (selected_by) => metrics.mirror.pages.inc({ selected_by }),
      hasNode
    ),
    sends: transactions === null ? null : new TrackedSends(storage.documents, transactions, ports.clock),
    clock: ports.clock,
    turns: service.turns,
    count: (method, outcome) => metrics.rpc.countElement(method, outcome)
  })
  return { gateway, methods, hasNode, nodes: open?.nodes.control ?? null }
}

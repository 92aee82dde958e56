import { transactionNodes } from '../../actors/transactions/nodes.ts'
import { transactions, type TransactionsNeeds } from '../../actors/transactions/transactions.ts'
import { child, supervisor } from '../../actors/supervision/unit.ts'
import { TRANSACTION_SETTINGS } from '../config/settings/transactions.ts'
import { transactionRoutes } from '../http/routes/transactions.ts'
import { SharedTracking } from '../transactions/local-tracking.ts'
import type { FeeStatistics, TransactionParts } from '../transactions/ports.ts'
import { coordinationOf, type Given, type Product, type ServiceParts } from './product.ts'

/** Milliseconds that a drain may take: as long as sends in flight are waited for, and the last writes. */
const DRAIN_MS = 5_000

/** The nodes that transactions are sent to. Gateways check and simulate by them, delivery processes send and track. */
export const TRANSACTIONS: Product = {
  name: 'transactions',
  roles: ['gateway', 'delivery'],
  settings: TRANSACTION_SETTINGS,
  units: (service) => {
    if (!hasNode(service)) return []
    return [
      child(
        'nodes',
        transactionNodes(() => nodeUrls(service), service.ports.clock)
      )
    ]
  },
  routes: [transactionRoutes],
  channels: ['tx']
}

/**
 * Sending and tracking of submitted transactions. It has a supervisor of its own, and drains after the edge. A process
 * without a node to send to has no shards.
 */
export const TRACKING: Product = {
  name: 'tracking',
  roles: ['delivery'],
  settings: {},
  units: (service) => {
    if (!hasNode(service)) return []
    const { ports, logger, metrics, tracking: local, tenantEvents, sightings } = service
    const deps = { ...ports, logger, metrics: metrics.sentTransactions, local, tenantEvents, sightings }
    type Needs = TransactionsNeeds & Pick<Given, 'peers'>
    const run = transactions<Needs>(deps, (given) => coordinationOf(service, given))
    return [supervisor('transactions', 'one_for_one', [child('tracking', run, { drainMs: DRAIN_MS })])]
  }
}

/** Returns the parts of transactions that the HTTP side uses; null in a process without a node to send to. */
export function transactionPartsOf(service: ServiceParts, given: Given): TransactionParts | null {
  const { storage, nodes: node, engine = null } = given
  if (node === undefined) return null
  const { tracking, sightings, ports } = service
  return {
    node,
    tracking: new SharedTracking(tracking, storage.documents, coordinationOf(service, given), ports.clock),
    sightings,
    fees: NO_FEES,
    engine
  }
}

/** Fees before any block was seen. */
const NO_FEES: FeeStatistics = {
  of: () => ({ samples: 0, slots: null, p25: 0, p50: 0, p75: 0, p90: 0, max: 0 })
}

/** Tells whether this process has the localnet, whose node is then the only one that transactions go to. */
const hasLocalnet = ({ config: { role, source }, source: replaced }: ServiceParts): boolean =>
  role.includes('ingest') && source === 'localnet' && replaced === undefined

const hasNode = (service: ServiceParts): boolean => hasLocalnet(service) || service.config.rpcUrl.length > 0

function nodeUrls(service: ServiceParts): readonly string[] {
  if (!hasLocalnet(service)) return service.config.rpcUrl
  const url = service.localnetUrl()
  return url === null ? [] : [url]
}

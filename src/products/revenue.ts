import { ledger, watchedAddresses } from '../../actors/revenue/ledger.ts'
import { child } from '../../actors/supervision/unit.ts'
import { revenueAccountRoutes } from '../http/routes/revenue-accounts.ts'
import { revenueCoverageRoutes } from '../http/routes/revenue-coverage.ts'
import { revenueEventRoutes } from '../http/routes/revenue-events.ts'
import { revenueTotalRoutes } from '../http/routes/revenue-totals.ts'
import { LedgerFeed } from '../stream/ledger-feed.ts'
import { beside, coordinationOf, type Product, type Spine } from './product.ts'

/** Maximum milliseconds of a drain, in which queued blocks are recorded. */
const DRAIN_MS = 5_000

/** The watched addresses, which are known before the first block is read. */
export const WATCHES: Product = {
  name: 'watches',
  roles: ['ingest'],
  settings: {},
  units: ({ ledgerBlocks }) => [beside('watches', child('addresses', watchedAddresses(ledgerBlocks)))]
}

/**
 * The ledger of watched addresses: their balance changes and sums. Gateways serve it, and the process that ingests writes
 * it. A fault of the follower restarts no other unit.
 */
export const REVENUE: Product = {
  name: 'revenue',
  roles: ['ingest', 'gateway'],
  settings: {},
  units: (service) => {
    const { config, ports, logger, metrics, names, cash, ledgerBlocks: blocks, feed } = service
    if (!config.role.includes('ingest')) return []
    const run = ledger<Spine>(
      {
        ...ports,
        logger,
        metrics: metrics.ledger,
        names,
        cash,
        blocks,
        feed,
        watchedChanged: service.watchedChanged
      },
      (given) => {
        const { tenantEvents } = coordinationOf(service, given)
        return new LedgerFeed((event) => service.tenantEvents.publish(event, tenantEvents), ports.clock)
      }
    )
    return [beside('revenue', child('ledger', run, { drainMs: DRAIN_MS }))]
  },
  channels: ['revenue'],
  routes: [revenueAccountRoutes, revenueTotalRoutes, revenueEventRoutes, revenueCoverageRoutes]
}

import { ledger, watchedAddresses } from '../../actors/revenue/ledger.ts'
import { child } from '../../actors/supervision/unit.ts'
import { revenueAccountRoutes } from '../http/routes/revenue-accounts.ts'
import { revenueCoverageRoutes } from '../http/routes/revenue-coverage.ts'
import { revenueEventRoutes } from '../http/routes/revenue-events.ts'
import { revenueTotalRoutes } from '../http/routes/revenue-totals.ts'
import { LedgerFeed } from '../stream/ledger-feed.ts'
import { LedgerBlocks } from '../revenue/ledger-blocks.ts'
import { Announcements } from '../views/announcements.ts'
import { CASH, blockObserver } from './chain-capabilities.ts'
import { NAMES } from './data.ts'
import { beside, capability, coordinationOf, type Product, type Spine } from './product.ts'
import { TENANT_EVENTS } from './stream.ts'

/** Maximum milliseconds of a drain, in which queued blocks are recorded. */
const DRAIN_MS = 5_000

/** Blocks whose balance changes wait for the ledger. */
const LEDGER_BLOCKS = blockObserver(() => new LedgerBlocks())

/** Announces that a tenant has changed its watched addresses. */
export const WATCHED_CHANGED = capability(() => new Announcements())

/** The watched addresses, which are known before the first block is read. */
export const WATCHES: Product = {
  name: 'watches',
  roles: ['ingest'],
  settings: {},
  units: ({ get }) => [beside('watches', child('addresses', watchedAddresses(get(LEDGER_BLOCKS))))]
}

/**
 * The ledger of watched addresses: their balance changes and sums. Gateways serve it, and the process that ingests writes
 * it. A fault of the follower restarts no other unit.
 */
export const REVENUE: Product = {
  name: 'revenue',
  roles: ['ingest', 'gateway'],
  settings: {},
  units: (kernel) => {
    const { config, ports, logger, metrics, feed, get } = kernel
    if (!config.role.includes('ingest')) return []
    const events = get(TENANT_EVENTS)
    const run = ledger<Spine>(
      {
        ...ports,
        logger,
        metrics: metrics.ledger,
        names: get(NAMES),
        cash: get(CASH),
        blocks: get(LEDGER_BLOCKS),
        feed,
        watchedChanged: get(WATCHED_CHANGED)
      },
      (given) => {
        const { tenantEvents } = coordinationOf(kernel, given)
        return new LedgerFeed((event) => events.publish(event, tenantEvents), ports.clock)
      }
    )
    return [beside('revenue', child('ledger', run, { drainMs: DRAIN_MS }))]
  },
  channels: ['revenue'],
  routes: [revenueAccountRoutes, revenueTotalRoutes, revenueEventRoutes, revenueCoverageRoutes]
}

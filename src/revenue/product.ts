import { backfill } from '../../actors/revenue/backfill.ts'
import { ledger, watchedAddresses } from '../../actors/revenue/ledger.ts'
import { child } from '../../actors/supervision/unit.ts'
import { revenueAccountRoutes } from './routes/revenue-accounts.ts'
import { revenueArchiveRoutes } from './routes/revenue-archive.ts'
import { REVENUE_ERRORS } from './errors.ts'
import { revenueCoverageRoutes } from './routes/revenue-coverage.ts'
import { revenueEventRoutes } from './routes/revenue-events.ts'
import { revenueTotalRoutes } from './routes/revenue-totals.ts'
import { backfillMetrics, ledgerMetrics } from './metrics.ts'
import { LedgerFeed } from './ledger-feed.ts'
import { LedgerBlocks } from './ledger-blocks.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'
import { Announcements } from '../kernel/feed/announcements.ts'
import { CASH, blockObserver } from '../ingest/capabilities.ts'
import { historyUrls } from '../ingest/node-urls.ts'
import { NAMES } from '../data/capabilities.ts'
import { TENANT_EVENTS } from '../stream/capabilities.ts'
import {
  beside,
  capability,
  coordinationOf,
  metricGroup,
  type Product,
  type ProductWork,
  type Spine
} from '../kernel/compose/product.ts'

/** Maximum milliseconds of a drain, in which queued blocks are recorded. */
const DRAIN_MS = 5_000

/** Blocks whose balance changes wait for the ledger. */
const LEDGER_BLOCKS = blockObserver(() => new LedgerBlocks())

const LEDGER_METRICS = metricGroup(ledgerMetrics)
const BACKFILL_METRICS = metricGroup(backfillMetrics)

/** Announces that a tenant has changed its watched addresses. */
export const WATCHED_CHANGED = capability(() => new Announcements())

/** The watched addresses, which are known before the first block is read. */
export const WATCHES: Product = {
  name: 'watches',
  roles: ['ingest'],
  units: ({ get }) => [beside('watches', child('addresses', watchedAddresses(get(LEDGER_BLOCKS))))]
}

/** Records of watched addresses, which a registered watch is answered with the promise of. */
const RECORDING: ProductWork = { name: 'revenue', role: 'ingest' }

/**
 * The ledger of watched addresses: their balance changes and sums. Gateways serve it, and the process that ingests writes
 * it. A fault of the follower restarts no other unit.
 */
export const REVENUE: Product = {
  name: 'revenue',
  roles: ['ingest', 'gateway'],
  listedAs: 'revenue',
  needs: ['data'],
  work: RECORDING,
  errors: REVENUE_ERRORS,
  units: (kernel) => {
    const { config, ports, logger, feed, get } = kernel
    if (!config.role.includes('ingest')) return []
    const events = get(TENANT_EVENTS)
    const lead = { isHeld: false }
    const shared = { ...ports, logger, lead, cash: get(CASH), watchedChanged: get(WATCHED_CHANGED) }
    const run = ledger<Spine>(
      {
        ...shared,
        metrics: get(LEDGER_METRICS),
        names: get(NAMES),
        blocks: get(LEDGER_BLOCKS),
        feed
      },
      (given) => {
        const { tenantEvents } = coordinationOf(kernel, given)
        return new LedgerFeed(
          (event) => events.publish(event, tenantEvents),
          ports.clock,
          (tenant) => events.isHeard(tenant, 'revenue', tenantEvents)
        )
      }
    )
    const history = backfill<Spine>({
      ...shared,
      metrics: get(BACKFILL_METRICS),
      urls: () => historyUrls(kernel),
      requestsPerSecond: config.revenueBackfillRps
    })
    return [beside('revenue', child('ledger', run, { drainMs: DRAIN_MS }), child('backfill', history))]
  },
  metrics: [LEDGER_METRICS, BACKFILL_METRICS],
  channels: ['revenue'],
  routes: ({ get }) => {
    const changed = get(WATCHED_CHANGED)
    const needs = { names: get(NAMES), cash: get(CASH), watchedChanged: () => changed.publish() }
    return (side) =>
      routesWith({ ...side, ...needs }, [
        revenueAccountRoutes,
        revenueArchiveRoutes,
        revenueTotalRoutes,
        revenueEventRoutes,
        revenueCoverageRoutes
      ])
  }
}

import { holders, type HoldersNeeds } from '../../actors/holders/holders.ts'
import { child } from '../../actors/supervision/unit.ts'
import { holderRoutes } from './routes/holders.ts'
import { holdingRoutes } from './routes/holdings.ts'
import { hasNode, nodeUrls } from '../ingest/node-urls.ts'
import { holderMetrics } from './metrics.ts'
import { HolderBlocks } from './holder-blocks.ts'
import { Announcements } from '../kernel/feed/announcements.ts'
import { ACCOUNT_SERVICES } from '../accounts/product.ts'
import { blockObserver, CASH } from '../ingest/capabilities.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'
import { beside, capability, metricGroup, type Product } from '../kernel/compose/product.ts'

/** Maximum milliseconds of a drain, in which queued events are stored. */
const DRAIN_MS = 5_000
/** Milliseconds for which pages of one paging run can be read. */
const PINNED_MS = 300_000

/** Blocks whose balance changes wait for the holder lists. */
const HOLDER_BLOCKS = blockObserver(() => new HolderBlocks())

const HOLDER_METRICS = metricGroup(holderMetrics)

/** Announces mints whose holders were requested for the first time. */
export const HOLDERS_REQUESTED = capability(() => new Announcements())

/**
 * Holders of requested tokens, and holdings of wallets. Gateways serve them, and the process that ingests maintains
 * them. A fault of the follower restarts no other unit.
 */
export const HOLDERS: Product = {
  name: 'holders',
  roles: ['ingest', 'gateway'],
  listedAs: 'holders',
  needs: ['accounts'],
  units: (kernel) => {
    const { config, ports, logger, feed, get } = kernel
    if (!config.role.includes('ingest') || !hasNode(kernel)) return []
    const blocks = get(HOLDER_BLOCKS)
    blocks.begin()
    const limits = {
      mintsMax: config.holderMints,
      accountsMax: config.holderAccounts,
      pinnedMs: PINNED_MS
    }
    const run = holders<HoldersNeeds>({
      ...ports,
      logger,
      metrics: get(HOLDER_METRICS),
      blocks,
      requested: get(HOLDERS_REQUESTED),
      feed,
      limits,
      urls: () => nodeUrls(kernel)
    })
    return [beside('balances', child('holders', run, { drainMs: DRAIN_MS }))]
  },
  metrics: [HOLDER_METRICS],
  routes: ({ get }) => {
    const requested = get(HOLDERS_REQUESTED)
    const needs = {
      accounts: get(ACCOUNT_SERVICES),
      cash: get(CASH),
      holdersRequested: () => requested.publish()
    }
    return (side) => routesWith({ ...side, ...needs }, [holderRoutes, holdingRoutes])
  }
}

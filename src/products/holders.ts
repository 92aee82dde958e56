import { holders, type HoldersNeeds } from '../../actors/holders/holders.ts'
import { child } from '../../actors/supervision/unit.ts'
import { HOLDER_SETTINGS } from '../config/settings/holders.ts'
import { holderRoutes } from '../http/routes/holders.ts'
import { holdingRoutes } from '../http/routes/holdings.ts'
import { hasNode, nodeUrls } from './node-urls.ts'
import { beside, type Product } from './product.ts'

/** Maximum milliseconds of a drain, in which queued events are stored. */
const DRAIN_MS = 5_000
/** Milliseconds for which pages of one paging run can be read. */
const PINNED_MS = 300_000

/**
 * Holders of requested tokens, and holdings of wallets. Gateways serve them, and the process that ingests maintains
 * them. A fault of the follower restarts no other unit.
 */
export const HOLDERS: Product = {
  name: 'holders',
  roles: ['ingest', 'gateway'],
  settings: HOLDER_SETTINGS,
  units: (service) => {
    if (!service.config.role.includes('ingest') || !hasNode(service)) return []
    const {
      config,
      ports,
      logger,
      metrics,
      holderBlocks: blocks,
      holdersRequested: requested,
      feed
    } = service
    blocks.begin()
    const limits = {
      mintsMax: config.holderMints,
      accountsMax: config.holderAccounts,
      pinnedMs: PINNED_MS
    }
    const run = holders<HoldersNeeds>({
      ...ports,
      logger,
      metrics: metrics.holders,
      blocks,
      requested,
      feed,
      limits,
      urls: () => nodeUrls(service)
    })
    return [beside('balances', child('holders', run, { drainMs: DRAIN_MS }))]
  },
  routes: [holderRoutes, holdingRoutes]
}

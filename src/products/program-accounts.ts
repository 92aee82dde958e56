import { mirror } from '../../actors/program-accounts/mirror.ts'
import { adminProgramRoutes } from '../http/routes/admin-programs.ts'
import { programAccountRoutes } from '../http/routes/program-accounts.ts'
import { child } from '../../actors/supervision/unit.ts'
import { hasNode, nodeUrls, pubsubUrls } from './node-urls.ts'
import { beside, coordinationOf, type Product, type Spine } from './product.ts'

/** Slots after which a block of an index at processed counts as confirmed. Clusters confirm within two or three. */
const PROCESSED_SLOTS = 16
/** Maximum milliseconds of a drain, which waits for requests in flight. */
const DRAIN_MS = 5_000

/**
 * Accounts of whitelisted programs. Gateways serve them, and a process that ingests mirrors them. A fault of the
 * mirror restarts no other unit.
 */
export const PROGRAM_ACCOUNTS: Product = {
  name: 'program-accounts',
  roles: ['ingest', 'gateway'],
  settings: {},
  units: (service) => {
    if (!service.config.role.includes('ingest') || !hasNode(service)) return []
    const { config, ports, logger, metrics, chainWatch: watch, programsChanged: changed } = service
    const run = mirror<Spine>(
      {
        ...ports,
        logger,
        metrics: metrics.mirror,
        watch,
        changed,
        slotsUnconfirmed: config.indexCommitment === 'processed' ? PROCESSED_SLOTS : 0,
        urls: () => nodeUrls(service),
        pubsubUrls: () => pubsubUrls(service)
      },
      (given) => coordinationOf(service, given)
    )
    return [beside('programs', child('mirror', run, { drainMs: DRAIN_MS }))]
  },
  routes: [programAccountRoutes, adminProgramRoutes]
}

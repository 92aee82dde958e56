import { mirror } from '../../actors/program-accounts/mirror.ts'
import { adminProgramRoutes } from './routes/admin-programs.ts'
import { PROGRAM_ERRORS } from './errors.ts'
import { programAccountRoutes } from './routes/program-accounts.ts'
import { child } from '../../actors/supervision/unit.ts'
import { hasNode, nodeUrls, pubsubUrls } from '../ingest/node-urls.ts'
import { LEASES } from '../fleet/capabilities.ts'
import { MIRROR_METRICS } from './capabilities.ts'
import { ChainWatch } from './chain-watch.ts'
import { Announcements } from '../kernel/feed/announcements.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'
import { RPC_SERVICES } from '../rpc/product.ts'
import { COMMITTED_BLOCKS } from '../ingest/capabilities.ts'
import {
  beside,
  capability,
  coordinationOf,
  type Product,
  type ProductWork,
  type Spine
} from '../kernel/compose/product.ts'

/** Slots after which a block of an index at processed counts as confirmed. Clusters confirm within two or three. */
const PROCESSED_SLOTS = 16
/** Maximum milliseconds of a drain, which waits for requests in flight. */
const DRAIN_MS = 5_000

/** Slots of this process's blocks, with the accounts that they touch. */
const CHAIN_WATCH = capability(({ get }) => new ChainWatch(get(COMMITTED_BLOCKS)))

/** Announces that a program was added to the whitelist, or removed. */
export const PROGRAMS_CHANGED = capability(() => new Announcements())

/** The mirror of an added program. */
const MIRRORING: ProductWork = { name: 'program-accounts', role: 'ingest' }

/**
 * Accounts of whitelisted programs. Gateways serve them, and a process that ingests mirrors them. A fault of the
 * mirror restarts no other unit.
 */
export const PROGRAM_ACCOUNTS: Product = {
  name: 'program-accounts',
  roles: ['ingest', 'gateway'],
  listedAs: 'program-accounts',
  needs: ['rpc'],
  work: MIRRORING,
  errors: PROGRAM_ERRORS,
  units: (kernel) => {
    const { config, ports, logger, get } = kernel
    if (!config.role.includes('ingest') || !hasNode(kernel)) return []
    const run = mirror<Spine>(
      {
        ...ports,
        logger,
        metrics: get(MIRROR_METRICS),
        book: get(LEASES),
        watch: get(CHAIN_WATCH),
        changed: get(PROGRAMS_CHANGED),
        slotsUnconfirmed: config.indexCommitment === 'processed' ? PROCESSED_SLOTS : 0,
        urls: () => nodeUrls(kernel),
        pubsubUrls: () => pubsubUrls(kernel)
      },
      (given) => coordinationOf(kernel, given)
    )
    return [beside('programs', child('mirror', run, { drainMs: DRAIN_MS }))]
  },
  metrics: [MIRROR_METRICS],
  routes: ({ get }) => {
    const changed = get(PROGRAMS_CHANGED)
    const needs = {
      rpc: get(RPC_SERVICES),
      mirror: get(MIRROR_METRICS),
      programsChanged: () => changed.publish()
    }
    return (side) => routesWith({ ...side, ...needs }, [programAccountRoutes, adminProgramRoutes])
  }
}

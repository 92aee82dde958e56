import { fleet } from '../../actors/fleet/fleet.ts'
import { child } from '../../actors/supervision/unit.ts'
import { DEPARTURE, FLEET, LEASES, SECRET_KEY } from './capabilities.ts'
import { fleetMetrics } from './metrics.ts'
import { adminFleetRoutes } from './routes/admin-fleet.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'
import { webhookSecretKey } from '../webhooks/secret-key-file.ts'
import { beside, coordinationOf, metricGroup, type Product, type Spine } from '../kernel/compose/product.ts'

const FLEET_METRICS = metricGroup((registry, { get }) => fleetMetrics(registry, get(LEASES)))

/** The processes of the service: each announces itself to the others, and knows which roles are missing. */
export const FLEET_PRODUCT: Product = {
  name: 'fleet',
  roles: ['ingest', 'gateway', 'delivery'],
  units: (kernel) => {
    const { config, ports, logger, get } = kernel
    const secret = get(SECRET_KEY)
    get(DEPARTURE)
    const usesSecrets = config.role.some((role) => role !== 'ingest')
    const run = fleet<Spine>(
      {
        fleet: get(FLEET),
        clock: ports.clock,
        logger,
        metrics: get(FLEET_METRICS),
        prepare: async () => {
          // A process alone has no peer to compare it with.
          if (config.storage !== 'embedded' && usesSecrets) secret.key = await webhookSecretKey(config)
        }
      },
      (given) => coordinationOf(kernel, given)
    )
    return [beside('fleet', child('announcements', run))]
  },
  metrics: [FLEET_METRICS],
  routes: ({ get }) => {
    const fleet = get(FLEET)
    return (side) => routesWith({ ...side, fleet }, [adminFleetRoutes])
  }
}

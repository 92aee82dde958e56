import { join } from 'node:path'
import { DemoKeyFile } from './demo-key.ts'
import type { Config } from '../kernel/config/config.ts'
import { ACCESS_ERRORS } from './errors.ts'
import { isLoopbackName } from '../kernel/http/host.ts'
import { adminKeyRoutes } from './routes/admin-keys.ts'
import { adminTenantRoutes } from './routes/admin-tenants.ts'
import { meRoutes } from './routes/me.ts'
import { tenantUsageRoutes } from './routes/tenant-usage.ts'
import { KeySockets } from './key-sockets.ts'
import { capability, type Product } from '../kernel/compose/product.ts'
import { routesWith } from '../kernel/http/http-kernel.ts'

/** Counts the WebSockets of keys. */
export const KEY_SOCKETS = capability(() => new KeySockets())

/** The file of the demo key; undefined if none is offered. */
export const DEMO_KEY = capability(({ config }) => demoKeyFileOf(config))

/** Tenants and their API keys. */
export const ACCESS: Product = {
  name: 'access',
  roles: ['gateway'],
  errors: ACCESS_ERRORS,
  routes: ({ get }) => {
    const sockets = get(KEY_SOCKETS)
    return (side) =>
      routesWith({ ...side, sockets }, [meRoutes, adminTenantRoutes, tenantUsageRoutes, adminKeyRoutes])
  }
}

/**
 * Returns the file of a localnet's demo key if the service listens on loopback only; undefined for every other
 * service.
 */
export function demoKeyFileOf({
  source,
  role,
  host,
  dataDir
}: Pick<Config, 'source' | 'role' | 'host' | 'dataDir'>): DemoKeyFile | undefined {
  if (source !== 'localnet' || !role.includes('ingest') || !isLoopbackName(host)) return undefined
  return new DemoKeyFile(join(dataDir, 'demo-key'))
}

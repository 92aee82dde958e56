import { join } from 'node:path'
import { DemoKeyFile } from '../access/demo-key.ts'
import type { Config } from '../config/config.ts'
import { ACCESS_SETTINGS } from '../config/settings/access.ts'
import { isLoopbackName } from '../http/host.ts'
import { adminKeyRoutes } from '../http/routes/admin-keys.ts'
import { adminTenantRoutes } from '../http/routes/admin-tenants.ts'
import { meRoutes } from '../http/routes/me.ts'
import { KeySockets } from '../access/key-sockets.ts'
import { capability, type Product } from './product.ts'

/** Counts the WebSockets of keys. */
export const KEY_SOCKETS = capability(() => new KeySockets())

/** The file of the demo key; undefined if none is offered. */
export const DEMO_KEY = capability(({ config }) => demoKeyFileOf(config))

/** Tenants and their API keys. */
export const ACCESS: Product = {
  name: 'access',
  roles: ['gateway'],
  settings: ACCESS_SETTINGS,
  routes: [meRoutes, adminTenantRoutes, adminKeyRoutes]
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

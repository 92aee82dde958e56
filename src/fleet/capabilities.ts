import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { agreedSettings } from './agreed-settings.ts'
import { Fleet } from './fleet.ts'
import { LeaseBook } from './lease-book.ts'
import type { IndexState } from '../data/index-place.ts'
import { capability } from '../kernel/compose/product.ts'
import { hasNode } from '../ingest/node-urls.ts'

/** The leases that this process holds. */
export const LEASES = capability(() => new LeaseBook())

/** The key of webhook secrets, once it is read; null in a process that uses none. */
export const SECRET_KEY = capability((): { key: Uint8Array | null } => ({ key: null }))

/** Whether this process was asked to stop. It may still answer for a while. */
export const DEPARTURE = capability((): { isAnnounced: boolean } => ({ isAnnounced: false }))

/** The announced state of names and rankings of all mints in this process. */
export const INDEX_STATE = capability((): { current: IndexState } => ({ current: 'none' }))

/** The processes of the service. */
export const FLEET = capability((kernel): Fleet => {
  const { config, ports, feed, version, works, get } = kernel
  const [leases, secret, departure] = [get(LEASES), get(SECRET_KEY), get(DEPARTURE)]
  const index = get(INDEX_STATE)
  const startedAtMs = ports.clock.now()
  const settingsWith = (secretKey: Uint8Array | null): Record<string, string> =>
    agreedSettings(config, { hasNode: hasNode(kernel), secretKey })
  let settings = { key: secret.key, values: settingsWith(secret.key) }
  const currentSettings = (): Record<string, string> => {
    if (settings.key !== secret.key) settings = { key: secret.key, values: settingsWith(secret.key) }
    return settings.values
  }
  const done = works.filter(({ role, isDone }) => config.role.includes(role) && (isDone?.(kernel) ?? true))
  return new Fleet({
    id: randomUUID(),
    clock: ports.clock,
    isAlone: config.storage === 'embedded',
    own: () => ({
      name: `${hostname()}/${process.pid}`,
      roles: [...config.role],
      products: config.role.includes('gateway') ? [...config.products] : [],
      works: done.map(({ name }) => name),
      version,
      startedAtMs,
      settings: currentSettings(),
      slot: feed.head?.slot ?? null,
      shards: leases.held,
      isDraining: departure.isAnnounced,
      index: index.current
    })
  })
})

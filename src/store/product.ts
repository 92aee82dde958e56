import { refusedOnFullDisk } from '../../actors/storage/disk-full.ts'
import { coordination } from '../../actors/cluster/coordination.ts'
import { retention } from '../../actors/storage/retention.ts'
import { store } from '../../actors/storage/store.ts'
import { child, supervisor, type Unit } from '../../actors/supervision/unit.ts'
import type { Storage } from '../../storage/port.ts'
import { bootstrapKeys } from '../access/bootstrap.ts'
import { diskMetrics } from './disk-metrics.ts'
import { storeMetrics } from './metrics.ts'
import { openCoordination } from './coordination.ts'
import { openStore } from './opening.ts'
import { DEMO_KEY } from '../access/product.ts'
import { firstOf, metricGroup, type Kernel, type Product, type Spine } from '../kernel/compose/product.ts'

const STORE_METRICS = metricGroup(storeMetrics)
const DISK_METRICS = metricGroup((registry, { config }) => diskMetrics(registry, config.dataDir))

/** The store, which all products need. */
export const STORE: Product = {
  name: 'store',
  roles: ['ingest', 'gateway', 'delivery'],
  metrics: [STORE_METRICS, DISK_METRICS]
}

/** Returns the service with its store, and with the connections to the other processes that have it open. */
export function aroundStore(kernel: Kernel, units: readonly Unit<Spine>[]): Unit<object> {
  const { config, ports, logger, opened, get } = kernel
  const metrics = get(STORE_METRICS)
  const { clock } = ports
  const openStorage = firstOf(opened?.storage, () => openStore(config, ports))
  const storage = child('storage', store(openStorage, prepareWith(kernel), { clock, logger, metrics }))
  if (config.storage === 'embedded') return supervisor('service', 'rest_for_one', [storage, ...units])
  const openOthers = firstOf(opened?.peers, () => openCoordination(config, logger, ports))
  const peers = child('peers', coordination(openOthers, { clock, metrics }))
  return supervisor('service', 'rest_for_one', [peers, storage, ...units])
}

/**
 * Retention for a store that does not expire rows by itself. Other units do not depend on it: its crash restarts no
 * other unit.
 */
export const RETENTION: Product = {
  name: 'retention',
  roles: ['ingest'],
  units: ({ config, ports: { clock } }) =>
    config.storage === 'embedded' ? [child('retention', retention({ clock }))] : []
}

/**
 * Tells whether an empty store gets a demo key: that of a localnet, if no other process accepts it. On a cluster every gateway
 * would, so the operator must ask for one.
 */
export const hasDemoKey = ({
  source,
  storage,
  demoKey
}: Pick<Kernel['config'], 'source' | 'storage' | 'demoKey'>): boolean =>
  source === 'localnet' && (demoKey ?? storage === 'embedded')

/** Returns the step that gives an empty store its first keys. */
function prepareWith({ config, ports, onFirstKeys, get }: Kernel) {
  const demoKey = get(DEMO_KEY)
  return (storage: Storage): Promise<void> =>
    refusedOnFullDisk(config.dataDir, async () => {
      const { adminKey } = config
      const made = await bootstrapKeys(storage, { adminKey, hasDemo: hasDemoKey(config) }, ports.clock.now())
      if (made === null) return
      onFirstKeys(made)
      if (made.demo !== null) await demoKey?.write(made.demo)
    })
}

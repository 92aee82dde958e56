import { Gauge, type Registry } from 'prom-client'

/** The processes of the service, as the metrics read them. */
interface ShownFleet {
  readonly missingRoles: readonly string[]
  count(role: 'ingest' | 'gateway' | 'delivery'): number
}

/** The leases that this process may hold, as the metrics read them. */
interface ShownLeases {
  all(): Iterable<{ readonly product: string; readonly lease: string; readonly isHeld: boolean }>
}

export interface FleetMetrics {
  /** Sets the fleet that the gauges read at each scrape; null when it ends. */
  show(fleet: ShownFleet | null): void
}

const ROLES = ['ingest', 'gateway', 'delivery'] as const

export function fleetMetrics(registry: Registry, leases: ShownLeases): FleetMetrics {
  let shown: ShownFleet | null = null
  const registers = [registry]
  new Gauge({
    name: 'millrace_fleet_processes',
    help: 'Live processes of the service, as this one hears them, by role',
    labelNames: ['role'],
    registers,
    collect() {
      this.reset()
      for (const role of ROLES) if (shown !== null) this.set({ role }, shown.count(role))
    }
  })
  new Gauge({
    name: 'millrace_role_missing',
    help: '1 once no process has had the role for 5 s, so that requests which need it are refused',
    labelNames: ['role'],
    registers,
    collect() {
      this.reset()
      const missing = shown?.missingRoles ?? []
      for (const role of ROLES) if (shown !== null) this.set({ role }, missing.includes(role) ? 1 : 0)
    }
  })
  new Gauge({
    name: 'millrace_lease_held',
    help: '1 while this process does the work of the lease',
    labelNames: ['lease'],
    registers,
    collect() {
      this.reset()
      for (const { lease, isHeld } of leases.all()) this.set({ lease }, isHeld ? 1 : 0)
    }
  })
  new Gauge({
    name: 'millrace_shards_held',
    help: 'Shards that this process works for, by product',
    labelNames: ['product'],
    registers,
    collect() {
      this.reset()
      for (const { product, isHeld } of leases.all()) this.inc({ product }, isHeld ? 1 : 0)
    }
  })
  return { show: (fleet) => void (shown = fleet) }
}

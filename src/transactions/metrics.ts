import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Outcomes of a send: accepted by a node or leader, refused, or dropped at a limit. */
export type SendLabel = 'taken' | 'refused' | 'limited'
/** States that a tracked transaction can have, as the gauge names them. */
export const TRACKED_LABELS = ['sent', 'failing', 'processed', 'confirmed', 'claimed'] as const
export type TrackedLabel = (typeof TRACKED_LABELS)[number]

/** Maximum tenants with their own label; further tenants share `other`. At most 800 series. */
const TENANT_LABELS_MAX = 100

/** A transaction that has ended, as metrics count it. */
export interface EndedTransaction {
  readonly tenant: string
  readonly route: string
  readonly outcome: 'finalized' | 'failed' | 'expired' | 'unresolved'
  /** From the first send to the block; null if either is unknown. */
  readonly landedMs: number | null
  readonly landedSlots: number | null
}

/** Metrics of sending and tracking transactions. */
export interface TransactionMetrics {
  readonly sends: Counter<'route' | 'outcome'>
  readonly leaders: Counter
  readonly lateness: Histogram
  ended(transaction: EndedTransaction): void
  /** Sets the source of the gauge of tracked transactions; null while this process tracks no transactions. */
  show(tracked: (() => Readonly<Record<TrackedLabel, number>>) | null): void
}

export function transactionMetrics(registry: Registry): TransactionMetrics {
  const registers = [registry]
  let shown: (() => Readonly<Record<TrackedLabel, number>>) | null = null
  new Gauge({
    name: 'millrace_transactions_tracked',
    help: 'Submitted transactions that this process tracks, by state',
    labelNames: ['state'],
    registers,
    collect() {
      const counts = shown?.()
      for (const state of TRACKED_LABELS) this.set({ state }, counts?.[state] ?? 0)
    }
  })
  const landedSeconds = new Histogram({
    name: 'millrace_transaction_landed_seconds',
    help: 'Time from the first send to the block, by route',
    labelNames: ['route'],
    buckets: [0.2, 0.4, 0.8, 1.2, 1.6, 2.4, 4, 8, 16, 32, 64],
    registers
  })
  const landedSlots = new Histogram({
    name: 'millrace_transaction_landed_slots',
    help: 'Slots from the newest block at the first send to the block, by route',
    labelNames: ['route'],
    buckets: [1, 2, 3, 4, 6, 8, 16, 32, 64, 128],
    registers
  })
  const ofTenants = new Counter({
    name: 'millrace_tenant_transactions_total',
    help: 'Submitted transactions that have ended, by tenant, route and outcome; tenants beyond the first 100 are `other`',
    labelNames: ['tenant', 'route', 'outcome'],
    registers
  })
  const landedMsOfTenants = new Counter({
    name: 'millrace_tenant_landed_milliseconds_total',
    help: 'Sum of the times from the first send to the block, by tenant and route',
    labelNames: ['tenant', 'route'],
    registers
  })
  const labels = new Set<string>()
  const labelOf = (tenant: string): string => {
    if (labels.size < TENANT_LABELS_MAX) labels.add(tenant)
    return labels.has(tenant) ? tenant : 'other'
  }
  return {
    sends: new Counter({
      name: 'millrace_transaction_sends_total',
      help: 'Sends of transactions, first ones and rebroadcasts, by route and outcome',
      labelNames: ['route', 'outcome'],
      registers
    }),
    leaders: new Counter({
      name: 'millrace_transaction_leader_sends_total',
      help: 'Leaders that transactions were written to directly',
      registers
    }),
    lateness: new Histogram({
      name: 'millrace_transaction_rebroadcast_late_seconds',
      help: 'Time from the instant of a rebroadcast to its send',
      buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
      registers
    }),
    ended({ tenant: name, route, outcome, landedMs, landedSlots: slots }) {
      const tenant = labelOf(name)
      ofTenants.inc({ tenant, route, outcome })
      if (outcome === 'expired' || outcome === 'unresolved') return
      if (landedMs !== null) {
        landedSeconds.observe({ route }, landedMs / 1_000)
        landedMsOfTenants.inc({ tenant, route }, landedMs)
      }
      if (slots !== null) landedSlots.observe({ route }, slots)
    },
    show: (tracked) => void (shown = tracked)
  }
}

import { Counter, Gauge, type Registry } from 'prom-client'

/** Numbers of mirrored programs, read when metrics are collected. */
export interface MirrorCounts {
  readonly backfilling: () => number
  readonly live: () => number
  readonly accounts: () => number
  readonly pending: () => number
}

/** Metrics of the account mirror. */
export interface MirrorMetrics {
  readonly updates: Counter
  readonly commits: Counter
  readonly snapshots: Counter<'reason'>
  readonly repaired: Counter
  readonly checked: Counter<'outcome'>
  readonly failures: Counter
  readonly pages: Counter<'selected_by'>
  /** Sets the source of the gauges; null while this process mirrors no program. */
  show(counts: MirrorCounts | null): void
}

export function mirrorMetrics(registry: Registry): MirrorMetrics {
  const registers = [registry]
  let shown: MirrorCounts | null = null
  new Gauge({
    name: 'millrace_mirrored_programs',
    help: 'Programs whose accounts this process mirrors, by state',
    labelNames: ['state'],
    registers,
    collect() {
      for (const state of ['backfilling', 'live'] as const) this.set({ state }, shown?.[state]() ?? 0)
    }
  })
  new Gauge({
    name: 'millrace_mirrored_accounts',
    help: 'Accounts that this process mirrors',
    registers,
    collect() {
      this.set(shown?.accounts() ?? 0)
    }
  })
  new Gauge({
    name: 'millrace_mirror_pending_updates',
    help: 'Updates of mirrored accounts that wait until their slot is complete',
    registers,
    collect() {
      this.set(shown?.pending() ?? 0)
    }
  })
  return {
    updates: new Counter({
      name: 'millrace_mirror_updates_total',
      help: 'Updates of mirrored accounts that nodes have sent',
      registers
    }),
    commits: new Counter({
      name: 'millrace_mirror_commits_total',
      help: 'Advances of a mirror to a later slot by updates',
      registers
    }),
    snapshots: new Counter({
      name: 'millrace_mirror_snapshots_total',
      help: 'Snapshots that a mirror has stored: the first (start), audits, and repairs by the kind of the gap',
      labelNames: ['reason'],
      registers
    }),
    repaired: new Counter({
      name: 'millrace_mirror_repaired_accounts_total',
      help: 'Mirrored accounts that a snapshot corrected',
      registers
    }),
    checked: new Counter({
      name: 'millrace_mirror_checked_accounts_total',
      help: 'Accounts that a block changed without an update from the node, by the outcome of a reread',
      labelNames: ['outcome'],
      registers
    }),
    failures: new Counter({
      name: 'millrace_mirror_failures_total',
      help: 'Times that a mirror lost its node and restarted',
      registers
    }),
    pages: new Counter({
      name: 'millrace_mirror_pages_total',
      help: 'Reads of mirrored accounts for clients (a page over REST, or a whole getProgramAccounts), by an index or by a scan',
      labelNames: ['selected_by'],
      registers
    }),
    show: (counts) => void (shown = counts)
  }
}

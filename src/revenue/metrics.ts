import { Counter, Gauge, type Registry } from 'prom-client'

/** Numbers of the ledger, read when metrics are collected. */
export interface LedgerCounts {
  readonly addresses: () => number
  readonly waiting: () => number
}

/** Metrics of the revenue ledger. */
export interface LedgerMetrics {
  readonly entries: Counter
  readonly unpriced: Counter
  readonly rollbacks: Counter
  readonly gaps: Counter<'reason'>
  readonly holes: Counter<'reason'>
  /** Sets the source of the gauges; null while this process writes no ledger. */
  show(counts: LedgerCounts | null): void
}

export function ledgerMetrics(registry: Registry): LedgerMetrics {
  const registers = [registry]
  let shown: LedgerCounts | null = null
  const gauge = (name: string, help: string, of: keyof LedgerCounts): Gauge =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(shown?.[of]() ?? 0)
      }
    })
  gauge(
    'millrace_ledger_addresses',
    'Watched addresses whose balance changes this process records',
    'addresses'
  )
  gauge('millrace_ledger_waiting_events', 'Blocks that wait for the revenue ledger', 'waiting')
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers })
  return {
    entries: counter(
      'millrace_ledger_entries_total',
      'Balance changes that were recorded in the revenue ledger'
    ),
    unpriced: counter('millrace_ledger_unpriced_total', 'Recorded balance changes without a USD value'),
    rollbacks: counter(
      'millrace_ledger_rollbacks_total',
      'Forks that were rolled back in the revenue ledger'
    ),
    gaps: new Counter({
      name: 'millrace_ledger_gaps_total',
      help: 'Ranges of slots that the revenue ledger lacks, by reason; late blocks may have closed some since',
      labelNames: ['reason'],
      registers
    }),
    holes: new Counter({
      name: 'millrace_ledger_holes_total',
      help: 'Blocks of the revenue ledger that do not state rewards, balances or a whole transaction, by reason',
      labelNames: ['reason'],
      registers
    }),
    show: (counts) => (shown = counts)
  }
}

/** Metrics of the history of ledgers. */
export interface BackfillMetrics {
  readonly transactions: Counter
  readonly rows: Counter
  readonly faults: Counter
}

export function backfillMetrics(registry: Registry): BackfillMetrics {
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers: [registry] })
  return {
    transactions: counter(
      'millrace_ledger_backfill_transactions_total',
      'Transactions that were read for the history of watched addresses'
    ),
    rows: counter('millrace_ledger_backfill_rows_total', 'Rows that were added to archives of the ledger'),
    faults: counter(
      'millrace_ledger_backfill_faults_total',
      'Steps of a backfill that failed by a node or the store, and are retried'
    )
  }
}

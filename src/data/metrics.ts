import { Counter, Gauge, type Registry } from 'prom-client'
import type { IndexPlace } from './index-place.ts'

/** Parts of the index that grow with the number of mints. */
const PARTS = ['ranked_mints', 'ranked_minutes', 'names'] as const
type Part = (typeof PARTS)[number]

/** Entries and estimated bytes of each part in this process. */
export type IndexSizes = () => Readonly<Record<Part, { readonly entries: number; readonly bytes: number }>>

interface ShownIndex {
  readonly sizes: IndexSizes
  readonly place: Pick<IndexPlace, 'isHeld'>
}

/** Metrics of the names and rankings of all mints. */
export interface IndexMetrics {
  /** Questions to other processes, by whether one answered. */
  readonly asked: Counter<'outcome'>
  /** Questions of other processes that this one answered. */
  readonly answered: Counter
  /** Sets what the gauges read at each scrape; null when it ends. */
  show(index: ShownIndex | null): void
}

export function indexMetrics(registry: Registry): IndexMetrics {
  let shown: ShownIndex | null = null
  const registers = [registry]
  new Gauge({
    name: 'millrace_index_held',
    help: '1 while this gateway holds the names and rankings of all mints, and 0 while it asks others',
    registers,
    collect() {
      this.set(shown?.place.isHeld === true ? 1 : 0)
    }
  })
  const gauge = (name: string, help: string, read: 'entries' | 'bytes'): void => {
    new Gauge({
      ...{ name, help, registers },
      labelNames: ['of'],
      collect() {
        const sizes = shown?.sizes()
        for (const part of PARTS) this.set({ of: part }, sizes?.[part][read] ?? 0)
      }
    })
  }
  gauge(
    'millrace_index_entries',
    'Entries that this process holds of all mints: mints and mint minutes of the ranking, and names',
    'entries'
  )
  gauge('millrace_index_bytes', 'Estimated bytes of these entries', 'bytes')
  return {
    asked: new Counter({
      name: 'millrace_index_questions_total',
      help: 'Questions about names and rankings to other gateways, by outcome: answered, or unanswered within a second',
      labelNames: ['outcome'],
      registers
    }),
    answered: new Counter({
      name: 'millrace_index_answers_total',
      help: 'Questions of other gateways about names and rankings that this one answered',
      registers
    }),
    show: (index) => void (shown = index)
  }
}

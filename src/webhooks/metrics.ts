import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Outcome classes of a POST: the class of the status, 410 separately, and POSTs without an answer. */
export type PostLabel = '2xx' | '3xx' | '4xx' | '5xx' | 'gone' | 'failed'

/** Numbers of webhooks, read when metrics are collected. */
export interface WebhookCounts {
  readonly active: () => number
  readonly deactivated: () => number
  readonly behind: () => number
}

/** Metrics of deliveries to webhooks. */
export interface WebhookMetrics {
  readonly posts: Counter<'outcome'>
  readonly events: Counter
  readonly dropped: Counter
  readonly seconds: Histogram
  /** Sets the source of the webhook gauge; null while this process delivers no webhooks. */
  show(counts: WebhookCounts | null): void
}

export function webhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry]
  let shown: WebhookCounts | null = null
  new Gauge({
    name: 'millrace_webhooks',
    help: 'Webhooks of this process, by state; those that are behind read events from the log',
    labelNames: ['state'],
    registers,
    collect() {
      for (const state of ['active', 'deactivated', 'behind'] as const)
        this.set({ state }, shown === null ? 0 : shown[state]())
    }
  })
  return {
    posts: new Counter({
      name: 'millrace_webhook_posts_total',
      help: 'POSTs of batches to webhooks, by the class of the answer',
      labelNames: ['outcome'],
      registers
    }),
    events: new Counter({
      name: 'millrace_webhook_events_total',
      help: 'Events in batches that receivers accepted',
      registers
    }),
    dropped: new Counter({
      name: 'millrace_webhook_dropped_total',
      help: 'Events that were dropped for a webhook: its buffer was full, or a delivery failed',
      registers
    }),
    seconds: new Histogram({
      name: 'millrace_webhook_post_seconds',
      help: 'Time of one POST of a batch',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers
    }),
    show: (counts) => void (shown = counts)
  }
}

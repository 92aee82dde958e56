import { Counter, Histogram, type Registry } from 'prom-client'

/** Metrics of deliveries to webhooks. */
export interface DeliveryMetrics {
  readonly posts: Counter<'outcome'>
  readonly events: Counter
  readonly dropped: Counter
  readonly seconds: Histogram
}

/** Labels of `posts`: classes of statuses, 410, and POSTs without an answer. */
export type PostLabel = '2xx' | '3xx' | '4xx' | '5xx' | 'gone' | 'failed'

export function deliveryMetrics(registry: Registry): DeliveryMetrics {
  const registers = [registry]
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
    })
  }
}

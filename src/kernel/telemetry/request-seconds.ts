import type { Metric, Registry } from 'prom-client'

/** Upper bounds of the histogram's buckets, in seconds; one more bucket takes larger values. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5] as const

interface Series {
  readonly labels: { readonly route: string; readonly status: number }
  /** Number of requests in each bucket. */
  readonly classes: number[]
  count: number
  sum: number
}

/**
 * A histogram of requests by route and status, readable by a registry. prom-client's histogram checks, sorts and
 * joins the labels of each sample, 5 µs a request. This class needs two lookups and formats only at a scrape. It has
 * one series per route and status.
 */
export class RequestSeconds {
  readonly name = 'millrace_http_request_seconds'
  readonly help = 'Time of a request, by route and status'
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #routes = new Map<string, Map<number, Series>>()

  constructor(registry: Registry) {
    // The types of prom-client require its own classes; a registry calls only `name`, `get` and `reset`.
    registry.registerMetric(this as unknown as Metric)
  }

  observe(route: string, status: number, seconds: number): void {
    const series = this.#routes.get(route)?.get(status) ?? this.#add(route, status)
    let at = 0
    while (at < BOUNDS.length && seconds > BOUNDS[at]!) at++
    series.classes[at]!++
    series.count++
    series.sum += seconds
  }

  /** Returns all samples in the form of prom-client. */
  async get() {
    const { name, help, type, aggregator } = this
    const all = this.#routes.values().flatMap((statuses) => statuses.values())
    return { name, help, type, aggregator, values: [...all.flatMap((series) => samples(name, series))] }
  }

  reset(): void {
    this.#routes.clear()
  }

  #add(route: string, status: number): Series {
    const statuses = this.#routes.get(route) ?? new Map<number, Series>()
    this.#routes.set(route, statuses)
    const classes = Array.from({ length: BOUNDS.length + 1 }, () => 0)
    const series = { labels: { route, status }, classes, count: 0, sum: 0 }
    statuses.set(status, series)
    return series
  }
}

function samples(name: string, { labels, classes, count, sum }: Series) {
  let below = 0
  const buckets = BOUNDS.map((le, at) => {
    below += classes[at]!
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below }
  })
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count }
  ]
}

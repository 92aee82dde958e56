import { LatencyHistogram } from './latency-histogram.ts'

/** Length of a period in milliseconds. Figures cover the last one to two periods: five to ten minutes. */
const PERIOD_MS = 300_000

/** The requests of one method to one node. Latencies are in milliseconds; null if no request was answered. */
export interface MethodFigures {
  readonly method: string
  readonly requests: number
  readonly errors: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** Counts since the start, which metrics show. */
export interface MethodTotals {
  readonly method: string
  readonly answered: number
  readonly failed: number
}

class MethodCounts {
  readonly histogram = new LatencyHistogram()
  answered = 0
  failed = 0
}

type Period = Map<string, MethodCounts>

/**
 * The outcomes and latencies of clients' requests to one node, by method. Its size is bounded, because only served
 * methods are sent to nodes.
 */
export class NodeStatistics {
  readonly #totals = new Map<string, { answered: number; failed: number }>()
  #current: Period = new Map()
  #previous: Period = new Map()
  #beganAtMs: number

  constructor(nowMs: number) {
    this.#beganAtMs = nowMs
  }

  /** Records an answer. `isError` states that the node answered with an error. */
  answered(method: string, tookMs: number, isError: boolean, nowMs: number): void {
    const counts = this.#countsOf(method, nowMs)
    counts.histogram.add(tookMs)
    this.#count(method, counts, isError)
  }

  /** Records a request that was not answered. */
  failed(method: string, nowMs: number): void {
    this.#count(method, this.#countsOf(method, nowMs), true)
  }

  /** Returns the figures of recent requests by method, those with the most requests first. */
  recent(nowMs: number): MethodFigures[] {
    this.#rotate(nowMs)
    const methods = new Set([...this.#current.keys(), ...this.#previous.keys()])
    return [...methods]
      .map((method) => figuresOf(method, [this.#current.get(method), this.#previous.get(method)]))
      .toSorted((a, b) => b.requests - a.requests || a.method.localeCompare(b.method))
  }

  totals(): MethodTotals[] {
    return [...this.#totals].map(([method, counts]) => ({ method, ...counts }))
  }

  #count(method: string, counts: MethodCounts, isError: boolean): void {
    let totals = this.#totals.get(method)
    if (totals === undefined) this.#totals.set(method, (totals = { answered: 0, failed: 0 }))
    const outcome = isError ? 'failed' : 'answered'
    counts[outcome]++
    totals[outcome]++
  }

  #countsOf(method: string, nowMs: number): MethodCounts {
    if (nowMs - this.#beganAtMs >= PERIOD_MS) this.#rotate(nowMs)
    let counts = this.#current.get(method)
    if (counts === undefined) this.#current.set(method, (counts = new MethodCounts()))
    return counts
  }

  #rotate(nowMs: number): void {
    const periods = Math.floor((nowMs - this.#beganAtMs) / PERIOD_MS)
    if (periods < 1) return
    this.#previous = periods === 1 ? this.#current : new Map()
    this.#current = new Map()
    this.#beganAtMs += periods * PERIOD_MS
  }
}

function figuresOf(method: string, periods: readonly (MethodCounts | undefined)[]): MethodFigures {
  const counts = periods.filter((each) => each !== undefined)
  const errors = counts.reduce((sum, { failed }) => sum + failed, 0)
  const histograms = counts.map(({ histogram }) => histogram)
  return {
    method,
    requests: counts.reduce((sum, { answered }) => sum + answered, errors),
    errors,
    p50Ms: LatencyHistogram.quantile(histograms, 0.5),
    p99Ms: LatencyHistogram.quantile(histograms, 0.99)
  }
}

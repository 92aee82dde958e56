/** Buckets for each doubling: a quantile is at most 19 % too high. */
const BUCKETS_PER_DOUBLING = 4
/** The first bucket ends at 1 ms, the resolution of the clock; the last begins at 16 s, above the deadline of a read. */
const BUCKETS = 1 + 14 * BUCKETS_PER_DOUBLING + 1

/** Counts latencies in buckets of growing width. */
export class LatencyHistogram {
  readonly #counts = new Uint32Array(BUCKETS)
  #total = 0

  add(ms: number): void {
    this.#counts[bucketOf(ms)]!++
    this.#total++
  }

  /**
   * Returns the latency in milliseconds that a share of the latencies of all histograms does not exceed: the upper end of
   * its bucket. Null if no latency was recorded.
   */
  static quantile(histograms: readonly LatencyHistogram[], share: number): number | null {
    const total = histograms.reduce((sum, each) => sum + each.#total, 0)
    if (total === 0) return null
    let left = Math.max(1, Math.ceil(total * share))
    for (let at = 0; at < BUCKETS; at++) {
      for (const each of histograms) left -= each.#counts[at]!
      if (left <= 0) return endMsOf(at)
    }
    return endMsOf(BUCKETS - 1)
  }
}

const bucketOf = (ms: number): number =>
  ms <= 1 ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log2(ms) * BUCKETS_PER_DOUBLING - 1e-9))

const endMsOf = (bucket: number): number => Math.round(2 ** (bucket / BUCKETS_PER_DOUBLING) * 10) / 10

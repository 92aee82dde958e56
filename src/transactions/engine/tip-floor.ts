import { z } from 'zod'

/** Maximum accepted tip in SOL, far above any tip ever paid; a feed with a larger one is broken. */
const SOL_MAX = 1_000_000
const LAMPORTS_PER_SOL = 1e9

const sol = z.number().min(0).max(SOL_MAX)

/** The answer of the tip-floor feed: percentiles of the tips that landed last, in SOL. */
const feed = z
  .array(
    z.object({
      time: z.string(),
      landed_tips_25th_percentile: sol,
      landed_tips_50th_percentile: sol,
      landed_tips_75th_percentile: sol,
      landed_tips_95th_percentile: sol,
      landed_tips_99th_percentile: sol,
      ema_landed_tips_50th_percentile: sol
    })
  )
  .min(1)

/** Percentiles of landed tips, in lamports. */
export interface TipFloor {
  readonly p25: number
  readonly p50: number
  readonly p75: number
  readonly p95: number
  readonly p99: number
  /** Exponential moving average of p50. */
  readonly emaP50: number
  /** Unix milliseconds at which the feed computed them. */
  readonly atMs: number
}

/** Reads the feed's answer. Throws if it is malformed. */
export function readTipFloor(answer: unknown): TipFloor {
  const [floor] = feed.parse(answer)
  const atMs = Date.parse(floor!.time)
  if (Number.isNaN(atMs)) throw new TypeError('the tip floor has no time')
  return {
    p25: lamports(floor!.landed_tips_25th_percentile),
    p50: lamports(floor!.landed_tips_50th_percentile),
    p75: lamports(floor!.landed_tips_75th_percentile),
    p95: lamports(floor!.landed_tips_95th_percentile),
    p99: lamports(floor!.landed_tips_99th_percentile),
    emaP50: lamports(floor!.ema_landed_tips_50th_percentile),
    atMs
  }
}

const lamports = (value: number): number => Math.round(value * LAMPORTS_PER_SOL)

/** An exponential backoff: the wait doubles from floor to ceiling, in milliseconds. */
export interface Backoff {
  readonly floorMs: number
  readonly ceilingMs: number
}

/** Returns the longest wait, in milliseconds, before the `attempt`-th try in a row, counted from 1. */
export function backoffMs({ floorMs, ceilingMs }: Backoff, attempt: number): number {
  return Math.min(ceilingMs, floorMs * 2 ** (attempt - 1))
}

/** Returns a random wait in the upper half of `ms`, so that clients that failed together do not retry together. */
export function jittered(ms: number, random: number): number {
  return ms / 2 + (ms / 2) * random
}

/** A wait that doubles from floor to ceiling. */
export interface Backoff {
  readonly floorMs: number
  readonly ceilingMs: number
}

/** The longest wait before the `attempt`-th try in a row, from 1. */
export function backoffMs({ floorMs, ceilingMs }: Backoff, attempt: number): number {
  return Math.min(ceilingMs, floorMs * 2 ** (attempt - 1))
}

/** Somewhere in the upper half of a wait, so that those that failed together do not return together. */
export function jittered(ms: number, random: number): number {
  return ms / 2 + (ms / 2) * random
}

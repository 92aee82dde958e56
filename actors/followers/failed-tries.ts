import { isOutage } from '../storage/retry.ts'

/** Maximum tries of a block or event that fails for a reason other than an outage. Then its block becomes a gap. */
const TRIES_MAX = 3

/** Failures of each block or event, over all followers of the process. */
const failures = new WeakMap<object, number>()

/** Counts a failure. Returns whether there is no further try. */
export function isHopeless(error: unknown, tried: object): boolean {
  if (isOutage(error)) return false
  const count = (failures.get(tried) ?? 0) + 1
  failures.set(tried, count)
  return count >= TRIES_MAX
}

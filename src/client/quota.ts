/** One quota of the key, after the last answer. */
export interface Quota {
  /** Calls, or units of work, that are left until it is reset. */
  readonly left: number
  /** Unix milliseconds at which it is whole again. */
  readonly resetsAtMs: number
}

/** The quotas of the key after the last answer. */
export interface Quotas {
  /** Calls; null if the answer stated none. */
  readonly calls: Quota | null
  /** Units of work; null if the answer stated none. */
  readonly work: Quota | null
}

/** Returns the quotas of the header `RateLimit`, as `"per-minute";r=599;t=12, "work";r=29000;t=12`; null for no header. */
export function quotasOf(header: string | null, nowMs: number): Quotas | null {
  if (header === null) return null
  const byName = new Map<string, Quota>()
  for (const [, name, left, seconds] of header.matchAll(/"([^"]*)";r=(\d+);t=(\d+)/g))
    byName.set(name!, { left: Number(left), resetsAtMs: nowMs + Number(seconds) * 1_000 })
  return { calls: byName.get('per-minute') ?? null, work: byName.get('work') ?? null }
}

/** Returns the milliseconds until a call can succeed: 0 while both quotas have something left. */
export function quotaWaitMs(quotas: Quotas | null, nowMs: number): number {
  const spent = [quotas?.calls, quotas?.work].filter((quota) => quota?.left === 0)
  return Math.max(0, ...spent.map((quota) => quota!.resetsAtMs - nowMs))
}

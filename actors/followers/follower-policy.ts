import type { MemberPolicy } from '../supervision/dynamic-supervisor.ts'

/** A follower of blocks ends with its lead, and with an outage of the store: it tries again within a second. */
export const FOLLOWER_POLICY: MemberPolicy = {
  restart: 'permanent',
  intensity: { crashes: 60, periodMs: 60_000 },
  backoff: { floorMs: 1_000, ceilingMs: 1_000 },
  stableAfterMs: 10_000
}

import type { Lease, Leases, ClusterCoordination } from '../../storage/cluster/coordination.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import type { Storage } from '../../storage/port.ts'
import { follow, type FollowDeps } from './follower.ts'

/** Name of the ingest lease. */
const INGEST = 'ingest'
/** Interval of requests for the lease by a process without it, in milliseconds: leadership moves within seconds. */
const REQUEST_INTERVAL_MS = 500
/**
 * Pause after a refused claim or commit, and after an outage of Redis, in milliseconds. It lets the process with the claim
 * get the lease first.
 */
const YIELD_MS = 1_000
/** Pause after a refused claim or commit if there are no leases, in milliseconds. */
const REFUSED_MS = 500
/**
 * Milliseconds without a commit after which a process takes over without a lease, while no lease can be granted. Far longer
 * than pauses of a live chain (a leader that skips its four slots causes one of 1.6 s). A needless takeover costs only a
 * claim.
 */
const QUIET_MS = 30_000

export interface LeadershipDeps extends FollowDeps {
  readonly logger: Logger
}

/**
 * A period in which this process ingests. It ends when another process has the lease, or when the store refuses a
 * commit because another process has claimed; an outage of Redis does not end it.
 */
export type Leadership = Pick<Lease, 'lost' | 'release'> & { readonly token: number | null }

/** The store refused a write because another process has claimed, which ended the last period of leadership. */
export interface Refusal {
  /** The fencing token that outranks this process's; null if the claim was not refused for its token. */
  readonly outrankedBy: number | null
}

/** Waits until this process may ingest; the feed follows the store meanwhile. Returns null once `end` aborts. */
export async function acquireLease(
  { storage, peers }: { readonly storage: Storage; readonly peers: ClusterCoordination },
  deps: LeadershipDeps,
  refusal: Refusal | null,
  end: AbortSignal
): Promise<Leadership | null> {
  const { leases, commits } = peers
  if (leases === null && refusal === null) return unlimited()
  const stop = new AbortController()
  const over = AbortSignal.any([end, stop.signal])
  const waiting =
    leases === null ? silence(deps, over) : grant(leases, { storage, peers }, deps, refusal, over)
  const [leadership, following] = await Promise.allSettled([
    waiting.finally(() => stop.abort()),
    follow({ storage, hints: commits }, deps, over).finally(() => stop.abort())
  ])
  if (leadership.status === 'rejected') throw leadership.reason
  if (following.status === 'fulfilled' && !end.aborted) return leadership.value
  await leadership.value?.release()
  if (following.status === 'rejected') throw following.reason
  return null
}

/**
 * Requests the lease until it is granted. While Redis is unavailable no lease can be granted. This process then takes over
 * without one, after `QUIET_MS` without a commit of another process. The store fences the earlier writer.
 */
async function grant(
  leases: Leases,
  {
    storage,
    peers
  }: { readonly storage: Pick<Storage, 'outage'>; readonly peers: Pick<ClusterCoordination, 'outage'> },
  { clock, feed, logger }: LeadershipDeps,
  refusal: Refusal | null,
  end: AbortSignal
): Promise<Leadership | null> {
  let heard = false
  const hear = (): void => void (heard = true)
  // All of each block is read, so that a takeover finds the blocks in memory that the tables lack.
  const unfollow = feed.follow({ published: hear, jumped: hear })
  try {
    let yields = refusal !== null
    for (let asked = 0, quietMs = 0; !end.aborted; asked++) {
      if (yields && peers.outage === null) await sleep(clock, YIELD_MS, end)
      yields = peers.outage !== null
      const lease = await leases.acquire(INGEST, refusal?.outrankedBy ?? undefined)
      if (lease !== null) {
        logger.info({ token: lease.token }, 'this process has the lease of ingest')
        return lease
      }
      if (asked === 0)
        logger.info(
          'this process waits for the lease of ingest; until then it follows the process that ingests'
        )
      const isQuiet = !heard && peers.outage !== null && storage.outage === null
      heard = false
      quietMs = isQuiet ? quietMs + REQUEST_INTERVAL_MS : 0
      if (quietMs > QUIET_MS) {
        logger.warn(
          `Redis does not answer, and no process has committed a block for ${QUIET_MS / 1_000} s: this one ingests without a lease`
        )
        return leaseless(leases, clock)
      }
      await sleep(clock, REQUEST_INTERVAL_MS, end)
    }
    return null
  } finally {
    unfollow()
  }
}

/** Returns a leadership that begins without a lease, and acquires it as soon as possible. */
function leaseless(leases: Leases, clock: Clock): Leadership {
  const lost = new AbortController()
  const over = new AbortController()
  const acquired = (async (): Promise<Lease | null> => {
    while (!over.signal.aborted) {
      const lease = await leases.acquire(INGEST)
      if (lease !== null) {
        const lose = (): void => lost.abort(lease.lost.reason)
        lease.lost.addEventListener('abort', lose, { once: true })
        if (lease.lost.aborted) lose()
        return lease
      }
      await sleep(clock, REQUEST_INTERVAL_MS, over.signal)
    }
    return null
  })()
  return {
    token: null,
    lost: lost.signal,
    async release() {
      over.abort()
      const lease = await acquired
      await lease?.release()
    }
  }
}

/** Waits until other processes are silent: for `QUIET_MS` after a commit of theirs, for `REFUSED_MS` if none arrives. */
async function silence(
  { clock, feed, logger }: LeadershipDeps,
  end: AbortSignal
): Promise<Leadership | null> {
  const silent = new AbortController()
  let timer = clock.setTimeout(() => silent.abort(), REFUSED_MS)
  let heard = false
  const hear = (): void => {
    if (!heard) {
      logger.error(
        'another process ingests; without MILLRACE_REDIS_URL there is no lease, so this process only follows'
      )
    }
    heard = true
    clock.clearTimeout(timer)
    timer = clock.setTimeout(() => silent.abort(), QUIET_MS)
  }
  const unfollow = feed.follow({ published: hear, jumped: hear })
  await new Promise<void>((resolve) => {
    for (const signal of [silent.signal, end]) {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    }
  })
  clock.clearTimeout(timer)
  unfollow()
  return end.aborted ? null : unlimited()
}

/** Returns the leadership of a process that competes with no other. */
function unlimited(): Leadership {
  return { token: null, lost: new AbortController().signal, release: async () => undefined }
}

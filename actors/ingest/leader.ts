import type { BlockSource, SourcedBlock } from '../../src/node/block-source.ts'
import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import { ERRORS, LostClaim } from '../../src/kernel/errors.ts'
import type { LeaseBook } from '../../src/fleet/lease-book.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import type { Storage } from '../../storage/port.ts'
import { unlessAborted } from '../supervision/aborted.ts'
import { catchUp, resumeFeed, slotOf } from './follower.ts'
import { ingestFrom, ingestGauges, logHead, type OpenIngest } from './ingest.ts'
import { Ingester, type IngesterDeps } from './ingester.ts'
import { isOutage, retryWhileUnavailable } from '../storage/retry.ts'
import type { Run } from '../supervision/process.ts'
import { acquireLease, type Refusal, type Leadership, type LeadershipDeps } from './leadership.ts'

/**
 * Milliseconds that a commit in flight may still take: at a drain, and at a kill. Well below the limits of the
 * process.
 */
const GRACE_MS = { drain: 2_000, kill: 500 }
/** Shortest pause before a retry after an outage of the store, in milliseconds. */
const OUTAGE_BACKOFF_MS = 500
/**
 * Poll interval of the store's head for commits by another process, in milliseconds. A process with a quiet source becomes a
 * follower within seconds.
 */
const HEAD_POLL_INTERVAL_MS = 1_000

export type LeaderDeps = IngesterDeps &
  LeadershipDeps & {
    /** Shows whether this process has the lease. */
    readonly leases: Pick<LeaseBook, 'set'>
  }

/** Name of the lease of ingest, and of its product. */
const INGEST = 'ingest'

export interface LeaderNeeds {
  readonly storage: Storage
  readonly source: BlockSource
  readonly peers: ClusterCoordination
}

/**
 * Ingests on a shared store as the leader, one process at a time; otherwise follows the leader and stands by.
 *
 * O1. The leader begins with a claim, and ingests until another process has claimed; the store then refuses its writes. The
 *     lease only avoids double work; without Redis ingest continues without a lease.
 * O2. The leader continues from the store's head, and the feed from its own head (L2 of the follower). So a follower of the
 *     feed receives each block once, whichever process commits it.
 * O3. During an outage of the store the leader waits and starts over. Neither an outage nor a refused write costs a
 *     restart, and an outage does not cost the lease.
 * O4. Without leases the process that claimed last ingests. The refused process follows until the other one has fallen
 *     silent.
 * O5. If a process's source sends nothing, and the store's head shows that another process commits, it follows that
 *     process.
 */
export function leader(deps: LeaderDeps): Run<LeaderNeeds, OpenIngest> {
  return async ({ input: { storage, source, peers }, draining, signal, ready, gauge }) => {
    let leading: Ingester | null = null
    const ingested = ingestGauges(gauge, () => leading?.market ?? null)
    const lead = async (leadership: Leadership, over: AbortSignal): Promise<void> => {
      const { head, ingester } = await takeOver(leadership, storage, deps, over)
      if (over.aborted) return
      leading = ingester
      let given = slotOf(head)
      const ingestOne = async (sourced: SourcedBlock): Promise<void> => {
        given = Math.max(given, sourced.block.slot)
        await ingester.ingest(sourced)
        peers.commits?.publish(sourced.block.slot)
      }
      const ended = new AbortController()
      const until = AbortSignal.any([over, ended.signal])
      const recalled = deps.recallBlocks?.(head, storage.blocks, source.refetch, until)
      void watchHead(storage, () => given, deps.clock, until).catch((error) => ended.abort(error))
      try {
        await ingestFrom(head, source, ingestOne, ingested, deps.logger, until)
        ended.signal.throwIfAborted()
      } finally {
        leading = null
        ended.abort()
        await recalled
      }
    }

    await resumeFeed(storage, deps, draining)
    ready({
      get ingester() {
        return leading
      }
    })
    const grace = graceController(draining, signal, deps.clock)
    try {
      let refusal: Refusal | null = null
      while (!draining.aborted) {
        const leadership = await acquireLease({ storage, peers }, deps, refusal, draining)
        if (leadership === null) return
        const work = (over: AbortSignal) => unlessAborted(lead(leadership, over), grace.signal)
        refusal = await throughout(leadership, work, storage, deps, draining)
      }
    } finally {
      grace.abort()
    }
  }
}

/**
 * Runs a leadership until it ends, and restarts it after each outage of the store. Resolves with the store's refusal that
 * ended it, or null.
 */
async function throughout(
  leadership: Leadership,
  work: (over: AbortSignal) => Promise<void>,
  storage: Storage,
  { clock, logger, leases }: LeaderDeps,
  draining: AbortSignal
): Promise<Refusal | null> {
  const over = AbortSignal.any([draining, leadership.lost])
  leases.set(INGEST, INGEST, true)
  try {
    while (!over.aborted) {
      const away = await work(over).then(
        () => null,
        (error: unknown) => {
          if (error !== over.reason && !isOutage(error)) throw error
          return error
        }
      )
      if (over.aborted) break
      if (away instanceof LostClaim) {
        logger.warn(
          { err: away },
          'the store refused a write of ingest, because another process has the claim; this process follows it now'
        )
        return { outrankedBy: away.outrankedBy }
      }
      // The outage is already over: this process resumes, and its claim decides whether it may.
      if (storage.outage === null)
        logger.warn({ err: away }, 'the store did not answer ingest; ingest restarts from the stored head')
      await sleep(clock, OUTAGE_BACKOFF_MS, over)
      await retryWhileUnavailable(storage, clock)(() => storage.blocks.head(), over).catch(() => undefined)
    }
    if (!draining.aborted)
      logger.warn(`this process stops ingesting for now: ${(leadership.lost.reason as Error).message}`)
    return null
  } finally {
    leases.set(INGEST, INGEST, false)
    await leadership.release()
  }
}

/** Makes this process the only writer, and opens an ingester at the store's head. */
async function takeOver(leadership: Leadership, storage: Storage, deps: LeaderDeps, over: AbortSignal) {
  const { feed, logger, metrics } = deps
  const head = await storage.blocks.claim(leadership.token)
  feed.forget()
  await catchUp(storage, feed, head, over)
  metrics.lagSlots.set(0)
  const ingester = await Ingester.open(storage, head, deps)
  if (!over.aborted) logHead(head, logger)
  return { head, ingester }
}

/**
 * Rejects with LostClaim once the store has a block that this process has not committed (O5); resolves when `end`
 * aborts. Retries while the store is unavailable.
 */
async function watchHead(
  { blocks }: Storage,
  given: () => number,
  clock: Clock,
  end: AbortSignal
): Promise<void> {
  while (!end.aborted) {
    await sleep(clock, HEAD_POLL_INTERVAL_MS, end)
    const head = await blocks.head().catch(() => null)
    if (!end.aborted && slotOf(head) > given())
      throw new LostClaim(ERRORS.STORAGE_UNAVAILABLE, 'another process writes now: it has committed blocks')
  }
}

/**
 * Returns a controller that aborts, with the drain's reason, when work is no longer waited for. The caller aborts it
 * at the end.
 */
function graceController(draining: AbortSignal, signal: AbortSignal, clock: Clock): AbortController {
  const grace = new AbortController()
  const endIn = (ms: number): void => {
    void sleep(clock, ms, grace.signal).then(() => grace.abort(draining.reason))
  }
  draining.addEventListener('abort', () => endIn(GRACE_MS.drain), { once: true })
  signal.addEventListener('abort', () => endIn(GRACE_MS.kill), { once: true })
  return grace
}

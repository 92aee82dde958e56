import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { HintChannel, ClusterCoordination } from '../../storage/cluster/coordination.ts'
import { hasExtent } from '../../src/market/block-extent.ts'
import type { BlockCommit } from '../../src/market/records.ts'
import type { SlotRow } from '../../src/market/rows.ts'
import type { Clock } from '../../src/ports.ts'
import type { IngestMetrics } from '../../src/ingest/metrics.ts'
import type { Journal, Storage } from '../../storage/port.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import { retryWhileUnavailable, undefinedIfUnavailable } from '../storage/retry.ts'
import type { Run } from '../supervision/process.ts'

/** Poll interval of the head without notifications, in milliseconds: half of a slot's time. */
const POLL_INTERVAL_MS = 200
/**
 * Poll interval of the head since the last notification, in milliseconds. The chain has a block every 400 ms, so polls are rare
 * beside notifications.
 */
const NOTIFIED_POLL_INTERVAL_MS = 1_000
/** Blocks read from the journal at a time. The largest eight take several megabytes, and each read is a round trip. */
const BLOCKS_PER_READ = 8

export interface FollowDeps {
  readonly feed: CommitFeed
  readonly metrics: Pick<IngestMetrics, 'headSlot' | 'headTime' | 'lagSlots'>
  readonly clock: Clock
}

/** A shared store, and the notifications of commits by other processes. */
export interface Followed {
  readonly storage: Pick<Storage, 'blocks' | 'history' | 'journal' | 'isShared'>
  /** Null if the head is found by polling alone. */
  readonly hints: Pick<HintChannel<number>, 'subscribe' | 'available'> | null
}

/**
 * Publishes the blocks that another process commits on the feed of this one.
 *
 * L1. The store is the truth: a notification only triggers a poll. While notifications arrive, the store is read once for each
 *     block. If a poll finds a block without one, notifications are lost: it polls at `POLL_INTERVAL_MS` until the next one.
 * L2. The feed continues block by block from its head, whichever process published it. If the journal no longer reaches
 *     back, or another process has amended published blocks, the feed jumps and reports it.
 * L3. Of each block, as much is read as the feed's followers need, and no more.
 * L4. Polling continues while the store is unavailable; an outage costs no restart.
 */
export function follower(
  deps: FollowDeps
): Run<{ readonly storage: Storage; readonly peers: ClusterCoordination }> {
  return async ({ input: { storage, peers }, draining, ready }) => {
    await resumeFeed(storage, deps, draining)
    ready()
    await follow({ storage, hints: peers.commits }, deps, draining)
  }
}

/** Brings the feed to the head of the store before the process serves requests. */
export async function resumeFeed(
  storage: Followed['storage'],
  deps: FollowDeps,
  end: AbortSignal
): Promise<void> {
  await retryWhileUnavailable(storage, deps.clock)(async () => {
    // A new feed has no position yet; its followers load from the store.
    if (deps.feed.head === null) {
      // An amendment between these two reads is noticed by the next poll.
      deps.feed.noteAmendments(await storage.history.amendments(), null)
      deps.feed.jump(await storage.blocks.head())
    }
    await look(storage, deps, end)
  }, end)
}

/** Keeps the feed at the head of the store until `end` aborts. */
export async function follow(
  { storage, hints }: Followed,
  deps: FollowDeps,
  end: AbortSignal
): Promise<void> {
  const wakeUp = new AutoResetEvent()
  let isNotified = false
  let areLost = false
  const unfollow = hints?.subscribe((slot) => {
    isNotified ||= slot !== null
    wakeUp.set()
  })
  try {
    while (!end.aborted) {
      const byHint = isNotified
      isNotified = false
      const before = slotOf(deps.feed.head)
      await undefinedIfUnavailable(look(storage, deps, end))
      areLost = byHint ? false : areLost || slotOf(deps.feed.head) !== before
      const isSlow = hints?.available === true && !areLost
      await wakeUp.wait(deps.clock, isSlow ? NOTIFIED_POLL_INTERVAL_MS : POLL_INTERVAL_MS, end)
    }
  } finally {
    unfollow?.()
  }
}

async function look(storage: Followed['storage'], deps: FollowDeps, end: AbortSignal): Promise<void> {
  const { feed, metrics } = deps
  const head = await storage.blocks.head()
  metrics.lagSlots.set(Math.max(0, slotOf(head) - slotOf(feed.head)))
  await catchUp(storage, feed, head, end)
  if (feed.head === null) return
  metrics.lagSlots.set(Math.max(0, slotOf(head) - slotOf(feed.head)))
  metrics.headSlot.set(feed.head.slot)
  metrics.headTime.set(feed.head.blockTime)
}

/** Publishes each block up to the head of the store. Moves the feed to the head if the journal does not reach back. */
export async function catchUp(
  { journal, history }: Pick<Storage, 'journal' | 'history'>,
  feed: CommitFeed,
  head: SlotRow | null,
  end: AbortSignal
): Promise<void> {
  if (journal !== null && feed.noteAmendments(await history.amendments(), head)) return
  // A stored head below the published head means a different store.
  if (slotOf(head) < slotOf(feed.head)) return feed.jump(head)
  while (slotOf(feed.head) < slotOf(head)) {
    if (end.aborted) return
    const commits = await journal?.after(feed.head?.slot ?? null, BLOCKS_PER_READ)
    if (commits === undefined || commits === null || commits.length === 0) {
      if (journal === null || !feed.noteAmendments(await history.amendments(), head)) feed.jump(head)
      return
    }
    // A reader says by the digest whether it needs the rows, and a new one may need more than those before it. The last look
    // is in the turn of the publication.
    while (commits.some((commit) => isLacking(commit, feed))) await readNeeded(commits, journal!, feed)
    feed.publishAll(commits)
  }
}

/** Tells whether less of a block was read than the feed's followers need now. */
function isLacking(commit: BlockCommit, feed: Pick<CommitFeed, 'neededOf'>): boolean {
  return !hasExtent(commit, feed.neededOf(commit))
}

/** Reads as much of each block as the feed's followers need by what was read of it. */
async function readNeeded(
  commits: readonly BlockCommit[],
  journal: Journal,
  feed: Pick<CommitFeed, 'neededOf'>
): Promise<void> {
  const lacking = commits.filter((commit) => isLacking(commit, feed))
  await Promise.all(lacking.map((commit) => journal.read(commit, feed.neededOf(commit))))
}

/** Returns the slot of a head; -1 (below every slot) on an empty store. */
export function slotOf(head: SlotRow | null): number {
  return head?.slot ?? -1
}

import type { CommitFeed } from '../kernel/feed/commit-feed.ts'
import { sleep, type Clock } from '../ports.ts'

/** Returns the slot of the feed's head; -1 (below every slot) on an empty store. */
export const headSlot = ({ head }: Pick<CommitFeed, 'head'>): number => head?.slot ?? -1

/** Resolves with true once the feed has reached a slot, and with false after `ms` milliseconds or once the signal aborts. */
export async function reachedSlot(
  feed: Pick<CommitFeed, 'head' | 'follow'>,
  slot: number,
  { clock, ms, signal }: { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal }
): Promise<boolean> {
  if (headSlot(feed) >= slot) return true
  const reached = new AbortController()
  const check = (): void => {
    if (headSlot(feed) >= slot) reached.abort()
  }
  const unfollow = feed.follow({ published: check, jumped: check, needs: () => 'slot' })
  try {
    await sleep(clock, ms, AbortSignal.any([signal, reached.signal]))
  } finally {
    unfollow()
  }
  return headSlot(feed) >= slot
}

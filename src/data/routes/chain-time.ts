import type { CommitFeed } from '../../kernel/feed/commit-feed.ts'
import type { Clock } from '../../ports.ts'

/** Returns the chain's time at the head, in Unix seconds; the service's own time while the index is empty. */
export function chainTime({
  feed,
  clock
}: {
  readonly feed: Pick<CommitFeed, 'head'>
  readonly clock: Pick<Clock, 'now'>
}): number {
  return feed.head?.blockTime ?? Math.floor(clock.now() / 1000)
}

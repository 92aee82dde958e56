import type { ServiceError } from '../../src/kernel/errors.ts'
import type { BlockExtent } from '../../src/market/block-extent.ts'
import type { BlockCommit } from '../../src/market/records.ts'
import type { Clock } from '../../src/ports.ts'
import type { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import type { Storage } from '../../storage/port.ts'
import { isDamage, retryWhileUnavailable, type RetryPolicy } from '../storage/retry.ts'
import { aborted } from '../supervision/aborted.ts'

/** How reads of the store are retried, and the signal that ends them. */
export interface Reading {
  readonly retry: RetryPolicy
  readonly end: AbortSignal
}

/** An index in memory that is derived from the store, and follows the feed. */
export interface FedIndex {
  /** Applies a block that may have been read, or is about to be. */
  apply(commit: BlockCommit): void
  /** Returns how much of a block it applies (`FeedReader.needs`). */
  needs(commit: BlockCommit): BlockExtent
  /** The feed skipped blocks, or published blocks have changed: what was read is stale. */
  jumped(): void
  /** Reads the store, and stays until the signal aborts. */
  read(reading: Reading): Promise<void>
  /** Rows that the index needs are lost, which no restart mends. It stays as it is until the signal aborts. */
  refuse(error: ServiceError): void
}

/**
 * Keeps an index at the feed until `draining` aborts. Rejects with the index's error.
 *
 * F1. It follows the feed before the index reads. So each block is read, or applied, or both.
 * F2. If a block cannot be applied, the reading ends, and its process restarts with another index.
 * F3. Reads of a shared store are retried during an outage. A damaged store is not read again.
 */
export async function followFeed(
  { feed, storage, clock }: { readonly feed: CommitFeed; readonly storage: Storage; readonly clock: Clock },
  index: FedIndex,
  draining: AbortSignal
): Promise<void> {
  const failure = new AbortController()
  const end = AbortSignal.any([draining, failure.signal])
  const apply = (commit: BlockCommit): void => {
    try {
      index.apply(commit)
    } catch (error) {
      failure.abort(error)
    }
  }
  const unfollow = feed.follow({
    published: apply,
    jumped: () => index.jumped(),
    needs: (commit) => index.needs(commit)
  })
  try {
    await index.read({ retry: retryWhileUnavailable(storage, clock), end })
  } catch (error) {
    if (!end.aborted) {
      if (!isDamage(error, storage)) throw error
      index.refuse(error)
      await aborted(end)
    }
  } finally {
    unfollow()
  }
  failure.signal.throwIfAborted()
}

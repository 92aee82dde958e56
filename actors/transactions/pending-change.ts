import type { SubmissionChange } from '../../src/transactions/changes.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'

/** Maximum changes, and bytes of them, that are stored together; a batch stays far below the largest document. */
const BATCH_MAX = 32
const BATCH_BYTES_MAX = 16 * 1024

/** A change that waits to be stored. */
export interface PendingChange {
  readonly change: SubmissionChange
  readonly claim: ShardClaim
  readonly stored: () => void
  readonly failed: (error: unknown) => void
}

/** Takes the changes of the next batch: of one claim, and within the bounds. */
export function takeBatch(queue: PendingChange[]): PendingChange[] {
  const taken: PendingChange[] = []
  let bytes = 0
  while (taken.length < BATCH_MAX && queue.length > 0 && queue[0]!.claim === (taken[0] ?? queue[0])!.claim) {
    bytes += Buffer.byteLength(JSON.stringify(queue[0]!.change))
    if (taken.length > 0 && bytes > BATCH_BYTES_MAX) break
    taken.push(queue.shift()!)
  }
  return taken
}

import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, PAGE_MAX } from '../../storage/documents.ts'
import { tenantShard } from '../access/tenant-shard.ts'
import { BACKFILL_JOB, type BackfillJob } from './backfill-document.ts'
import type { WatchedAddress } from './watched-address.ts'

/** The checkpoints of backfills, for readers. */
export class BackfillJobs {
  readonly #documents: Documents<BackfillJob>

  constructor(store: DocumentStore) {
    this.#documents = new Documents(store, BACKFILL_JOB)
  }

  async of(tenant: string, address: string): Promise<BackfillJob | null> {
    return (await this.#documents.get(tenantShard(tenant), [tenant, address]))?.value ?? null
  }

  /** Lists the checkpoints of a tenant, by address; those of addresses that are no longer watched too. */
  async list(tenant: string): Promise<ReadonlyMap<string, BackfillJob>> {
    const jobs = new Map<string, BackfillJob>()
    for (let after: string | null = null; ;) {
      const page = await this.#documents.list(tenantShard(tenant), {
        prefix: [tenant],
        after,
        limit: PAGE_MAX
      })
      for (const { value } of page.documents) jobs.set(value.address, value)
      if (page.next === null) return jobs
      after = page.next
    }
  }
}

/** Returns the checkpoint of a watch's request; null before its first step, and for that of an earlier request. */
export const jobOf = ({ history }: WatchedAddress, job: BackfillJob | null): BackfillJob | null =>
  job !== null && job.requestedAtMs === history?.requestedAtMs ? job : null

/** Tells whether a backfill has found that some history cannot be had, so that its ledger stays incomplete. */
const lacksHistory = ({ unavailable, unread, holes }: BackfillJob): boolean =>
  unavailable.length > 0 || unread !== null || holes.length > 0

/**
 * Tells whether the ledger of a watch is being extended: until the sum of all changes equals the chain, or the comparison
 * has shown that the node lacks some history.
 */
export function isBackfilling(watched: WatchedAddress, stored: BackfillJob | null): boolean {
  if (watched.history?.since == null) return false
  const job = jobOf(watched, stored)
  if (job === null) return true
  if (job.phase === 'done') return false
  return !(job.phase === 'checking' && job.check !== null && lacksHistory(job))
}

/** Tells whether a ledger was found equal to the chain, and lacks no history; true for one without a request. */
export function isEqualToChain(watched: WatchedAddress, stored: BackfillJob | null): boolean {
  if (watched.history?.since == null) return true
  const job = jobOf(watched, stored)
  return job !== null && job.phase === 'done' && !lacksHistory(job)
}

import type { ClusterCoordination } from '../../storage/cluster/coordination.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import { TimedCache } from '../kernel/memory/timed-cache.ts'
import type { Clock } from '../ports.ts'
import type { Bundle } from './bundle.ts'
import type { Tracking } from './ports.ts'
import { shareOf, type Places } from './places.ts'
import {
  partitionsOf,
  resendsUntilMs,
  SUBMISSION,
  TRACKED_PER_TENANT_MAX,
  transactionShard,
  type Submission,
  type SubmissionIndex,
  type SubmissionProgress
} from './submission.ts'

/** Milliseconds for which a count from the store is reused. The port documents this limit. */
const COUNT_CACHE_MS = 1_000
/**
 * Maximum cached counts: the number of tenants that submit to one process in one second. Further tenants are counted
 * again.
 */
const COUNTS_MAX = 1_000
/** Maximum documents counted in one partition. Four partitions of this size exceed the tenant's limit. */
const PAGE = TRACKED_PER_TENANT_MAX / 2

/** Transactions that this process tracks. */
export interface TrackedHere {
  /** Starts to track a submission; false if another process has its shard. */
  begin(stored: Stored<Submission>): boolean
  /** Starts to track a bundle; false if another process has its shard. */
  beginBundle(stored: Stored<Bundle>): boolean
  progress(tenant: string, signature: string): SubmissionProgress | null
  /** The places in use, as they count for a tenant. The tenant's own places are null if another process has its shard. */
  places(tenant: string): Omit<Places, 'tenant'> & { readonly tenant: number | null }
}

/** The tracking of this process, as the HTTP side sees it; null while it does not run. */
export class LocalTracking {
  #served: TrackedHere | null = null

  get served(): TrackedHere | null {
    return this.#served
  }

  /** Sets the tracking; null when it ends. */
  serve(served: TrackedHere | null): void {
    this.#served = served
  }
}

/** Tracking by this process if it has the shard, otherwise by the process that receives the hint. */
export class SharedTracking implements Tracking {
  readonly #local: LocalTracking
  readonly #documents: Documents<Submission, SubmissionIndex, never, SubmissionProgress>
  readonly #hints: ClusterCoordination['submissions']
  readonly #clock: Pick<Clock, 'now'>
  readonly #counts: TimedCache<{ stored: number }>

  constructor(
    local: LocalTracking,
    documents: DocumentStore,
    { submissions }: Pick<ClusterCoordination, 'submissions'>,
    clock: Pick<Clock, 'now'>
  ) {
    this.#local = local
    this.#documents = new Documents(documents, SUBMISSION)
    this.#hints = submissions
    this.#clock = clock
    this.#counts = new TimedCache(clock, { entriesMax: COUNTS_MAX })
  }

  begin(stored: Stored<Submission>): void {
    const { tenant, signature } = stored.value
    if (this.#local.served?.begin(stored) === true) return
    const known = this.#counts.get(tenant)
    if (known !== undefined) known.stored++
    this.#hints?.publish({ tenant, signature })
  }

  progress(tenant: string, signature: string): SubmissionProgress | null {
    return this.#local.served?.progress(tenant, signature) ?? null
  }

  async count(tenant: string): Promise<Places> {
    const here = this.#local.served?.places(tenant) ?? { process: 0, tenant: null, share: shareOf(1) }
    return { ...here, tenant: here.tenant ?? (await this.#stored(tenant)) }
  }

  /**
   * Counts a tenant's submissions in the store, up to slightly more than its limit. Submissions that are no longer
   * sent do not count: their process releases their places.
   */
  async #stored(tenant: string): Promise<number> {
    const known = this.#counts.get(tenant)
    if (known !== undefined) return known.stored
    const nowMs = this.#clock.now()
    const pages = await Promise.all(
      partitionsOf(transactionShard(tenant)).map((partition) =>
        this.#documents.listBy('tracked', partition, { prefix: [tenant], limit: PAGE })
      )
    )
    const count = pages
      .flatMap(({ documents }) => documents)
      .filter(({ value }) => nowMs < resendsUntilMs(value, value.receivedAtMs)).length
    this.#counts.set(tenant, { value: { stored: count }, endsAtMs: nowMs + COUNT_CACHE_MS })
    return count
  }
}

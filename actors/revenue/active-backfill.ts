import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import { tenantShard } from '../../src/access/tenant-shard.ts'
import { BACKFILL_JOB, newJob, type BackfillJob } from '../../src/revenue/backfill-document.ts'
import type { WatchedAddress } from '../../src/revenue/watched-address.ts'

/** Signatures of one step: three seconds of ten requests a second, so that a tenant soon has its next turn. */
export const STEP_SIGNATURES_MAX = 32

/** A backfill of a watch, with its stored checkpoint. */
export class ActiveBackfill {
  watched: WatchedAddress
  /** The time before which it does nothing, unix milliseconds. */
  notBeforeMs = 0
  /** Failed steps in a row. */
  faults = 0
  isBusy = false
  /** Signatures of its next step: fewer after a fault, so that each step can end. */
  signatures = STEP_SIGNATURES_MAX
  readonly #jobs: Documents<BackfillJob>
  #stored: Stored<BackfillJob>

  private constructor(watched: WatchedAddress, jobs: Documents<BackfillJob>, stored: Stored<BackfillJob>) {
    this.watched = watched
    this.#jobs = jobs
    this.#stored = stored
  }

  /** Opens the checkpoint of a watch's request; a new request replaces that of an earlier one. */
  static async open(watched: WatchedAddress, store: DocumentStore): Promise<ActiveBackfill> {
    const jobs = new Documents(store, BACKFILL_JOB)
    const job = newJob(watched, watched.history?.requestedAtMs ?? 0)
    const before = await jobs.get(tenantShard(watched.tenant), [watched.tenant, watched.address])
    if (before === null) {
      const inserted = await jobs.insert(job)
      return inserted.ok
        ? new ActiveBackfill(watched, jobs, inserted.stored)
        : ActiveBackfill.open(watched, store)
    }
    const { requestedAtMs } = job
    const outcome = await jobs.change(before, (value) =>
      value.requestedAtMs === requestedAtMs ? value : { ...job, generation: value.generation }
    )
    return outcome.ok
      ? new ActiveBackfill(watched, jobs, outcome.stored)
      : ActiveBackfill.open(watched, store)
  }

  get job(): BackfillJob {
    return this.#stored.value
  }

  get tenant(): string {
    return this.watched.tenant
  }

  /** Stores changes of the checkpoint, unless it serves another request by now. */
  async save(patch: Partial<BackfillJob>): Promise<void> {
    const { requestedAtMs } = this.job
    const outcome = await this.#jobs.change(this.#stored, (value) =>
      value.requestedAtMs === requestedAtMs ? { ...value, ...patch } : value
    )
    if (outcome.ok && outcome.stored.value.requestedAtMs === requestedAtMs) this.#stored = outcome.stored
    else throw new BackfillReplaced()
  }
}

/** Another request has replaced that of a backfill. */
export class BackfillReplaced extends Error {}

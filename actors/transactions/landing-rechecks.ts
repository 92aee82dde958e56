import { progressForCheck, reopenedForCheck } from '../../src/transactions/landing-recheck.ts'
import {
  TRACKED_PER_PROCESS_MAX,
  TRACKED_PER_TENANT_MAX,
  type Submission,
  type SubmissionIndex,
  type SubmissionProgress
} from '../../src/transactions/submission.ts'
import type { Clock } from '../../src/ports.ts'
import type { Documents, Stored } from '../../storage/documents.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import type { Tracker } from './tracker.ts'

/** Interval of reading the due checks of a partition, in milliseconds: the first check is due after a minute. */
const INTERVAL_MS = 15_000
/** Checks that one read begins: they hold places of new submissions for some seconds. */
const CHECKS_MAX = 100
/** Share of the places of a process, and of a tenant, from which on no check begins. */
const CROWDED = 1 / 2

/**
 * Tracks ended submissions again whose landing one node alone states, at the times of `recheckAtMs`. The tracker then bears
 * the landing out, or takes it back with a change that its tenant sees.
 */
export class LandingRechecks {
  readonly #documents: Documents<Submission, SubmissionIndex, never, SubmissionProgress>
  readonly #tracker: Pick<Tracker, 'places' | 'reopen'>
  readonly #clock: Clock
  readonly #claim: ShardClaim
  /** Unix milliseconds of the next read, by partition. */
  readonly #dueAtMs = new Map<string, number>()

  constructor(
    documents: Documents<Submission, SubmissionIndex, never, SubmissionProgress>,
    {
      tracker,
      clock,
      claim
    }: {
      readonly tracker: Pick<Tracker, 'places' | 'reopen'>
      readonly clock: Clock
      readonly claim: ShardClaim
    }
  ) {
    this.#documents = documents
    this.#tracker = tracker
    this.#clock = clock
    this.#claim = claim
  }

  /** Begins the due checks of a partition. Rejects with the store's error. */
  async begin(partition: string): Promise<void> {
    const nowMs = this.#clock.now()
    if (nowMs < (this.#dueAtMs.get(partition) ?? 0)) return
    this.#dueAtMs.set(partition, nowMs + INTERVAL_MS)
    const range = { until: [nowMs], limit: CHECKS_MAX }
    const { documents } = await this.#documents.listBy('rechecks', partition, range)
    for (const each of documents) {
      const { process, tenant } = this.#tracker.places(each.value.tenant)
      const isCrowded =
        process >= TRACKED_PER_PROCESS_MAX * CROWDED || tenant >= TRACKED_PER_TENANT_MAX * CROWDED
      if (!isCrowded) await this.#begin(each)
      if (this.#claim.lost.aborted) return
    }
  }

  async #begin(ended: Stored<Submission>): Promise<void> {
    const { end } = ended.value
    if (end === null) return
    const progress = progressForCheck(end, this.#claim.token)
    await this.#documents.putHot(ended, this.#claim.token, progress)
    const outcome = await this.#documents.change(ended, reopenedForCheck)
    if (outcome.ok && outcome.stored.value.end === null)
      this.#tracker.reopen(outcome.stored, this.#claim, progress)
  }
}

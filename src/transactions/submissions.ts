import type { DocumentStore } from '../../storage/document-store.ts'
import { withTtl } from '../../storage/document-definition.ts'
import { Documents, PAGE_MAX, type Stored } from '../../storage/documents.ts'
import type { Tracking } from './ports.ts'
import { afterRepeat, type RepeatedRequest } from './repeat.ts'
import {
  partitionsOf,
  SUBMISSION,
  submissionPartition,
  transactionShard,
  type Submission,
  type SubmissionIndex,
  type SubmissionProgress,
  type TransactionState
} from './submission.ts'

/** A submission and the known state of its transaction. */
export interface SubmissionState {
  readonly submission: Submission
  /** Null before the first send. */
  readonly progress: SubmissionProgress | null
  /** Whether the progress comes from this process's own tracking, and so is the newest. */
  readonly isTrackedHere: boolean
}

/** The outcome of a repeated request. */
export interface RepeatOutcome {
  readonly state: SubmissionState
  /** Whether its sends had stopped and restart. */
  readonly isResumed: boolean
  /** The stored submission if the request has changed it; null if not. */
  readonly changed: Stored<Submission> | null
}

/** The position of a submission in a list. */
export interface SubmissionPlace {
  readonly receivedAtMs: number
  readonly signature: string
}

export interface SubmissionQuery {
  /** Null for all states. */
  readonly state: TransactionState | null
  /** Counts from 1. */
  readonly limit: number
  /** The list continues after this position; null at the first page. */
  readonly after: SubmissionPlace | null
  /** Lets other work run after each TAKEN_AT_ONCE. */
  readonly pause: () => Promise<void>
}

/** Submissions that are taken and read before other work runs: 1 ms. */
const TAKEN_AT_ONCE = 100

type StoredSubmission = Stored<Submission>
type IndexRange = readonly [index: SubmissionIndex, prefix: readonly string[]]
type Next = (count: number) => Promise<StoredSubmission[]>

/**
 * Documents read from a partition beyond its share of a page. Most pages then need one read of each
 * partition.
 */
const SPARE = 4

interface SubmissionsDeps {
  readonly tracking: Pick<Tracking, 'progress'>
  /** TTL of a submission in milliseconds; null for no expiry. It restarts when the submission ends. */
  readonly retentionMs: number | null
}

/** Tenants' submissions in the store. */
export class Submissions {
  readonly #documents: Documents<Submission, SubmissionIndex, never, SubmissionProgress>
  readonly #tracking: Pick<Tracking, 'progress'>

  constructor(store: DocumentStore, { tracking, retentionMs }: SubmissionsDeps) {
    this.#documents = new Documents(store, withTtl(SUBMISSION, retentionMs))
    this.#tracking = tracking
  }

  /**
   * Stores a new submission durably. Returns null if the tenant has already submitted the signature; that record does
   * not change.
   */
  async insert(submission: Submission): Promise<StoredSubmission | null> {
    const outcome = await this.#documents.insert(submission)
    if (outcome.ok) return outcome.stored
    if (outcome.reason === 'exists') return null
    throw new Error(`a new submission was refused: ${outcome.reason}`)
  }

  /** Applies a repeated request to the submission of a tenant; null if it has not submitted the signature. */
  async repeat(tenant: string, signature: string, request: RepeatedRequest): Promise<RepeatOutcome | null> {
    const before = await this.#find(tenant, signature)
    if (before === null) return null
    const [state] = await this.#withProgress([before])
    let after = afterRepeat(before.value, state!.progress, request)
    if (after.submission === before.value) return { state: state!, isResumed: after.isResumed, changed: null }
    const outcome = await this.#documents.change(before, (value) => {
      after = afterRepeat(value, state!.progress, request)
      return after.submission
    })
    // Its retention has just ended.
    if (!outcome.ok) return null
    const submission = outcome.stored.value
    const isChanged = outcome.stored.version !== before.version
    return {
      state: { ...state!, submission, progress: submission.end ?? state!.progress },
      isResumed: after.isResumed,
      changed: isChanged ? outcome.stored : null
    }
  }

  /** Returns the submission of a tenant; null if it has not submitted the signature. */
  async get(tenant: string, signature: string): Promise<SubmissionState | null> {
    const stored = await this.#find(tenant, signature)
    if (stored === null) return null
    const [state] = await this.#withProgress([stored])
    return state!
  }

  /**
   * Lists submissions of a tenant, newest first; within a millisecond by signature, descending. `next` continues the
   * list; null at its end.
   */
  async list(
    tenant: string,
    { state, limit, after, pause }: SubmissionQuery
  ): Promise<{ readonly states: readonly SubmissionState[]; readonly next: SubmissionPlace | null }> {
    const take = this.#newestFirst(tenant, { state, limit, after, pause })
    const states: SubmissionState[] = []
    while (states.length <= limit) {
      const candidates = await take(Math.min(TAKEN_AT_ONCE, limit + 1 - states.length))
      if (candidates.length === 0) break
      const read = await this.#withProgress(candidates)
      states.push(...read.filter(({ progress }) => state === null || stateOf(progress) === state))
      await pause()
    }
    const page = states.slice(0, limit)
    const last = page.at(-1)
    return { states: page, next: states.length > limit && last ? placeOf(last.submission) : null }
  }

  #find(tenant: string, signature: string): Promise<StoredSubmission | null> {
    return this.#documents.get(submissionPartition(tenant, signature), [tenant, signature])
  }

  /** Returns a function that takes the next submissions of all partitions together. */
  #newestFirst(tenant: string, { state, limit, after, pause }: SubmissionQuery): Next {
    const partitions = partitionsOf(transactionShard(tenant))
    const pageSize = Math.min(PAGE_MAX, Math.ceil((limit + 1) / partitions.length) + SPARE)
    const indexes = indexesOf(tenant, state)
    const lists = partitions.flatMap((partition) =>
      indexes.map((index) => this.#listOf(partition, index, pageSize, after, pause))
    )
    const listsAtOnce = Math.max(1, Math.floor(TAKEN_AT_ONCE / pageSize))
    let heads: (StoredSubmission | null)[] | null = null
    return async (count) => {
      const taken: StoredSubmission[] = []
      if (heads === null) {
        heads = []
        for (let from = 0; from < lists.length; from += listsAtOnce) {
          if (from > 0) await pause()
          const some = lists.slice(from, from + listsAtOnce)
          heads.push(...(await Promise.all(some.map((list) => list.head()))))
        }
      }
      while (taken.length < count) {
        const newest = heads.reduce<number | null>(
          (best, head, at) =>
            head !== null && (best === null || compare(head.value, heads![best]!.value) < 0) ? at : best,
          null
        )
        if (newest === null) break
        taken.push(lists[newest]!.shift())
        heads[newest] = await lists[newest]!.head()
      }
      return taken
    }
  }

  /** Returns the submissions of a partition and index after a position, newest first, read page by page. */
  #listOf(
    partition: string,
    [index, prefix]: IndexRange,
    limit: number,
    after: SubmissionPlace | null,
    pause: () => Promise<void>
  ): { head(): Promise<StoredSubmission | null>; shift(): StoredSubmission } {
    const until = after === null ? {} : { until: [after.receivedAtMs] }
    let rows: StoredSubmission[] = []
    let next: string | null = null
    let isRead = false
    return {
      head: async () => {
        while (rows.length === 0 && !(isRead && next === null)) {
          if (isRead) await pause()
          const range = { prefix, ...until, order: 'desc', limit, after: next } as const
          const page = await this.#documents.listBy(index, partition, range)
          rows = page.documents.filter(({ value }) => after === null || compare(value, after) > 0)
          next = page.next
          isRead = true
        }
        return rows[0] ?? null
      },
      shift: () => rows.shift()!
    }
  }

  async #withProgress(stored: readonly StoredSubmission[]): Promise<SubmissionState[]> {
    const here = stored.map(({ value: { tenant, signature, end } }) =>
      end === null ? this.#tracking.progress(tenant, signature) : null
    )
    const elsewhere = stored.filter(({ value }, at) => value.end === null && here[at] === null)
    const hot = elsewhere.length === 0 ? [] : await this.#documents.hot(elsewhere)
    const progressOf = new Map(elsewhere.map((each, at) => [each, hot[at] ?? null]))
    return stored.map((each, at) => ({
      submission: each.value,
      progress: each.value.end ?? here[at] ?? progressOf.get(each) ?? null,
      isTrackedHere: here[at] !== null
    }))
  }
}

/** Returns the state of a submission's progress. */
export const stateOf = (progress: SubmissionProgress | null): TransactionState => progress?.state ?? 'sent'

const placeOf = ({ receivedAtMs, signature }: Submission): SubmissionPlace => ({ receivedAtMs, signature })

/**
 * Returns the index prefix for submissions of a state; null for all. The tracking of an open submission may have
 * ended without a known end. A submission that only one node calls final is still tracked.
 */
function indexesOf(tenant: string, state: TransactionState | null): readonly IndexRange[] {
  if (state === null) return [['received', [tenant]]]
  const ended = ['ended', [tenant, state]] as const
  return state === 'expired' ? [ended] : [['tracked', [tenant]], ended]
}

/** Orders positions of a list; base58 text sorts as its bytes do. */
function compare(a: SubmissionPlace, b: SubmissionPlace): number {
  if (a.receivedAtMs !== b.receivedAtMs) return b.receivedAtMs - a.receivedAtMs
  return a.signature === b.signature ? 0 : a.signature < b.signature ? 1 : -1
}

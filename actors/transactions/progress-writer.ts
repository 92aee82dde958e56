import { sleep, type Clock } from '../../src/ports.ts'
import { isSameToTenant, seenStateOf, type SeenState } from '../../src/transactions/changes.ts'
import {
  SUBMISSION,
  type Submission,
  type SubmissionIndex,
  type SubmissionProgress
} from '../../src/transactions/submission.ts'
import { storeEnd } from '../../src/transactions/submission-end.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { withTtl } from '../../storage/document-definition.ts'
import { Documents } from '../../storage/documents.ts'
import { isOutage } from '../storage/retry.ts'
import type { TrackedTransaction } from './tracked-transaction.ts'

/**
 * Maximum writes in flight that also publish a change. Those of a tenant share a write, and a process that takes over
 * reads as many again.
 */
const PUBLISHING_MAX = 64
/**
 * Other writes in flight. 10,000 signatures have 5,000 a second, and the embedded store gathers those of 100 ms for one
 * sync.
 */
const COUNTING_MAX = 512
/** Pause between attempts while the store is unavailable, in milliseconds. */
const RETRY_MS = 500

/** Transactions whose newest state waits for a write, and the writes of such ones in flight. */
interface Lane {
  readonly waiting: Set<TrackedTransaction>
  writing: number
  readonly writingMax: number
}

export interface ProgressWriterDeps {
  readonly documents: DocumentStore
  /** Milliseconds that a submission is kept from its end; null for ever. */
  readonly retentionMs: number | null
  readonly clock: Clock
  /**
   * Stores a change that its tenant sees, and publishes it. Called before the progress is stored, so that a kill between
   * them loses no change.
   */
  readonly publish: (transaction: TrackedTransaction, progress: SubmissionProgress) => Promise<void>
  /** Called after the end of a transaction is stored, or its document is gone. */
  readonly onEnded: (transaction: TrackedTransaction) => void
  readonly report: (fault: unknown) => void
}

/**
 * Stores the newest state of tracked transactions. One write a transaction is in flight. Waits while the store is
 * unavailable, and writes nothing for a shard that is lost.
 */
export class ProgressWriter {
  readonly #deps: ProgressWriterDeps
  readonly #documents: Documents<Submission, SubmissionIndex, never, SubmissionProgress>
  /** Transactions with a change to publish, and those for which only the count of sends has changed. */
  readonly #publishing: Lane = { waiting: new Set(), writing: 0, writingMax: PUBLISHING_MAX }
  readonly #counting: Lane = { waiting: new Set(), writing: 0, writingMax: COUNTING_MAX }
  readonly #writing = new Map<TrackedTransaction, Promise<void>>()
  /** The states that were last published to tenants. */
  readonly #published = new WeakMap<TrackedTransaction, SeenState>()
  readonly #end: AbortSignal

  constructor(deps: ProgressWriterDeps, end: AbortSignal) {
    this.#deps = deps
    this.#documents = new Documents(deps.documents, withTtl(SUBMISSION, deps.retentionMs))
    this.#end = end
  }

  /** Transactions whose newest state is not stored. */
  get size(): number {
    return this.#publishing.waiting.size + this.#counting.waiting.size + this.#writing.size
  }

  /** Tells whether the newest state of a transaction is not stored. */
  has(transaction: TrackedTransaction): boolean {
    return (
      this.#publishing.waiting.has(transaction) ||
      this.#counting.waiting.has(transaction) ||
      this.#writing.has(transaction)
    )
  }

  /** Counts a state as published. */
  restore(transaction: TrackedTransaction, published: SeenState): void {
    this.#published.set(transaction, published)
  }

  /** Stores the newest state of a transaction soon. */
  add(transaction: TrackedTransaction): void {
    const isPublished = isSameToTenant(this.#published.get(transaction) ?? null, transaction.progress(0))
    this.#publishing.waiting.delete(transaction)
    this.#counting.waiting.delete(transaction)
    const lane = isPublished ? this.#counting : this.#publishing
    lane.waiting.add(transaction)
    this.#next(lane)
  }

  /** Writes the state of a transaction now under this process's token. Rejects with the store's error. */
  async claim(transaction: TrackedTransaction): Promise<void> {
    await this.#documents.putHot(
      transaction.reference,
      transaction.claim.token,
      transaction.progress(this.#deps.clock.now())
    )
    transaction.isUnclaimed = false
  }

  /**
   * Returns the transactions whose progress no other process has written with a greater token; reports the others. Rejects
   * with the store's error.
   */
  async confirmed(transactions: readonly TrackedTransaction[]): Promise<readonly TrackedTransaction[]> {
    const stored = await this.#documents.hot(transactions.map((each) => each.reference))
    return transactions.filter(({ claim }, at) => {
      const token = stored[at]?.token ?? 0
      if (token > claim.token) claim.outranked(token)
      return token <= claim.token && !claim.lost.aborted
    })
  }

  #next(lane: Lane): void {
    for (const transaction of lane.waiting) {
      if (lane.writing >= lane.writingMax) return
      if (this.#writing.has(transaction)) continue
      lane.waiting.delete(transaction)
      if (transaction.claim.lost.aborted || this.#end.aborted) continue
      lane.writing++
      const writing = this.#write(transaction).finally(() => {
        this.#writing.delete(transaction)
        lane.writing--
        for (const each of [this.#publishing, this.#counting]) this.#next(each)
      })
      this.#writing.set(transaction, writing)
    }
  }

  async #write(transaction: TrackedTransaction): Promise<void> {
    const { clock, publish, onEnded, report } = this.#deps
    const progress = transaction.progress(clock.now())
    const { isOver } = transaction
    try {
      if (!isSameToTenant(this.#published.get(transaction) ?? null, progress)) {
        await publish(transaction, progress)
        this.#published.set(transaction, seenStateOf(progress))
      }
      if (isOver) await this.#storeEnd(transaction, progress)
      else {
        await this.claim(transaction)
        if (!transaction.claim.held) await this.confirmed([transaction])
      }
      if (transaction.claim.lost.aborted) return
      if (isOver) onEnded(transaction)
    } catch (fault) {
      if (transaction.claim.lost.aborted || this.#end.aborted) return
      if (!isOutage(fault)) report(fault)
      // Also after another fault: the state of a transaction must not be lost.
      await sleep(clock, RETRY_MS, this.#end)
      this.add(transaction)
    }
  }

  async #storeEnd(transaction: TrackedTransaction, end: SubmissionProgress): Promise<void> {
    if (!transaction.claim.held && (await this.confirmed([transaction])).length === 0) return
    await storeEnd(this.#documents, transaction.value, end)
  }
}

import { splitCursor, tenantCursorAfter } from '../../src/market/cursor.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import {
  changeBatches,
  isSameBatch,
  settle,
  type ChangeBatch,
  type PublishedChange
} from '../../src/transactions/change-batch.ts'
import type { SubmissionChange } from '../../src/transactions/changes.ts'
import { TRACKED_PER_PROCESS_MAX } from '../../src/transactions/submission.ts'
import type { UnsettledBatches } from '../../src/transactions/unsettled-batches.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import { isOutage } from '../storage/retry.ts'
import { AdoptedChanges } from './adopted-changes.ts'
import { takeBatch, type PendingChange } from './pending-change.ts'

/** Pause between attempts while the store is unavailable, or has no block, in milliseconds. */
const RETRY_MS = 500
/**
 * Milliseconds after the newest block for which a change is placed behind that block's events; later changes are placed
 * behind the next block's. So other processes hear of a change before the block that follows it: half a slot. A chain
 * that is silent for longer than STALL_MS does not keep changes waiting.
 */
const BEHIND_HEAD_MS = 200
const STALL_MS = 2_000
/** Times that a batch gets new cursors because blocks came while it was stored. Beyond that the store is too slow. */
const MOVES_MAX = 3
/**
 * Batches that are read when a shard is taken over. The previous process had at most 64 writes in flight. A change
 * that it stored without its progress is among its last ones.
 */
const RESTORED_BATCHES = 256
/**
 * Maximum changes that wait for the first block while their submissions proceed: two of each transaction that a process
 * tracks. Further changes delay the storing of their submissions.
 */
const EARLY_MAX = 2 * TRACKED_PER_PROCESS_MAX
/** Tenants whose newest batch is remembered: more than are likely to submit at once; others are read again. */
const LASTS_MAX = 10_000

export interface ChangeLogDeps {
  readonly documents: DocumentStore
  readonly clock: Clock
  /** Whether connections of other processes receive changes. */
  readonly isShared: boolean
  /** Milliseconds that changes are kept; null for ever. */
  readonly ttlMs: number | null
  /** The end of the newest published slot; -1 before the first. */
  readonly head: () => number
  /** Keeps batches from readers of this process until they are published. */
  readonly unsettled: Pick<UnsettledBatches, 'begin' | 'end'>
  /** Called after changes are stored. */
  readonly publish: (batch: ChangeBatch) => void
  /** Called with a fault of changes without a waiting caller. */
  readonly report: (fault: unknown) => void
}

/** The place after which a tenant's next batch comes. */
interface LastBatch {
  readonly number: number
  readonly cursor: number
}

/**
 * Stores the changes of tenants' submissions in the order in which connections are sent them, then publishes them.
 *
 * L1. Cursors of a tenant ascend, and none is used twice. Batches are numbered, and a number is stored once; a process that
 *     finds a batch with a greater token has lost the shard. The cursors of another process's batch are fixed before the
 *     next batch follows it.
 * L2. Changes wait for the first block, because without a block they have no place: no replay would reach a change before
 *     it. Their submissions do not wait. If the process ends and loses such a change, no client has a cursor from which it
 *     could miss it.
 * L3. One write of a tenant is in flight; changes that come meanwhile are stored together by the next one.
 */
export class ChangeLog {
  readonly #deps: ChangeLogDeps
  readonly #documents: Documents<ChangeBatch, 'last'>
  readonly #queues = new Map<string, PendingChange[]>()
  readonly #lasts = new Map<string, LastBatch>()
  readonly #adopted = new AdoptedChanges()
  readonly #end: AbortSignal
  #early = 0
  #head = -1
  #headAtMs = -Infinity

  constructor(deps: ChangeLogDeps, end: AbortSignal) {
    this.#deps = deps
    this.#documents = new Documents(deps.documents, changeBatches(deps.ttlMs))
    this.#end = end
  }

  /** Records that a block was published. */
  noteHead(): void {
    const head = this.#deps.head()
    if (head <= this.#head) return
    this.#head = head
    this.#headAtMs = this.#deps.clock.now()
  }

  /**
   * Stores a change and publishes it. Waits while the store is unavailable; rejects once the claim is lost. Before the first
   * block it resolves at once, and the change is stored behind that block.
   */
  append(tenant: string, change: SubmissionChange, claim: ShardClaim): Promise<void> {
    const appended = this.#append(tenant, change, claim)
    if (this.#deps.head() >= 0 || this.#early >= EARLY_MAX) return appended
    this.#early++
    void appended
      .catch((fault: unknown) => {
        if (!claim.lost.aborted && !this.#end.aborted) this.#deps.report(fault)
      })
      .finally(() => this.#early--)
    return Promise.resolve()
  }

  #append(tenant: string, change: SubmissionChange, claim: ShardClaim): Promise<void> {
    return new Promise((stored, failed) => {
      const pending = { change, claim, stored, failed }
      const queue = this.#queues.get(tenant)
      if (queue !== undefined) return void queue.push(pending)
      this.#queues.set(tenant, [pending])
      void this.#drain(tenant)
    })
  }

  /**
   * Returns the newest change of each signature in a tenant's last batches. Publishes the last batch again, because the
   * previous process may have died before it did. Rejects with the store's error.
   */
  async restore(tenant: string): Promise<ReadonlyMap<string, PublishedChange>> {
    const { documents } = await this.#documents.list(tenant, { order: 'desc', limit: RESTORED_BATCHES })
    const batches = documents.map(({ value }) => value).toReversed()
    const last = documents[0] === undefined ? null : await this.#settled(documents[0])
    // Also without a last batch: a batch that comes meanwhile is then known to be the previous process's. Not if this
    // process has stored one meanwhile.
    if (!this.#lasts.has(tenant)) this.#remember(tenant, last === null ? BEFORE_FIRST : lastBatchOf(last))
    if (last !== null) this.#deps.publish(last)
    return new Map(batches.flatMap(({ changes }) => changes.map((change) => [change.signature, change])))
  }

  async #drain(tenant: string): Promise<void> {
    const queue = this.#queues.get(tenant)!
    while (queue.length > 0) {
      const items = takeBatch(queue)
      try {
        await this.#store(tenant, items).finally(() => this.#deps.unsettled.end(tenant))
        for (const { stored } of items) stored()
      } catch (error) {
        for (const { failed } of items) failed(error)
      }
    }
    this.#queues.delete(tenant)
  }

  /** Stores one batch, at the number after the last one. */
  async #store(tenant: string, items: readonly PendingChange[]): Promise<void> {
    const { claim } = items[0]!
    let open = this.#adopted.unpublished(
      tenant,
      items.map(({ change }) => change)
    )
    let last = this.#lasts.get(tenant) ?? null
    while (open.length > 0) {
      claim.lost.throwIfAborted()
      this.#end.throwIfAborted()
      if (this.#deps.head() < 0) {
        await this.#sleep(claim)
        continue
      }
      try {
        last ??= await this.#readLast(tenant)
        const batch = this.#batchOf(tenant, last, open, claim.token)
        this.#deps.unsettled.begin(tenant, batch.number)
        const outcome = await this.#documents.insert(batch, { isSoon: open.every(isKnownToTenant) })
        if (outcome.ok) return this.#publish(await this.#movedBehindHead(outcome.stored, last))
        const other = await this.#documents.get(tenant, [batch.number])
        last = null
        if (other === null) continue
        if (other.value.token === claim.token) {
          // Either the answer to this very write was lost, or it is an earlier batch of this process that was not
          // remembered.
          if (isSameBatch(other.value, batch)) return this.#publish(other.value)
          last = lastBatchOf(other.value)
          continue
        }
        if (other.value.token > claim.token) {
          claim.outranked(other.value.token)
          throw new Error(`changes of ${tenant} are stored by another process`)
        }
        // The previous process stored it after this one took over.
        const settled = await this.#settled(other)
        last = lastBatchOf(settled)
        this.#adopted.add(settled)
        this.#publish(settled)
        open = this.#adopted.unpublished(tenant, open)
      } catch (error) {
        if (!isOutage(error)) throw error
        await this.#sleep(claim)
      }
    }
  }

  #sleep({ lost }: ShardClaim): Promise<void> {
    return sleep(this.#deps.clock, RETRY_MS, AbortSignal.any([lost, this.#end]))
  }

  #batchOf(
    tenant: string,
    { number, cursor }: LastBatch,
    changes: readonly SubmissionChange[],
    token: number
  ): ChangeBatch {
    return { tenant, number: number + 1, token, after: cursor, changes: this.#placed(changes, cursor) }
  }

  /** Gives changes their cursors, after the one given. */
  #placed(changes: readonly SubmissionChange[], after: number): PublishedChange[] {
    const { clock, head, isShared } = this.#deps
    this.noteHead()
    const { slot } = splitCursor(head())
    const sinceMs = clock.now() - this.#headAtMs
    const isLate = isShared && sinceMs > BEHIND_HEAD_MS && sinceMs < STALL_MS
    let last = after
    return changes.map((change) => {
      last = tenantCursorAfter(last, isLate ? slot + 1 : slot)
      return { ...change, err: change.err ?? null, cursor: last }
    })
  }

  /**
   * Gives a stored batch new cursors if the block after it was published meanwhile. No reader has received the batch yet:
   * readers in other processes fix its cursors before they send it.
   */
  async #movedBehindHead(stored: Stored<ChangeBatch>, last: LastBatch): Promise<ChangeBatch> {
    let current = stored
    for (let moves = 0; moves < MOVES_MAX; moves++) {
      const { value } = current
      if (splitCursor(value.changes[0]!.cursor).slot >= splitCursor(Math.max(0, this.#deps.head())).slot)
        break
      const changes = this.#placed(value.changes, last.cursor)
      const outcome = await this.#documents.update(current, { ...value, changes })
      if (!outcome.ok) break
      current = outcome.stored
    }
    return current.value
  }

  #publish(batch: ChangeBatch): void {
    this.#remember(batch.tenant, lastBatchOf(batch))
    this.#deps.unsettled.end(batch.tenant)
    this.#deps.publish(batch)
  }

  async #readLast(tenant: string): Promise<LastBatch> {
    const { documents } = await this.#documents.list(tenant, { order: 'desc', limit: 1 })
    const [last] = documents
    return last === undefined ? BEFORE_FIRST : lastBatchOf(await this.#settled(last))
  }

  /** Fixes the cursors of a batch, which the next one follows: the previous process may be about to change them. */
  async #settled(batch: Stored<ChangeBatch>): Promise<ChangeBatch> {
    return this.#deps.isShared ? (await settle(this.#documents, batch)).value : batch.value
  }

  #remember(tenant: string, last: LastBatch): void {
    this.#lasts.delete(tenant)
    if (this.#lasts.size >= LASTS_MAX) this.#lasts.delete(this.#lasts.keys().next().value!)
    this.#lasts.set(tenant, last)
  }
}

/**
 * Tells whether a change says hardly more than the answer to the submission. Its sync must not delay that of the next
 * submission.
 */
const isKnownToTenant = ({ event }: SubmissionChange): boolean => event === 'sent'

const BEFORE_FIRST: LastBatch = { number: 0, cursor: -1 }

const lastBatchOf = ({ number, changes }: ChangeBatch): LastBatch => ({
  number,
  cursor: changes.at(-1)!.cursor
})

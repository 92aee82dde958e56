import type { TransactionEvent } from '../../machines/transaction.machine.ts'
import { sleep } from '../../src/ports.ts'
import { submissionChange, type SeenState } from '../../src/transactions/changes.ts'
import type { TrackedLabel } from '../../src/transactions/metrics.ts'
import type { Places } from '../../src/transactions/places.ts'
import type { Submission, SubmissionProgress } from '../../src/transactions/submission.ts'
import type { Stored } from '../../storage/documents.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import type { MemberCounts } from '../supervision/dynamic-supervisor.ts'
import { ClaimedBlocks } from './claimed-blocks.ts'
import { Expiry } from './expiry.ts'
import { LandingEvidence } from './landing-evidence.ts'
import { ProgressWriter } from './progress-writer.ts'
import { SendLoop } from './send-loop.ts'
import { ShardLists } from './shard-lists.ts'
import { StatusPoller } from './status-poller.ts'
import { TrackedPlaces } from './tracked-places.ts'
import { TrackedTransaction } from './tracked-transaction.ts'
import type { TrackerDeps } from './tracker-deps.ts'
import type { TransactionFact } from './transaction-fact.ts'
import { TransactionTable } from './transaction-table.ts'

/** Poll interval of the statuses that are due, in milliseconds. Arbitrary; the poller spaces the requests of each. */
const ROUND_MS = 1_000
/** Poll interval while nothing is tracked, in milliseconds. Arbitrary; a new transaction ends the pause. */
const IDLE_MS = 60_000
/** Interval, in milliseconds, at which a dropped shard is checked for sends and writes in flight. Arbitrary. */
const SETTLE_MS = 20

/**
 * Sends and follows submissions of the shards that this process has, up to TRACKED_PER_PROCESS_MAX of them.
 *
 * A1. A new submission is sent at once, and then at each instant of its grid until its loop ends. A submission of another
 *     process is sent after its progress bears this process's token.
 * A2. Nothing is sent after its end, nor for a shard that is lost. While another process may have the shard, each send
 *     follows a read that shows no greater token.
 * A3. If all places are in use, that of a transaction with a durable nonce that is no longer sent is released, first of
 *     the tenant with the most places. It ends like one that was followed for long enough.
 * A4. A fault of one transaction is reported, and ends the tracking of that one alone. It is taken up again from the store.
 */
export class Tracker {
  readonly #deps: TrackerDeps
  readonly #table = new TransactionTable()
  readonly #loop: SendLoop
  readonly #writer: ProgressWriter
  readonly #poller: StatusPoller
  readonly #expiry: Expiry
  readonly #claimedBlocks: ClaimedBlocks
  readonly #evidence: LandingEvidence
  readonly #unsubscribe: () => void
  readonly #look = new AutoResetEvent()
  readonly #ended = new AbortController()
  readonly #places: TrackedPlaces
  readonly #lists = new ShardLists()
  #faults = 0
  #lastFault: MemberCounts['lastError'] = null
  /** Transactions whose end is being stored, with the documents that repeated requests have opened again meanwhile. */
  readonly #reopened = new WeakMap<TrackedTransaction, Stored<Submission>>()

  constructor(deps: TrackerDeps) {
    const { clock, node, sightings, documents, retentionMs, metrics, changes, report } = deps
    this.#deps = deps
    this.#places = new TrackedPlaces(this.#table, clock)
    this.#evidence = new LandingEvidence({ table: this.#table, sightings, clock })
    this.#unsubscribe = sightings.subscribe({
      seen: (block) => this.#applyAll(this.#evidence.seen(block)),
      lost: (afterSlot) => this.#applyAll(this.#evidence.lost(afterSlot))
    })
    this.#writer = new ProgressWriter(
      {
        documents,
        retentionMs,
        clock,
        publish: ({ value, claim }, progress) =>
          changes.append(value.tenant, submissionChange(value, progress), claim),
        onEnded: (each) => this.#end(each),
        report
      },
      this.#ended.signal
    )
    this.#loop = new SendLoop(
      {
        ...deps,
        writer: this.#writer,
        apply: (each, event) => this.#apply(each, event),
        fail: (each, fault) => this.#fail(each, fault)
      },
      this.#ended.signal
    )
    this.#poller = new StatusPoller({ node, clock })
    this.#claimedBlocks = new ClaimedBlocks({ node, clock })
    this.#expiry = new Expiry({ node, sightings, clock, poller: this.#poller, evidence: this.#evidence })
    metrics.show(() => this.states)
  }

  get size(): number {
    return this.#table.size
  }

  get tenants(): number {
    return this.#table.tenants
  }

  /** The transactions as members: one with a fault is taken up again from the next list of its shard. */
  get members(): MemberCounts {
    const running = this.size
    return { restart: 'transient', running, waiting: 0, restarts: this.#faults, lastError: this.#lastFault }
  }

  /** Whether submissions wait in the store for room. */
  get isFull(): boolean {
    return this.#places.isFull
  }

  get sendsInFlight(): number {
    return this.#loop.inFlight
  }

  /** Transactions whose newest state is not stored. */
  get unwritten(): number {
    return this.#writer.size
  }

  /** Numbers of transactions by state, without those whose end is not stored yet. */
  get states(): Record<TrackedLabel, number> {
    return this.#table.states
  }

  /** The places in use, as they count for a tenant. */
  places(tenant: string): Places {
    return this.#places.of(tenant)
  }

  find(tenant: string, signature: string): TrackedTransaction | undefined {
    return this.#table.get(tenant, signature)
  }

  /** Returns the state of a transaction that is tracked here; null for any other. */
  progress(tenant: string, signature: string): SubmissionProgress | null {
    return this.#table.get(tenant, signature)?.progress(this.#deps.clock.now()) ?? null
  }

  /** Begins a submission that no process has tracked, and sends it at once. */
  begin(stored: Stored<Submission>, claim: ShardClaim): void {
    this.#add(stored, claim, null, false)
  }

  /** Adopts the document of a tracked submission after a repeated request. */
  repeat(transaction: TrackedTransaction, stored: Stored<Submission>): void {
    if (transaction.isOver) return void this.#reopened.set(transaction, stored)
    const added = transaction.adopt(stored)
    if (added === null) return
    transaction.askNonceAtMs = 0
    this.#loop.repeat(transaction, added, this.#deps.clock.now())
  }

  /** Runs a list of stored submissions. Submissions whose end is stored meanwhile are not taken up from it. */
  listing(list: () => Promise<void>): Promise<void> {
    return this.#lists.run(list)
  }

  /** Takes up a submission from a list, with its stored progress, and the state that was last published to its tenant. */
  adopt(
    stored: Stored<Submission>,
    claim: ShardClaim,
    progress: SubmissionProgress | null,
    published: SeenState | null = progress
  ): void {
    if (progress !== null && progress.token > claim.token) return claim.outranked(progress.token)
    if (this.#lists.hasEnded(stored.value)) return
    this.#add(stored, claim, progress, this.#deps.isShared && progress?.token !== claim.token, published)
  }

  /** Takes up a submission whose tracking had ended without a known end, after a repeated request. */
  reopen(stored: Stored<Submission>, claim: ShardClaim, progress: SubmissionProgress | null): void {
    this.#lists.noteReopened(stored.value)
    this.adopt(stored, claim, progress)
  }

  /** Asks nodes until `end` aborts. Rejects on a fault that concerns all transactions. */
  async run(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      const all = [...this.#table]
      for await (const answers of this.#poller.poll(all, this.#evidence.hasBlocks, end))
        for (const answer of answers) this.#applyAll(this.#evidence.answered(answer))
      for await (const given of this.#claimedBlocks.check(all, end))
        this.#applyAll(this.#evidence.blockGiven(given))
      for await (const fact of this.#expiry.check(all, end)) this.#applyAll([fact])
      const nowMs = this.#deps.clock.now()
      for (const each of all)
        if (each.isFollowedEnough(nowMs) && !each.isSending) this.#apply(each, { type: 'following.ended' })
        else if (each.isCheckedEnough(nowMs)) this.#applyAll(this.#evidence.accept(each))
      await this.#look.wait(this.#deps.clock, this.size === 0 ? IDLE_MS : ROUND_MS, end)
    }
  }

  /** Ends the tracking of a shard's transactions here: after sends in flight and writes, unless `kill` aborts. */
  async drop(claim: ShardClaim, kill: AbortSignal): Promise<void> {
    const dropped = this.#table.of(claim)
    for (const each of dropped) {
      each.isDropped = true
      this.#loop.delete(each)
    }
    const isBusy = (each: TrackedTransaction): boolean => each.isSending || this.#writer.has(each)
    while (!kill.aborted && dropped.some(isBusy)) await sleep(this.#deps.clock, SETTLE_MS, kill)
    for (const each of dropped) this.#remove(each)
  }

  /** Ends everything at once: sends in flight are abandoned. */
  end(): void {
    this.#ended.abort()
    this.#loop.end()
    this.#unsubscribe()
    for (const each of this.#table) this.#remove(each)
    this.#deps.metrics.show(null)
  }

  #add(
    stored: Stored<Submission>,
    claim: ShardClaim,
    progress: SubmissionProgress | null,
    isUnclaimed: boolean,
    published: SeenState | null = null
  ): void {
    const { tenant, signature, nonceAccount } = stored.value
    if (this.#table.get(tenant, signature) !== undefined || claim.lost.aborted) return
    const nowMs = this.#deps.clock.now()
    const { readTo } = this.#deps.sightings
    const added = new TrackedTransaction(stored, claim, progress, isUnclaimed, nowMs, readTo)
    const { hasPlace, released } = this.#places.take(added)
    if (released !== null) this.#apply(released, { type: 'following.ended' })
    if (!hasPlace) return
    if (this.size === 0) this.#look.set()
    this.#table.add(added)
    added.unwatch = this.#deps.sightings.watch(signature, nonceAccount)
    if (published !== null) this.#writer.restore(added, published)
    if (added.isLooping(nowMs)) this.#loop.begin(added, nowMs)
    else this.#writer.add(added)
  }

  /** Applies each fact before the next one is read. */
  #applyAll(facts: Iterable<TransactionFact>): void {
    for (const { transaction, event } of facts)
      if (event === null) this.#look.set()
      else this.#apply(transaction, event)
  }

  #apply(transaction: TrackedTransaction, event: TransactionEvent): void {
    try {
      if (transaction.isOver || !transaction.apply(event)) return
      this.#writer.add(transaction)
      const nowMs = this.#deps.clock.now()
      if (transaction.state === 'failing') {
        // Only a status tells the error.
        transaction.askAtMs = 0
        this.#look.set()
      }
      this.#loop.adjust(transaction, nowMs)
      if (transaction.isOver) this.#deps.metrics.ended(transaction.ended)
    } catch (fault) {
      this.#fail(transaction, fault)
    }
  }

  /** Forgets a transaction after a fault of its own: the next list of its shard takes it up again. */
  #fail(transaction: TrackedTransaction, fault: unknown): void {
    const { tenant, signature } = transaction.value
    const message = fault instanceof Error ? fault.message : String(fault)
    this.#faults++
    this.#lastFault = { message, at: this.#deps.clock.now() }
    this.#deps.report(
      new Error(`tracking transaction ${signature} of tenant ${tenant} failed and is restarted: ${message}`, {
        cause: fault
      })
    )
    this.#remove(transaction)
  }

  #end(transaction: TrackedTransaction): void {
    this.#remove(transaction)
    const reopened = this.#reopened.get(transaction)
    if (reopened === undefined) return this.#lists.noteEnd(transaction.value)
    this.reopen(reopened, transaction.claim, transaction.progress(this.#deps.clock.now()))
  }

  #remove(transaction: TrackedTransaction): void {
    transaction.isDropped = true
    this.#loop.delete(transaction)
    this.#places.forget(transaction)
    transaction.unwatch()
    this.#table.delete(transaction)
  }
}

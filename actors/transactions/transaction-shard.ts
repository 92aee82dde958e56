import type { PublishedChange } from '../../src/transactions/change-batch.ts'
import { progressAsPublished, publishedState } from '../../src/transactions/changes.ts'
import {
  partitionsOf,
  SUBMISSION,
  type Submission,
  type SubmissionIndex,
  type SubmissionProgress
} from '../../src/transactions/submission.ts'
import { isEnd } from '../../src/transactions/progress.ts'
import { storeEnd } from '../../src/transactions/submission-end.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { withTtl } from '../../storage/document-definition.ts'
import { Documents, PAGE_MAX, type Stored } from '../../storage/documents.ts'
import type { Clock } from '../../src/ports.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import type { OwnedShard } from '../shards/shard-owner.ts'
import type { Bundle } from '../../src/transactions/bundle.ts'
import type { BundleTracker } from './bundle-tracker.ts'
import type { ChangeLog } from './change-log.ts'
import { LandingRechecks } from './landing-rechecks.ts'
import type { Tracker } from './tracker.ts'

/** The submissions and bundles of one shard, while this process has it. */
export class TransactionShard implements OwnedShard {
  readonly name: string
  readonly claim: ShardClaim
  readonly #tracker: Tracker
  /** Null if no block engine is configured. */
  readonly #bundles: BundleTracker | null
  readonly #documents: Documents<Submission, SubmissionIndex, never, SubmissionProgress>
  readonly #rechecks: LandingRechecks
  /** Documents by version, as they were listed last: unchanged ones are not parsed again. */
  #listed: ReadonlyMap<string, Stored<Submission>> = new Map()
  readonly #changes: Pick<ChangeLog, 'restore'>
  /** The changes published to tenants before this process had the shard, by tenant and signature. */
  readonly #published = new Map<string, Promise<ReadonlyMap<string, PublishedChange>>>()
  /** Whether all submissions that a previous process may have tracked were listed. */
  #isTakenOver = false
  #isStopping = false
  #syncing: Promise<void> | null = null

  constructor(
    name: string,
    claim: ShardClaim,
    documents: DocumentStore,
    {
      tracker,
      bundles,
      changes,
      clock,
      retentionMs
    }: {
      readonly tracker: Tracker
      readonly bundles: BundleTracker | null
      readonly changes: Pick<ChangeLog, 'restore'>
      readonly clock: Clock
      /** Milliseconds that a submission is kept from its end; null for ever. */
      readonly retentionMs: number | null
    }
  ) {
    this.name = name
    this.claim = claim
    this.#tracker = tracker
    this.#bundles = bundles
    this.#changes = changes
    this.#documents = new Documents(documents, withTtl(SUBMISSION, retentionMs))
    this.#rechecks = new LandingRechecks(this.#documents, { tracker, clock, claim })
  }

  /** Adopts the tracked submissions of the store that are not tracked here. Rejects with the store's error. */
  sync(): Promise<void> {
    this.#syncing ??= this.#tracker.listing(() => this.#sync()).finally(() => (this.#syncing = null))
    return this.#syncing
  }

  /** Begins a submission that was stored just now, or applies a repeated request to it. */
  begin(stored: Stored<Submission>): void {
    if (this.#isStopping) return
    const { tenant, signature, resumedAtMs } = stored.value
    const tracked = this.#tracker.find(tenant, signature)
    if (tracked !== undefined) this.#tracker.repeat(tracked, stored)
    // It may have been tracked before, and its sends are counted on.
    else if (resumedAtMs === undefined) this.#tracker.begin(stored, this.claim)
    else this.#reopen(stored).catch(() => undefined)
  }

  /** Begins a bundle that was stored just now. */
  beginBundle(stored: Stored<Bundle>): void {
    if (!this.#isStopping) this.#bundles?.begin(stored)
  }

  /** Number of tracked bundles. */
  get bundles(): number {
    return this.#bundles?.size ?? 0
  }

  async stop(kill: AbortSignal): Promise<void> {
    this.#isStopping = true
    await Promise.all([this.#tracker.drop(this.claim, kill), this.#bundles?.stop()])
  }

  async #sync(): Promise<void> {
    const listed = new Map<string, Stored<Submission>>()
    for (const partition of partitionsOf(this.name)) {
      let after: string | null = null
      do {
        if (this.#isStopping) return
        const options = { limit: PAGE_MAX, after }
        const { documents, next } = await this.#documents.listBy('tracked', partition, options, (version) =>
          this.#listed.get(version)
        )
        await this.#adopt(documents)
        for (const each of documents) listed.set(each.version, this.#leanOf(each))
        after = next
      } while (after !== null)
      await this.#bundles?.sync(partition)
      await this.#rechecks.begin(partition)
    }
    this.#listed = listed
    this.#isTakenOver = true
    this.#published.clear()
  }

  /** Adopts a submission that a repeated request has opened again. If that fails, the next list of the shard adopts it. */
  async #reopen(stored: Stored<Submission>): Promise<void> {
    const [progress = null] = await this.#documents.hot([stored])
    if (this.#isStopping || this.claim.lost.aborted) return
    this.#tracker.reopen(stored, this.claim, progress)
  }

  /** Returns a listed submission, or its tracked copy if there is one, so that no submission is held twice. */
  #leanOf(listed: Stored<Submission>): Stored<Submission> {
    const { tenant, signature } = listed.value
    return this.#tracker.find(tenant, signature)?.reference ?? listed
  }

  async #adopt(documents: readonly Stored<Submission>[]): Promise<void> {
    const added = documents.filter((listed) => !this.#isTracked(listed))
    if (added.length === 0) return
    const progress = await this.#documents.hot(added)
    for (const [at, stored] of added.entries()) {
      const known = progress[at] ?? null
      const published = await this.#publishedChange(stored.value, known)
      if (this.#isStopping || this.claim.lost.aborted) return
      if (known === null || published === null) {
        this.#tracker.adopt(stored, this.claim, known, published && publishedState(published))
        continue
      }
      const newest = progressAsPublished(known, published)
      if (isEnd(newest)) await this.#end(stored, newest)
      else this.#tracker.adopt(stored, this.claim, newest, publishedState(published))
    }
  }

  /** Tells whether a listed submission is tracked here. Applies a repeated request that no hint has announced. */
  #isTracked(listed: Stored<Submission>): boolean {
    const { tenant, signature } = listed.value
    const tracked = this.#tracker.find(tenant, signature)
    if (tracked !== undefined && tracked.reference.version !== listed.version)
      this.#tracker.repeat(tracked, listed)
    return tracked !== undefined
  }

  /** Returns the change that an earlier process last published to a tenant, or null. */
  async #publishedChange(
    { tenant, signature }: Submission,
    progress: SubmissionProgress | null
  ): Promise<PublishedChange | null> {
    if (this.#isTakenOver || progress?.token === this.claim.token) return null
    let published = this.#published.get(tenant)
    if (published === undefined) {
      published = this.#changes.restore(tenant)
      this.#published.set(tenant, published)
      published.catch(() => this.#published.delete(tenant))
    }
    return (await published).get(signature) ?? null
  }

  /** Stores an end that a process published to the tenant, but died before storing. */
  async #end({ value }: Stored<Submission>, end: SubmissionProgress): Promise<void> {
    await storeEnd(this.#documents, value, { ...end, token: this.claim.token })
  }
}

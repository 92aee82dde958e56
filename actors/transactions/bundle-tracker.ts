import { sleep, type Clock } from '../../src/ports.ts'
import { BUNDLE, firstProgress, type Bundle, type BundleProgress } from '../../src/transactions/bundle.ts'
import { statusesOrCached } from '../../src/transactions/absence.ts'
import type {
  BlockSightings,
  BundleEngine,
  SightedBlock,
  SignatureStatus,
  TransactionNode
} from '../../src/transactions/ports.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { withTtl } from '../../storage/document-definition.ts'
import { Documents, PAGE_MAX, type Stored } from '../../storage/documents.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'
import { retryUntilAvailable, type RetryPolicy } from '../storage/retry.ts'
import { BundleExpiry } from './bundle-expiry.ts'
import { TrackedBundle } from './tracked-bundle.ts'

export interface BundleTrackerDeps {
  readonly documents: DocumentStore
  /** Milliseconds that a bundle is kept from its end; null for ever. */
  readonly retentionMs: number | null
  readonly claim: ShardClaim
  /** Whether other processes have the store. */
  readonly isShared: boolean
  readonly engine: BundleEngine
  readonly node: Pick<TransactionNode, 'statuses' | 'height' | 'isBlockhashValid'>
  readonly sightings: BlockSightings
  readonly clock: Clock
  /** Called with faults of nodes and of the store that the tracker survives. */
  readonly report: (error: unknown) => void
}

/** Poll interval of the chain, in milliseconds: two slots and a half. Sightings come at once. */
const CHECK_MS = 1_000
/** Maximum signatures of one `getSignatureStatuses` (Agave, MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS). */
const STATUSES_MAX = 256

/**
 * Submits and tracks the bundles of one shard while this process has it.
 *
 * T1. A bundle is submitted after it was stored, and each step is stored under the shard's token before it counts. While
 *     another process may have the shard, a step counts only if a read shows no greater token. A bundle of another process
 *     is fenced before its progress is read. So two processes never submit one bundle at once.
 * T2. Its end comes from the chain: either members are in blocks, or none can land any more. The evidence for the latter:
 *     the confirmed height is above the last valid one, as blocks or time confirm; a node says that each blockhash is
 *     invalid; and statuses at that slot prove that no further member has landed (`isAbsent`).
 * T3. If no node can tell its end, it is followed only for a limited time. Its tracking then ends at the last known state.
 */
export class BundleTracker {
  readonly #deps: BundleTrackerDeps
  readonly #documents: Documents<Bundle, 'tracked', never, BundleProgress>
  readonly #retry: RetryPolicy
  readonly #expiry: BundleExpiry
  readonly #bundles = new Map<string, TrackedBundle>()
  readonly #unwatch = new Map<string, (() => void)[]>()
  readonly #stopping = new AbortController()
  readonly #end: AbortSignal
  readonly #unsubscribe: () => void
  /** The slot of the last statuses; 0 before. */
  #contextSlot = 0
  #checking = Promise.resolve()
  #isChecking = false

  constructor(deps: BundleTrackerDeps) {
    this.#deps = deps
    this.#documents = new Documents(deps.documents, withTtl(BUNDLE, deps.retentionMs))
    this.#retry = retryUntilAvailable(deps.clock)
    this.#end = AbortSignal.any([this.#stopping.signal, deps.claim.lost])
    this.#expiry = new BundleExpiry({
      ...deps,
      readHistory: (bundle) => this.#readStatuses([bundle], { history: true, everyNode: true })
    })
    this.#unsubscribe = deps.sightings.subscribe({
      seen: (block) => this.#see(block),
      lost: (afterSlot) => this.#lose(afterSlot)
    })
  }

  /** Number of tracked bundles. */
  get size(): number {
    return this.#bundles.size
  }

  /** Starts to track a bundle that was just stored. */
  begin(stored: Stored<Bundle>): void {
    this.#track(stored, firstProgress(stored.value, this.#deps.claim.token))
  }

  /** Adopts all bundles of a partition that are not tracked yet. Rejects with the store's error. */
  async sync(partition: string): Promise<void> {
    let after: string | null = null
    do {
      const page = await this.#documents.listBy('tracked', partition, { limit: PAGE_MAX, after })
      const fresh = page.documents.filter(({ value }) => !this.#bundles.has(keyOf(value)))
      await this.#adopt(fresh)
      after = page.next
    } while (after !== null && !this.#end.aborted)
  }

  /** Ends the tracking; other processes resume from the stored state. Resolves once all writes have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#unsubscribe()
    for (const bundle of this.#bundles.values()) bundle.close()
    for (const unwatch of this.#unwatch.values()) for (const each of unwatch) each()
    await this.#checking
    await Promise.all([...this.#bundles.values()].map(({ settled }) => settled))
    this.#bundles.clear()
  }

  /** Adopts bundles of another process: its writes after the fence are dropped, and it notices the fence when it reads. */
  async #adopt(fresh: readonly Stored<Bundle>[]): Promise<void> {
    const { claim, isShared } = this.#deps
    const found = await (isShared
      ? Promise.all(fresh.map((each) => this.#documents.fenceHot(each, claim.token)))
      : this.#documents.fencedHot(fresh))
    for (const [at, stored] of fresh.entries()) {
      const { token, hot } = found[at]!
      if (token > claim.token) return claim.outranked(token)
      this.#track(stored, hot ?? firstProgress(stored.value, claim.token))
    }
  }

  /** Stores a step. Rejects where another process has the shard. */
  async #write(stored: Stored<Bundle>, progress: BundleProgress): Promise<void> {
    const { claim } = this.#deps
    await this.#documents.putHot(stored, claim.token, progress)
    if (claim.held) return
    const [found] = await this.#documents.fencedHot([stored])
    if (found!.token > claim.token) claim.outranked(found!.token)
    claim.lost.throwIfAborted()
  }

  #track(stored: Stored<Bundle>, progress: BundleProgress): void {
    const key = keyOf(stored.value)
    if (this.#end.aborted || this.#bundles.has(key) || stored.value.end !== null) return
    const { engine, clock, claim, sightings } = this.#deps
    const bundle = new TrackedBundle(stored, progress, {
      engine,
      clock,
      token: claim.token,
      unsearchedTo: sightings.readTo,
      signal: this.#end,
      write: (document, next) => this.#retry(() => this.#write(document, next), this.#end),
      finish: (document, end) => this.#finish(document, end),
      failed: (error) => this.#fail(error)
    })
    if (bundle.isDone) {
      // The previous process died between the last progress and the end of the document.
      this.#finish(stored, bundle.progress).catch((error: unknown) => this.#fail(error))
      return
    }
    this.#bundles.set(key, bundle)
    this.#unwatch.set(
      key,
      stored.value.signatures.map((signature) => sightings.watch(signature))
    )
    if (!this.#isChecking) this.#checking = this.#check()
    void bundle.submit()
  }

  async #finish(stored: Stored<Bundle>, end: BundleProgress): Promise<void> {
    await this.#retry(
      () =>
        this.#documents.change(stored, (value) =>
          value.end === null ? { ...value, wires: null, end } : value
        ),
      this.#end
    )
    this.#forget(keyOf(stored.value))
  }

  #forget(key: string): void {
    this.#bundles.get(key)?.close()
    this.#bundles.delete(key)
    for (const each of this.#unwatch.get(key) ?? []) each()
    this.#unwatch.delete(key)
  }

  #fail(error: unknown): void {
    if (!this.#end.aborted) this.#deps.report(error)
  }

  #see({ slot, commitment, sightings }: SightedBlock): void {
    if (this.#bundles.size === 0) return
    const seen = new Map(sightings.map((each) => [each.signature, each]))
    for (const bundle of this.#bundles.values()) {
      const own = bundle.stored.value.signatures.flatMap((signature) => seen.get(signature) ?? [])
      const failedBySignature = new Map(own.map(({ signature, failed }) => [signature, failed]))
      bundle.members.noteBlock(slot, commitment, failedBySignature)
      // The error of a failed member comes with its status.
      if (own.some(({ failed }) => failed)) continue
      bundle.settle().catch((error: unknown) => this.#fail(error))
    }
  }

  #lose(afterSlot: number): void {
    for (const bundle of this.#bundles.values()) {
      bundle.members.noteLost(afterSlot)
      bundle.settle().catch((error: unknown) => this.#fail(error))
    }
  }

  /** Polls the chain every `CHECK_MS`, and submits waiting bundles, as long as there are bundles. */
  async #check(): Promise<void> {
    const { clock } = this.#deps
    this.#isChecking = true
    while (!this.#end.aborted && this.#bundles.size > 0) {
      await sleep(clock, CHECK_MS, this.#end)
      if (this.#end.aborted) break
      for (const bundle of this.#bundles.values()) void bundle.submit()
      try {
        await this.#poll()
        await this.#expiry.check([...this.#bundles.values()], this.#end)
      } catch (error) {
        this.#fail(error)
      }
    }
    this.#isChecking = false
  }

  /** Reads the statuses of all bundles: recent ones from the caches of nodes, others also from their histories. */
  async #poll(): Promise<void> {
    const { sightings, node } = this.#deps
    const all = [...this.#bundles.values()]
    for (const bundle of all) {
      if (bundle.members.hasSeenBlockhashes || bundle.members.absentSlot !== null) continue
      const { blockhashes } = bundle.stored.value
      const unread = blockhashes.filter(
        (each) => (sightings.lastValidBlockHeight(each) ?? -1) < (sightings.heights?.last ?? Infinity)
      )
      const answers = await Promise.all(unread.map((each) => node.isBlockhashValid(each, this.#end)))
      bundle.members.hasSeenBlockhashes = blockhashes.length > 0 && answers.every(({ isValid }) => isValid)
    }
    const kindOf = (bundle: TrackedBundle): 'history' | 'everyNode' | 'recent' => {
      if (bundle.needsHistory(this.#contextSlot)) return 'history'
      return bundle.members.isFinalToOne ? 'everyNode' : 'recent'
    }
    const { history = [], everyNode = [], recent = [] } = Object.groupBy(all, kindOf)
    await this.#readStatuses(recent, { history: false, everyNode: false })
    await this.#readStatuses(everyNode, { history: false, everyNode: true })
    await this.#readStatuses(history, { history: true, everyNode: true })
  }

  /** Reads the statuses of all members of some bundles. Returns the lowest slot of the answers. */
  async #readStatuses(
    bundles: readonly TrackedBundle[],
    { history, everyNode }: { readonly history: boolean; readonly everyNode: boolean }
  ): Promise<number> {
    const { node } = this.#deps
    const signatures = bundles.flatMap(({ stored }) => stored.value.signatures)
    const found = new Map<string, SignatureStatus | null>()
    let contextSlot = Infinity
    let isWhole = history
    for (let at = 0; at < signatures.length; at += STATUSES_MAX) {
      const batch = signatures.slice(at, at + STATUSES_MAX)
      const answer = await statusesOrCached(node, batch, { history, everyNode }, this.#end)
      contextSlot = Math.min(contextSlot, answer.contextSlot)
      isWhole &&= answer.isWhole
      for (const [index, signature] of batch.entries()) found.set(signature, answer.statuses[index] ?? null)
    }
    if (signatures.length > 0) this.#contextSlot = contextSlot
    for (const bundle of bundles) {
      bundle.members.noteAnswer(found, { contextSlot, isWhole }, history)
      await bundle.settle()
    }
    return contextSlot
  }
}

const keyOf = ({ tenant, bundleId }: Bundle): string => `${tenant}/${bundleId}`

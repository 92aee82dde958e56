import { bundleMachine, type BundleEvent } from '../../machines/bundle.machine.ts'
import { compiled } from '../../machines/compiled.ts'
import { RECENT_MS } from '../../src/transactions/absence.ts'
import { LOOK_BACK_MS, type EngineStatus } from '../../src/transactions/engine/answers.ts'
import { BUNDLE_REASONS } from '../../src/transactions/bodies/bundle.ts'
import type { Bundle, BundleProgress, BundleReason } from '../../src/transactions/bundle.ts'
import type { Landing } from '../../src/transactions/bundle-landing.ts'
import type { BlockSightings, BundleEngine } from '../../src/transactions/ports.ts'
import { FOLLOWED_MS } from '../../src/transactions/submission.ts'
import type { Clock } from '../../src/ports.ts'
import type { Stored } from '../../storage/documents.ts'
import { BundleMembers } from './bundle-members.ts'

/**
 * Milliseconds after an unsure submission before the engine's `Invalid` (it does not know the bundle) counts. The
 * engine calls a bundle that it has just taken `Invalid` for some seconds.
 */
const UNSURE_MS = 10_000
/** States in which the bundle's status is requested from the engine. */
const FOLLOWED: readonly BundleProgress['state'][] = ['unsure', 'pending', 'rejected']

const BUNDLE_TABLE = compiled(bundleMachine)

export interface TrackedBundleDeps {
  readonly engine: BundleEngine
  readonly clock: Clock
  readonly token: number
  /** The highest slot of the blocks that were read before they were searched for the bundle. */
  readonly unsearchedTo: number
  /** Stores a progress; the next event waits for it. Rejects when the tracking ends. */
  readonly write: (bundle: Stored<Bundle>, progress: BundleProgress) => Promise<void>
  /** Stores the end of a bundle. */
  readonly finish: (bundle: Stored<Bundle>, end: BundleProgress) => Promise<void>
  /** Called with an error that ends the tracking of this bundle in this process. */
  readonly failed: (error: unknown) => void
  readonly signal: AbortSignal
}

/** One bundle while a process tracks it: its progress, its members on chain, and its submission. */
export class TrackedBundle {
  readonly stored: Stored<Bundle>
  readonly members: BundleMembers
  #progress: BundleProgress
  readonly #deps: TrackedBundleDeps
  /** The events so far, one after another. */
  #work: Promise<void> = Promise.resolve()
  #unfollow: (() => void) | null = null
  #notBeforeMs = 0
  #isSubmitting = false
  readonly #takenUpAtMs: number
  /** Whether it was offered to a region, as far as this process knows. */
  #wasSubmitted: boolean

  /** Takes the stored progress; a submission that was cut short is unsure. */
  constructor(stored: Stored<Bundle>, progress: BundleProgress, deps: TrackedBundleDeps) {
    this.stored = stored
    const { state: known, slot } = progress
    const landed =
      slot !== null && (known === 'processed' || known === 'confirmed')
        ? { slot, commitment: known, hasFailed: false, err: null }
        : null
    this.members = new BundleMembers(stored.value, { landed, ...deps })
    this.#takenUpAtMs = deps.clock.now()
    const state = progress.state === 'submitting' ? 'unsure' : progress.state
    this.#progress = { ...progress, state, token: deps.token }
    this.#wasSubmitted = progress.submittedAtMs !== null
    this.#deps = deps
    this.#follow()
  }

  get progress(): BundleProgress {
    return this.#progress
  }

  get isDone(): boolean {
    return this.#progress.state === 'failed' || this.#progress.state === 'finalized'
  }

  get landing(): Landing {
    return this.members.landing
  }

  /** Resolves when all events so far are stored. */
  get settled(): Promise<void> {
    return this.#work
  }

  /** Ends the polls; what is stored stays. */
  close(): void {
    this.#unfollow?.()
    this.#unfollow = null
  }

  /** Submits the bundle if it waits for that. Never rejects. */
  async submit(): Promise<void> {
    const { engine, clock, signal } = this.#deps
    const { wires, bundleId } = this.stored.value
    const isDue = this.#progress.state === 'queued' && clock.now() >= this.#notBeforeMs
    if (!isDue || this.#isSubmitting || wires === null) return
    this.#isSubmitting = true
    try {
      const outcome = await engine.submitBundle(wires, signal, {
        tenant: this.stored.value.tenant,
        rank: this.#wasSubmitted ? 'bundle' : 'first',
        begin: () => this.#begin()
      })
      if (outcome.kind !== 'deferred' && outcome.kind !== 'withdrawn') this.#wasSubmitted = true
      switch (outcome.kind) {
        case 'accepted':
          return await this.apply(
            { type: 'submission.accepted' },
            { engineId: outcome.id === bundleId ? null : outcome.id }
          )
        case 'deferred':
          this.#notBeforeMs = clock.now() + outcome.waitMs
          return await this.apply({ type: 'submission.deferred' }, {})
        case 'withdrawn':
          return
        case 'unsure':
          return await this.apply({ type: 'submission.unsure' }, {})
        case 'refused':
          return await this.apply(
            { type: 'submission.refused' },
            {
              err: { code: outcome.code, message: outcome.message },
              reason: /simulat/i.test(outcome.message) ? 'simulation_failure' : null
            }
          )
      }
    } catch (error) {
      this.#deps.failed(error)
    } finally {
      this.#isSubmitting = false
    }
  }

  /** Stores that the engine is about to be called. Returns whether the bundle is still to be submitted. */
  async #begin(): Promise<boolean> {
    if (this.#progress.state !== 'queued') return false
    await this.apply({ type: 'submission.began' }, { submittedAtMs: this.#deps.clock.now() })
    return (this.#progress.state as BundleProgress['state']) === 'submitting'
  }

  /** Tells whether the histories of nodes are searched: their caches may no longer have the blocks of its members. */
  needsHistory(contextSlot: number): boolean {
    const sinceMs = this.#progress.submittedAtMs ?? this.stored.value.receivedAtMs
    return this.#deps.clock.now() - sinceMs > RECENT_MS || this.members.areBeyondCache(contextSlot)
  }

  /** Moves to the state that the members on chain give. */
  async settle(): Promise<void> {
    const { landing } = this
    const { state, slot } = this.#progress
    const isLanded = state === 'processed' || state === 'confirmed'
    switch (landing.kind) {
      case 'landed':
        if (state === landing.commitment && slot === landing.slot) return
        if (isLanded && slot !== landing.slot)
          await this.apply({ type: 'members.lost' }, { slot: null, wasLost: true })
        return this.apply(
          { type: `members.${landing.commitment}` },
          { slot: landing.slot, err: null, reason: null }
        )
      case 'split':
        return this.apply(
          { type: 'members.split' },
          { slot: null, err: landing.err, reason: 'partially_processed' }
        )
      default:
        if (isLanded) await this.apply({ type: 'members.lost' }, { slot: null, wasLost: true })
    }
  }

  /**
   * Returns the last block height at which a member can land. If the height of a blockhash is not known, the given bound
   * counts; it is stored at the first use.
   */
  lastValidBlockHeight(sightings: Pick<BlockSightings, 'lastValidBlockHeight'>, bound: number): number {
    const known = this.#progress.lastValidBlockHeight
    if (known !== null) return known
    const { blockhashes } = this.stored.value
    const last = Math.max(...blockhashes.map((each) => sightings.lastValidBlockHeight(each) ?? bound))
    this.#progress = { ...this.#progress, lastValidBlockHeight: last }
    return last
  }

  /** Ends the bundle: none of its members can land any more. */
  expire(): Promise<void> {
    const { state, wasLost, reason, err } = this.#progress
    const isPartial = this.landing.kind !== 'none'
    const why: BundleReason | null = isPartial
      ? 'partially_processed'
      : state === 'rejected'
        ? reason
        : wasLost
          ? 'not_finalized'
          : 'blockhash_expired'
    return this.apply({ type: 'members.expired' }, { slot: null, reason: why, err })
  }

  /** Ends a bundle on durable nonces that the engine has forgotten. */
  drop(): Promise<void> {
    return this.apply({ type: 'members.expired' }, { slot: null, reason: 'dropped_bundle' })
  }

  /**
   * Tells whether it was followed for long enough without a known end: ten minutes in which nodes without history did not
   * find it, or a day since its reception.
   */
  isFollowedEnough(nowMs: number): boolean {
    if (nowMs - (this.members.unknowableSinceMs ?? Infinity) >= FOLLOWED_MS.here) return true
    const { receivedAtMs } = this.stored.value
    return nowMs >= receivedAtMs + FOLLOWED_MS.sinceReception && nowMs >= this.#takenUpAtMs + FOLLOWED_MS.here
  }

  /** Ends the tracking of a bundle whose end cannot be known, at its last known state. */
  abandon(): Promise<void> {
    const ended = this.#work.then(async () => {
      this.#deps.signal.throwIfAborted()
      if (!this.isDone) await this.#deps.finish(this.stored, this.#progress)
    })
    this.#work = ended.catch(() => undefined)
    return ended
  }

  /** Stores the change that an event makes, if it makes one. Events are applied one after another. */
  apply(event: BundleEvent, change: Partial<BundleProgress>): Promise<void> {
    const applied = this.#work.then(() => this.#apply(event, change))
    this.#work = applied.catch(() => undefined)
    return applied
  }

  async #apply(event: BundleEvent, change: Partial<BundleProgress>): Promise<void> {
    const { clock, write, finish, signal } = this.#deps
    signal.throwIfAborted()
    const before = this.#progress
    const snapshot = { ...BUNDLE_TABLE.initial, value: before.state }
    const { value: state, status } = BUNDLE_TABLE.next(snapshot, event)
    if (state === before.state) return
    const progress = { ...before, ...change, state, updatedAtMs: clock.now() }
    await write(this.stored, progress)
    if (status === 'done') await finish(this.stored, progress)
    this.#progress = progress
    this.#follow()
  }

  #follow(): void {
    const { engine } = this.#deps
    if (!FOLLOWED.includes(this.#progress.state)) return this.close()
    const id = this.#progress.engineId ?? this.stored.value.bundleId
    this.#unfollow ??= engine.follow(id, (status) => {
      this.#noteStatus(status).catch(this.#deps.failed)
    })
  }

  async #noteStatus({ kind, reason, err }: EngineStatus): Promise<void> {
    const sinceMs = this.#deps.clock.now() - (this.#progress.submittedAtMs ?? 0)
    if (kind === 'pending') return this.apply({ type: 'engine.pending' }, { err: null, reason: null })
    if (kind === 'failed')
      return this.apply(
        { type: 'engine.failed' },
        { err, reason: BUNDLE_REASONS.find((known) => known === reason) ?? null }
      )
    if (kind !== 'unknown') return
    if (sinceMs > LOOK_BACK_MS) {
      this.close()
      if (this.stored.value.blockhashes.length === 0) await this.drop()
    } else if (sinceMs > UNSURE_MS) await this.apply({ type: 'engine.unknown' }, {})
  }
}

import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { ChainTick } from '../../src/program-accounts/chain-watch.ts'
import { SettledSlots } from '../../src/program-accounts/settled-slots.ts'
import { PendingUpdates, type PendingLimits } from '../../src/program-accounts/pending-updates.ts'
import type { ProgramSubscription } from '../../src/program-accounts/ports.ts'
import type { MirrorProgress } from '../../src/program-accounts/program.ts'
import type { AccountVersion, IndexedRange } from '../../storage/port.ts'
import { sleep } from '../../src/ports.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'
import { AccountIndexes } from './account-indexes.ts'
import type { ProgramMirrorDeps } from './mirror-deps.ts'
import { StoreError } from './mirror-store.ts'
import { MirroredAccounts, MirrorFull } from './mirrored-accounts.ts'
import { readSnapshot } from './read-snapshot.ts'
import type { Snapshot } from './snapshot-differences.ts'
import { UpdateCheck } from './update-check.ts'

/**
 * Delay from the block, at the index and at the node, until its updates count as complete, in milliseconds. Nodes send them
 * within 100 ms. An even later update is noticed.
 */
const SETTLE_MS = 1_000
/** Interval of audits, which compare the mirror with a new snapshot, in milliseconds. A scan is expensive for a node. */
const AUDIT_MS = 600_000
/** Interval of audits if this process does not read blocks, in milliseconds. Only audits then find closed accounts. */
const AUDIT_WITHOUT_BLOCKS_MS = 60_000
/** Delay until a gap is repaired though the index has no later block, in milliseconds. Slots are confirmed within two seconds. */
const CONFIRMED_MS = 5_000
/** Poll interval without an event, in milliseconds. */
const POLL_INTERVAL_MS = 250
/** Poll interval while an index is built, in milliseconds. The process has other work, too. */
const BUILD_MS = 10
/** Delay until a program that is too large is read again, in milliseconds. Its snapshot is the most expensive one for a node. */
const FULL_MS = 600_000
/** Updates that wait for their slot: some hundred slots of the busiest program. At the limit a snapshot repairs the gap. */
const PENDING: PendingLimits = { versionsMax: 50_000, bytesMax: 64 * 2 ** 20 }

/** The reason why a mirror begins again with a snapshot; counted by metrics. */
type GapKind = 'start' | 'connection' | 'blocks' | 'late' | 'full'
/** Gaps that leave the stored state exact: the mirror only lacks what came after. */
const EXACT_BEFORE: ReadonlySet<GapKind> = new Set(['start', 'connection', 'full'])

/** The end of a mirror by its node: it has been logged, and stands in the mirror's progress. */
export class MirrorStopped extends Error {}

interface Gap {
  readonly kind: GapKind
  readonly reason: string
  readonly atMs: number
}

/**
 * Mirrors the accounts of one program.
 *
 * M1. The state at `slot` is complete and exact: a snapshot as of a slot, or all updates up to it. Readers see that slot, earlier
 *     ones that were it, and those that `exactSlotUpTo` finds.
 * M2. Updates are held until their slot is complete: the index and the subscribed node have the block, and a later round trip
 *     shows that the node's messages have come. A later update is a gap.
 * M3. A gap ends the advance until a snapshot as of a newer slot is stored: its differences become versions of that slot.
 * M4. A mirror that ended may have written versions after its progress, and a process that has lost its lease may still write
 *     them. The next mirror abandons the slots between that progress and its snapshot: their versions count as not there.
 */
export class ProgramMirror {
  readonly name: string
  readonly #program: Pubkey
  readonly #deps: ProgramMirrorDeps
  readonly #mirrored: MirroredAccounts
  readonly #pending: PendingUpdates
  readonly #check: UpdateCheck
  readonly #indexes: AccountIndexes
  readonly #settled = new SettledSlots()
  readonly #wake = new AutoResetEvent()
  /** Slots up to this one are in the last snapshot. */
  #baseline = -1
  #gap: Gap | null = null
  /** The slot up to which the current or last gap may reach; null until the node has sent a slot. */
  #gapSlot: number | null = null
  #hasBlocks = false
  /** Whether pending updates include corrections, whose slots are those of the answers. */
  #isCorrected = false
  #auditAtMs = 0
  /** Whether the program was too large. */
  #isFull = false

  constructor(
    name: string,
    program: Pubkey,
    declared: () => readonly IndexedRange[],
    progress: MirrorProgress,
    save: (progress: MirrorProgress) => Promise<void>,
    deps: ProgramMirrorDeps
  ) {
    this.name = name
    this.#program = program
    this.#deps = deps
    this.#mirrored = new MirroredAccounts(program, progress, save, deps)
    this.#indexes = new AccountIndexes(name, program, declared, this.#mirrored, deps)
    this.#pending = new PendingUpdates(deps.pending ?? PENDING)
    this.#check = new UpdateCheck(program, {
      ...deps,
      newest: (each) => this.#mirrored.newest(each),
      correct: (version) => {
        deps.metrics.repaired.inc()
        this.#isCorrected = true
        if (!this.#pending.add(version)) this.#overflow()
      }
    })
  }

  get progress(): MirrorProgress {
    return this.#mirrored.progress
  }

  get pending(): number {
    return this.#pending.size
  }

  /**
   * Mirrors until `end` aborts. Rejects with MirrorStopped once the subscription or a snapshot fails: a further call goes on.
   * Rejects with the store's error.
   */
  async run(end: AbortSignal): Promise<void> {
    const { logger, metrics } = this.#deps
    await this.#mirrored.loseEmptied()
    // At this time there are usually no accounts to scan yet.
    if (this.progress.slot === null) while (!end.aborted && (await this.#indexes.step()));
    this.#isFull = false
    const reason = await this.#session(end)
    if (end.aborted) return
    metrics.failures.inc()
    logger.warn(`the mirror of program ${this.name} has stopped and restarts: ${reason}`)
    await this.#mirrored.put({ reason })
    if (this.#isFull) await sleep(this.#deps.clock, FULL_MS, end)
    if (end.aborted) return
    throw new MirrorStopped(reason)
  }

  /** Runs until the subscription or a snapshot fails. Resolves with the reason; rejects with the store's error. */
  async #session(end: AbortSignal): Promise<string> {
    const { subscribe, watch } = this.#deps
    this.#pending.clear()
    this.#isCorrected = false
    this.#check.forget(Infinity)
    this.#settled.clear()
    this.#baseline = -1
    this.#gap = null
    this.#gapSlot = null
    this.#miss(this.progress.slot === null ? 'start' : 'connection', 'it has just connected')
    const over = new AbortController()
    const ending = AbortSignal.any([end, over.signal])
    let reason = ''
    let subscription: ProgramSubscription | null = null
    const unwatch = watch.subscribe(this.#program, {
      tick: (tick) => this.#tick(tick),
      missed: (why) => this.#miss('blocks', why)
    })
    try {
      const listener = {
        update: (version: AccountVersion) => this.#update(version),
        processed: (slot: number) => this.#see(slot)
      }
      subscription = await subscribe(this.#program, listener, end)
      void subscription.ended.then((why) => {
        reason = why
        over.abort()
      })
      await this.#follow(subscription, ending)
      return reason
    } catch (error) {
      if (ending.aborted && reason !== '') return reason
      if (error instanceof StoreError) throw error.cause
      this.#isFull = error instanceof MirrorFull
      return error instanceof Error ? error.message : String(error)
    } finally {
      unwatch()
      subscription?.close()
    }
  }

  async #follow(subscription: ProgramSubscription, end: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    while (!end.aborted) {
      const now = clock.now()
      const settled = this.#settledSlot(now)
      if (this.#gap !== null) {
        if (this.#mayRepair(this.#gap, now)) await this.#repair(end)
      } else if (now >= this.#auditAtMs) await this.#audit(subscription, end)
      else if (settled > this.progress.slot!) await this.#advance(subscription, settled, end)
      await this.#mirrored.prune()
      const isBuilding = await this.#indexes.step()
      await this.#wake.wait(clock, isBuilding ? BUILD_MS : POLL_INTERVAL_MS, end)
    }
  }

  #tick({ slot, closed, touched }: ChainTick): void {
    this.#hasBlocks = closed !== null
    for (const address of closed ?? [])
      if (!this.#isKnownPast(slot) && !this.#pending.addClosed({ address, slot, account: null }))
        this.#overflow()
    if (touched !== null && !this.#isKnownPast(slot)) this.#check.expect(slot, touched)
    this.#settled.add(slot - this.#deps.slotsUnconfirmed, this.#deps.clock.now())
  }

  #see(slot: number): void {
    this.#gapSlot ??= slot
    this.#settled.see(slot, this.#deps.clock.now())
  }

  #update(version: AccountVersion): void {
    const { slot } = version
    this.#deps.metrics.updates.inc()
    if (this.#isKnownPast(slot)) return
    if (this.#gap === null && slot <= (this.progress.slot ?? -1))
      return this.#miss(
        'late',
        `an update of slot ${slot} came after slot ${this.progress.slot} was complete`
      )
    if (!this.#pending.add(version)) this.#overflow()
  }

  /** Whether a slot is in the last snapshot. */
  #isKnownPast(slot: number): boolean {
    return slot <= this.#baseline
  }

  #overflow(): void {
    this.#miss('full', 'too many updates waited for their slot')
    this.#pending.clear()
  }

  #miss(kind: GapKind, reason: string): void {
    this.#gap ??= { kind, reason, atMs: this.#deps.clock.now() }
    // Updates so far are of slots that the node had processed.
    const { processed } = this.#settled
    if (processed >= 0) this.#gapSlot = processed
    this.#wake.set()
  }

  /** Whether nodes should have confirmed the slots of a gap; an earlier snapshot would be too old. */
  #mayRepair({ atMs }: Gap, now: number): boolean {
    if (this.#gapSlot === null) return false
    return this.#settled.newest >= this.#gapSlot || now - atMs >= CONFIRMED_MS
  }

  /** Returns the newest slot whose updates should have come. */
  #settledSlot(now: number): number {
    return this.#settled.since(now - (this.#deps.settleMs ?? SETTLE_MS))
  }

  /** Stores the updates up to a slot (M2). */
  async #advance(subscription: ProgramSubscription, slot: number, end: AbortSignal): Promise<void> {
    await subscription.roundTrip()
    if (this.#gap !== null) return
    if (!(await this.#check.isComplete(slot, this.#pending.upTo(slot), end)) || this.#gap !== null) return
    const isCorrected = this.#isCorrected
    this.#isCorrected = false
    await this.#mirrored.advance(slot, this.#pending.takeUpTo(slot), isCorrected)
    this.#deps.metrics.commits.inc()
  }

  /** Stores a snapshot after a gap (M3). */
  async #repair(end: AbortSignal): Promise<void> {
    const gap = this.#gap!
    await this.#mirrored.put({ reason: `a snapshot is being read: ${gap.reason}` })
    // Gaps from here on are of slots after the snapshot, or begin another one.
    this.#gap = null
    try {
      const snapshot = await this.#snapshot(end)
      const { slot, accounts } = snapshot
      this.#baseline = slot
      this.#pending.takeUpTo(slot)
      this.#check.forget(slot)
      const found = await this.#mirrored.replace(snapshot, () => !EXACT_BEFORE.has(gap.kind))
      this.#auditAtMs = this.#nextAuditMs()
      this.#deps.metrics.snapshots.inc({ reason: gap.kind })
      if (gap.kind !== 'start') this.#deps.metrics.repaired.inc(found)
      this.#deps.logger.info(
        `the mirror of program ${this.name} has ${accounts.length} accounts at slot ${slot}; ${found} differed from the stored ones`
      )
    } catch (error) {
      this.#gap ??= gap
      throw error
    }
  }

  /** Compares the mirror with a snapshot, and stores the differences. */
  async #audit(subscription: ProgramSubscription, end: AbortSignal): Promise<void> {
    this.#auditAtMs = this.#nextAuditMs()
    const snapshot = await this.#snapshot(end)
    const { slot } = snapshot
    while (this.#settledSlot(this.#deps.clock.now()) < slot) {
      if (end.aborted || this.#gap !== null) return
      await this.#wake.wait(this.#deps.clock, POLL_INTERVAL_MS, end)
    }
    if (slot > this.progress.slot!) await this.#advance(subscription, slot, end)
    if (this.#gap !== null || this.progress.slot !== slot) return
    const found = await this.#mirrored.replace(snapshot, (differences) => differences > 0)
    this.#baseline = slot
    this.#auditAtMs = this.#nextAuditMs()
    this.#deps.metrics.snapshots.inc({ reason: 'audit' })
    this.#deps.metrics.repaired.inc(found)
    if (found > 0)
      this.#deps.logger.warn(
        `an audit of program ${this.name} at slot ${slot} has found ${found} missed updates`
      )
  }

  #nextAuditMs(): number {
    const { auditMs, clock } = this.#deps
    return clock.now() + (auditMs ?? (this.#hasBlocks ? AUDIT_MS : AUDIT_WITHOUT_BLOCKS_MS))
  }

  /** Reads all accounts as of a slot at or after those of the mirror and of the gap. */
  #snapshot(end: AbortSignal): Promise<Snapshot> {
    const least = Math.max(this.#gapSlot ?? -1, this.progress.slot ?? -1)
    return readSnapshot(this.#deps, this.#program, least, end)
  }
}

import { compiled } from '../../machines/compiled.ts'
import { isStale } from '../../machines/landing.ts'
import {
  isLooping,
  transactionMachine,
  type TransactionContext,
  type TransactionEvent,
  type TransactionMachineState
} from '../../machines/transaction.machine.ts'
import type { EndedTransaction } from '../../src/transactions/metrics.ts'
import type { SightedBlock, SightedNonce } from '../../src/transactions/ports.ts'
import { Contradictions } from '../../src/transactions/contradictions.ts'
import { contextOf, progressOf } from '../../src/transactions/progress.ts'
import {
  FOLLOWED_MS,
  REBROADCAST_MS,
  resendsUntilMs,
  routesOf,
  SUBMISSION,
  type Route,
  type Submission,
  type SubmissionProgress
} from '../../src/transactions/submission.ts'
import { referenceOf, storedFrom, type DocumentReference, type Stored } from '../../storage/documents.ts'
import type { ShardClaim } from '../shards/shard-claims.ts'

const TRANSACTION_TABLE = compiled(transactionMachine)

/** Milliseconds of the check of an ended record: the answers that take a landing back, and then a minute of others. */
const CHECK_MS = 120_000

/** The last block height at which a transaction can land. */
export interface Lifetime {
  readonly height: number
  /** Whether it follows from the height of its blockhash; else it is an upper bound. */
  readonly isExact: boolean
  /** The height above which blocks that were read bear its end out, whatever nodes reported at its reception. */
  readonly borneOutHeight: number
}

/** One submission while this process tracks it. It has no timers and does no reads: its tracker does both. */
export class TrackedTransaction {
  readonly claim: ShardClaim
  /** Whether the store may have progress of another process, above which this one has written nothing yet. */
  isUnclaimed: boolean
  /** Unix milliseconds: instants of sends are this plus multiples of REBROADCAST_MS. */
  anchorMs: number
  /** The next instant. */
  dueAtMs: number
  /** Routes with a send in flight. */
  sendingBy: readonly Route[] = []
  /** Whether its sends wait for a read that shows no greater token. */
  isConfirming = false
  /** Whether this process has stopped sending it. */
  isDropped = false
  /** Stops watching for it in blocks. */
  unwatch: () => void = () => undefined
  /** Unix milliseconds of the next request for its status, and for its nonce. */
  askAtMs = 0
  askNonceAtMs = 0
  lifetime: Lifetime | null = null
  /** The newest slot at which its nonce account had its nonce since it is tracked here; null before the first. */
  unusedNonceSlot: number | null = null
  /** Whether a node said, since it is tracked here, that its blockhash is still valid. */
  hasSeenBlockhash = false
  /** Whether its blockhash had expired at its reception, so that it may have landed long before. */
  isBlockhashOld = false
  /** Whether one node states that its block is final, so that all nodes are queried. */
  isFinalToOne = false
  /** The highest slot of the blocks that were read before they were searched for it. */
  readonly unsearchedTo: number
  /** Unix milliseconds at which nodes took a landing back; null if they never did. */
  deniedAtMs: number | null = null
  /** The slot whose block a node gave without it; null before. */
  refutedSlot: number | null = null
  /** Unix milliseconds of the next request for the block that one node states. */
  askBlockAtMs = 0
  /** Slot of the newest block that was read with it; null before, and after a lost fork. */
  sightedSlot: number | null = null
  /** The confirmed block in which another transaction has used its nonce up; null before. */
  nonceSpentSlot: number | null = null
  /**
   * `slot` and `height` are of the first confirmed block that was known since it is tracked here. `seenSlot` is the newest
   * slot that this process knew by then, null before the first. `seenHeight` is the newest height that it had read, 0
   * without one.
   */
  since: {
    readonly slot: number
    readonly height: number
    readonly seenSlot: number | null
    readonly seenHeight: number
  } | null = null
  /** When nodes without history first failed to find it, in Unix milliseconds; null if never. */
  unknowableSinceMs: number | null = null
  /** The newest slot at which a node proved that it had not landed; null before the first. */
  absentSlot: number | null = null
  readonly #takenUpAtMs: number
  #value: Submission
  #reference: DocumentReference
  #machine = TRANSACTION_TABLE.initial
  readonly #contradictions = new Contradictions()

  constructor(
    stored: Stored<Submission>,
    claim: ShardClaim,
    progress: SubmissionProgress | null,
    isUnclaimed: boolean,
    nowMs: number,
    unsearchedTo = -1
  ) {
    this.#value = stored.value
    this.#reference = referenceOf(stored)
    this.claim = claim
    this.#takenUpAtMs = nowMs
    this.isUnclaimed = isUnclaimed
    this.unsearchedTo = unsearchedTo
    const { lastValidBlockHeight = null } = stored.value
    if (lastValidBlockHeight !== null)
      this.lifetime = { height: lastValidBlockHeight, isExact: true, borneOutHeight: lastValidBlockHeight }
    if (progress !== null) {
      this.#change({ type: 'progress.restored', context: contextOf(progress) })
      this.absentSlot = progress.absentSlot ?? null
      // The stored height may be a bound that rests on nodes.
      if (progress.lastValidBlockHeight !== null)
        this.lifetime ??= { height: progress.lastValidBlockHeight, isExact: false, borneOutHeight: Infinity }
    }
    this.anchorMs = progress?.firstSentAtMs ?? nowMs
    this.dueAtMs = progress === null || progress.firstSentAtMs === null ? nowMs : this.instantAfter(nowMs)
  }

  get value(): Submission {
    return this.#value
  }

  /** Whether its blockhash was valid at its reception for certain. With a durable nonce it is false. */
  get hadBlockhash(): boolean {
    return !this.isBlockhashOld && (this.hasSeenBlockhash || this.lifetime?.isExact === true)
  }

  /** Whether a send is in flight, or about to begin. */
  get isSending(): boolean {
    return this.isConfirming || this.sendingBy.length > 0
  }

  /**
   * Adopts its document after a repeated request, and returns the routes that the request added; null for a document
   * that is older than the adopted one.
   */
  adopt(stored: Stored<Submission>): readonly Route[] | null {
    const before = this.#value
    const routes = routesOf(before)
    const added = routesOf(stored.value).filter((each) => !routes.includes(each))
    const isOlder =
      routesOf(stored.value).length < routes.length ||
      (stored.value.resumedAtMs ?? 0) < (before.resumedAtMs ?? 0)
    if (isOlder || stored.value.end !== null) return null
    this.#value = stored.value
    this.#reference = referenceOf(stored)
    return added
  }

  /**
   * A reference to its document, by which its hot value is read and written. A change of the document needs a read first.
   */
  get reference(): Stored<Submission> {
    return storedFrom(SUBMISSION, this.value, this.#reference)
  }

  get state(): TransactionMachineState {
    return this.#machine.value
  }

  get context(): TransactionContext {
    return this.#machine.context
  }

  /** Whether it is finalized, failed, expired or unresolved. */
  get isOver(): boolean {
    return this.#machine.status === 'done'
  }

  /** Its end, as metrics count it. */
  get ended(): EndedTransaction {
    const { tenant, route } = this.value
    const { landedAtMs, firstSentAtMs, slot, firstSentSlot } = this.context
    const { state } = this
    return {
      tenant,
      route,
      outcome: state === 'failed' || state === 'expired' || state === 'unresolved' ? state : 'finalized',
      landedMs:
        landedAtMs === null || firstSentAtMs === null ? null : Math.max(0, landedAtMs - firstSentAtMs),
      landedSlots: slot === null || firstSentSlot === null ? null : Math.max(0, slot - firstSentSlot)
    }
  }

  /** Tells whether it is to be sent at its next instant. */
  isLooping(nowMs: number): boolean {
    const isInTime = nowMs < resendsUntilMs(this.value, this.anchorMs)
    return isInTime && isLooping(this.#machine)
  }

  /** Returns the first instant after a time. */
  instantAfter(nowMs: number): number {
    const passed = Math.floor((nowMs - this.anchorMs) / REBROADCAST_MS)
    return this.anchorMs + (Math.max(0, passed) + 1) * REBROADCAST_MS
  }

  /** Applies an event. Returns whether the change is worth a write: more than a changed number of confirmations. */
  apply(event: TransactionEvent): boolean {
    const { state, context: before } = this
    if (event.type === 'status.seen' && !isStale(before, event)) this.#contradictions.clear()
    if (event.type === 'block.seen') this.sightedSlot = event.slot
    this.#change(event)
    const { context } = this
    return (
      state !== this.state ||
      (['sends', 'slot', 'commitment', 'index', 'err'] as const).some(
        (each) => before[each] !== context[each]
      )
    )
  }

  /**
   * Records an answer of a node that does not know it, or has it in another block at a lower commitment. Returns true once
   * its block counts as dropped.
   */
  isContradicted(contextSlot: number): boolean {
    const { slot } = this.context
    if (slot === null || !this.#contradictions.note(slot, contextSlot)) return false
    this.#change({ type: 'landing.doubted' })
    return this.#contradictions.areEnough
  }

  /** Records a block that has a use of a nonce. Returns whether another transaction has used up the nonce of this one. */
  noteNonce(
    { account, value, signature }: SightedNonce,
    { slot, commitment }: Pick<SightedBlock, 'slot' | 'commitment'>
  ): boolean {
    const { nonceAccount, blockhash, signature: own } = this.value
    if (nonceAccount !== account || blockhash !== value || own === signature) return false
    // A block at processed may still be dropped. So the node is queried next, which answers at a confirmed block.
    if (commitment === 'processed') this.askNonceAtMs = 0
    else this.nonceSpentSlot = slot
    return true
  }

  /** Records that all blocks after a slot were on a lost fork. */
  noteLost(afterSlot: number): void {
    if (this.nonceSpentSlot !== null && this.nonceSpentSlot > afterSlot) this.nonceSpentSlot = null
    if (this.sightedSlot !== null && this.sightedSlot > afterSlot) this.sightedSlot = null
  }

  /** Records an answer without a status. `isTelling` says whether the answer proves anything. */
  noteAnswer(isTelling: boolean, nowMs: number): void {
    this.unknowableSinceMs = isTelling ? null : (this.unknowableSinceMs ?? nowMs)
  }

  /** Tells whether it was followed for long enough to end it as `unresolved`. */
  isFollowedEnough(nowMs: number): boolean {
    const { receivedAtMs, resumedAtMs = receivedAtMs } = this.value
    return nowMs >= resumedAtMs + FOLLOWED_MS.sinceReception && nowMs >= this.#takenUpAtMs + FOLLOWED_MS.here
  }

  /** Tells whether the check of its ended record has taken its time. Its landing then stays as it was. */
  isCheckedEnough(nowMs: number): boolean {
    const { rechecks = 0 } = this.value
    return rechecks > 0 && this.state === 'claimed' && nowMs >= this.#takenUpAtMs + CHECK_MS
  }

  progress(updatedAtMs: number): SubmissionProgress {
    const { token } = this.claim
    const lastValidBlockHeight = this.lifetime?.height ?? null
    return progressOf(this.#machine, {
      token,
      lastValidBlockHeight,
      updatedAtMs,
      ...(this.absentSlot !== null && { absentSlot: this.absentSlot })
    })
  }

  #change(event: TransactionEvent): void {
    this.#machine = TRANSACTION_TABLE.next(this.#machine, event)
  }
}

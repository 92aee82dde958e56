import { NodeError } from '../../src/node/node-fault.ts'
import type { Clock } from '../../src/ports.ts'
import { isBorneOut, NODES_ALONE_MS } from '../../src/transactions/independent-evidence.ts'
import type { BlockSightings, TransactionNode } from '../../src/transactions/ports.ts'
import { FOLLOWED_MS, type Submission } from '../../src/transactions/submission.ts'
import type { LandingEvidence } from './landing-evidence.ts'
import type { StatusAnswer, StatusPoller } from './status-poller.ts'
import type { TrackedTransaction } from './tracked-transaction.ts'
import type { TransactionFact } from './transaction-fact.ts'

/** Blocks for which a blockhash is valid (agave, MAX_PROCESSING_AGE). */
const BLOCKHASH_BLOCKS = 150
/**
 * Blocks after the reception of a transaction by which the block of its blockhash was read. A client can take the
 * blockhash of an unconfirmed block, at most 32 ahead of the confirmed one.
 */
const BLOCKS_AHEAD = 32
/** Milliseconds for which nodes must deny a landing that they stated: as long as one node must state one. */
const DENIED_MS = 60_000
/** Milliseconds after its reception in which a blockhash that was valid then has hardly expired: 50 blocks. */
const VALID_MS = 20_000
/** Longest time of a block over a minute and more, in milliseconds: one and a half times the slot time of 400 ms. */
const BLOCK_MS_MAX = 600
/** Poll interval of the height, in milliseconds: five slots; a send too many costs little. */
const HEIGHT_MS = 2_000
/** Blockhashes and nonces checked in one round. The others follow in the next rounds. */
const ROUND_MAX = 50
/** Poll interval of a nonce, in milliseconds. It grows with the age of the submission, between these bounds. */
const NONCE_MS = { min: 2_000, max: 60_000 }
/** Fraction of its age after which a nonce is requested again. */
const NONCE_PART = 1 / 20

export interface ExpiryDeps {
  readonly node: Pick<TransactionNode, 'height' | 'isBlockhashValid' | 'nonce'>
  readonly sightings: Pick<BlockSightings, 'lastValidBlockHeight' | 'heights' | 'newest'>
  readonly poller: Pick<StatusPoller, 'history'>
  readonly evidence: Pick<LandingEvidence, 'answered'>
  readonly clock: Clock
}

/**
 * Finds transactions that can land no more. Neither the clock nor a single answer proves that:
 *
 * E1. With a recent blockhash: the confirmed height is above the last valid one. At that slot or a later one the blockhash
 *     is not valid. At that slot or a later one no status is known, not even from the history. A height that has risen by
 *     more than the slots since the reception is ignored. Nodes are not believed alone: blocks that this process read, the
 *     committed slots, or at least the time since the reception must confirm it (`isBorneOut`). The cache of a node without
 *     history proves absence only if it was queried in time and without a gap. Otherwise a transaction that can land no more
 *     is `unresolved` after ten minutes.
 * E2. With a durable nonce: if a confirmed block that this process read has another transaction that used the nonce up, no
 *     node is queried. Otherwise the nonce account has another value at a slot after it had this one, and at that slot or a
 *     later one no status is known. If the account was never seen with this value here, the answer counts only from a slot
 *     by which the nonce had this value for certain, because a stale node has older values (`isNonceUsed`).
 * E3. If the height of its blockhash is unknown, the last valid height is at most the height known after its reception plus
 *     150, and at most the height stored at the reception plus 150. A node whose height falls reported a wrong one before,
 *     and the bound falls with it. A blockhash that is in no block read here is older than all blocks read here, once these
 *     reach beyond its reception. The last valid height is then the height just below the first block of the run read
 *     without a gap, plus 150.
 */
export class Expiry {
  readonly #deps: ExpiryDeps
  #heightAtMs = -Infinity
  #known: { readonly slot: number; readonly height: number } | null = null

  constructor(deps: ExpiryDeps) {
    this.#deps = deps
  }

  /** The newest confirmed height that a node reported; null before. */
  get height(): number | null {
    return this.#known?.height ?? null
  }

  /**
   * Checks all tracked transactions. Yields the ends of their lifetimes, and their statuses. Each event is to be applied
   * before the next one is read. An outage of the nodes proves nothing and changes nothing.
   */
  async *check(all: readonly TrackedTransaction[], signal: AbortSignal): AsyncGenerator<TransactionFact> {
    const nowMs = this.#deps.clock.now()
    for (const each of all) if (each.nonceSpentSlot !== null && !each.isSending) yield expired(each)
    const open = all.filter(({ state }) => state === 'sent')
    if (open.length === 0 || nowMs - this.#heightAtMs < HEIGHT_MS) return
    this.#heightAtMs = nowMs
    try {
      const known = await this.#deps.node.height(signal)
      this.#bound(open, known)
      this.#known = known
      yield* this.#checkBlockhashes(open, known, signal)
      yield* this.#checkNonces(open, signal)
      await this.#findValid(open, signal)
    } catch (error) {
      if (!(error instanceof NodeError) && !signal.aborted) throw error
    }
  }

  #bound(
    open: readonly TrackedTransaction[],
    known: { readonly slot: number; readonly height: number }
  ): void {
    const { sightings } = this.#deps
    const { heights } = sightings
    const hasFallen = this.#known !== null && known.height < this.#known.height
    const since = { ...known, seenSlot: sightings.newest?.slot ?? null, seenHeight: heights?.last ?? 0 }
    const nowMs = this.#deps.clock.now()
    for (const each of open) {
      const passed = blocksSince(each.value, nowMs)
      each.since ??= { ...since, slot: since.slot - passed, height: since.height - passed }
      if (hasFallen && known.height < each.since.height) each.since = { ...each.since, ...known }
      if (each.value.nonceAccount !== null || each.lifetime?.isExact === true) continue
      const exact = sightings.lastValidBlockHeight(each.value.blockhash)
      if (exact !== null) {
        each.lifetime = { height: exact, isExact: true, borneOutHeight: exact }
        continue
      }
      const { height, seenHeight } = each.since
      const isOlder = heights !== null && heights.last >= Math.max(height, seenHeight) + BLOCKS_AHEAD
      const newest = isOlder ? Math.min(height, heights.first - 1) : height
      const bound = newest + BLOCKHASH_BLOCKS
      const { receivedHeight = Infinity } = each.value
      const before = each.lifetime ?? { height: Infinity, borneOutHeight: Infinity }
      each.lifetime = {
        height: Math.min(bound, before.height, receivedHeight + BLOCKHASH_BLOCKS),
        isExact: false,
        borneOutHeight: Math.min(bound, before.borneOutHeight)
      }
    }
  }

  async *#checkBlockhashes(
    open: readonly TrackedTransaction[],
    { slot, height }: { readonly slot: number; readonly height: number },
    signal: AbortSignal
  ): AsyncGenerator<TransactionFact> {
    // Heights rise by one a slot at most: if fewer slots have passed, the height is wrong.
    const nowMs = this.#deps.clock.now()
    const late = open.filter(({ lifetime, since, value: { receivedAtMs } }) => {
      if (lifetime === null || height <= lifetime.height) return false
      if (slot <= since!.slot + Math.min(lifetime.height - since!.height, BLOCKHASH_BLOCKS)) return false
      const lifespan = { lastHeight: lifetime.borneOutHeight, receivedAtMs, seenSlot: since!.seenSlot }
      return isBorneOut(lifespan, this.#deps.sightings, nowMs)
    })
    const byBlockhash = [...Map.groupBy(late, ({ value }) => value.blockhash)].slice(0, ROUND_MAX)
    for (const [blockhash, transactions] of byBlockhash) {
      const { contextSlot, isValid } = await this.#deps.node.isBlockhashValid(blockhash, signal)
      if (!isValid && contextSlot >= slot) yield* this.#conclude(transactions, contextSlot, signal)
    }
  }

  /**
   * Finds out whether blockhashes were valid at the reception, if an answer about a transaction proved nothing: only then it
   * cannot have landed long before. Nodes are queried in the first minute, because later every blockhash has expired.
   */
  async #findValid(open: readonly TrackedTransaction[], signal: AbortSignal): Promise<void> {
    const nowMs = this.#deps.clock.now()
    const { heights } = this.#deps.sightings
    const isNew = ({ value }: TrackedTransaction): boolean =>
      value.nonceAccount === null && nowMs - value.receivedAtMs < VALID_MS
    const recent = open.filter((each) => isNew(each) && each.unknowableSinceMs !== null)
    for (const each of recent)
      each.isBlockhashOld ||= each.lifetime?.isExact === true && (heights?.last ?? 0) > each.lifetime.height
    const unsure = recent.filter(({ hadBlockhash, isBlockhashOld }) => !hadBlockhash && !isBlockhashOld)
    const byBlockhash = [...Map.groupBy(unsure, ({ value }) => value.blockhash)].slice(0, ROUND_MAX)
    for (const [blockhash, transactions] of byBlockhash) {
      const { isValid } = await this.#deps.node.isBlockhashValid(blockhash, signal)
      for (const each of transactions) {
        if (isValid) each.hasSeenBlockhash = true
        else each.isBlockhashOld = true
      }
    }
  }

  async *#checkNonces(
    open: readonly TrackedTransaction[],
    signal: AbortSignal
  ): AsyncGenerator<TransactionFact> {
    const nowMs = this.#deps.clock.now()
    const due = open.filter(({ value, askNonceAtMs }) => value.nonceAccount !== null && askNonceAtMs <= nowMs)
    const byAccount = [...Map.groupBy(due, ({ value }) => value.nonceAccount!)].slice(0, ROUND_MAX)
    for (const [account, transactions] of byAccount) {
      const { contextSlot, value: nonce } = await this.#deps.node.nonce(account, signal)
      const over: TrackedTransaction[] = []
      for (const each of transactions) {
        const restMs = (nowMs - each.value.receivedAtMs) * NONCE_PART
        each.askNonceAtMs = nowMs + Math.min(Math.max(restMs, NONCE_MS.min), NONCE_MS.max)
        if (each.value.blockhash === nonce) each.unusedNonceSlot = contextSlot
        else if (isNonceUsed(each, contextSlot)) over.push(each)
      }
      yield* this.#conclude(over, contextSlot, signal)
    }
  }

  /** Tells whether nodes recently took a landing back. They may state it again. */
  #isDenied({ deniedAtMs }: TrackedTransaction): boolean {
    return deniedAtMs !== null && this.#deps.clock.now() < deniedAtMs + DENIED_MS
  }

  /** Ends transactions without a known status at a slot. The others have landed, and their statuses are applied. */
  async *#conclude(
    transactions: readonly TrackedTransaction[],
    slot: number,
    signal: AbortSignal
  ): AsyncGenerator<TransactionFact> {
    if (transactions.length === 0) return
    const unknown: StatusAnswer[] = []
    for await (const answers of this.#deps.poller.history(transactions, signal))
      for (const answer of answers) {
        yield* this.#deps.evidence.answered(answer)
        if (answer.status === null) unknown.push(answer)
      }
    for (const { transaction, contextSlot } of unknown)
      // A send in flight is counted first.
      if (contextSlot >= slot && !transaction.isSending && !this.#isDenied(transaction))
        yield expired(transaction)
    const sinceMs = this.#deps.clock.now() - FOLLOWED_MS.here
    for (const transaction of transactions) {
      const isUnknowable = (transaction.unknowableSinceMs ?? Infinity) <= sinceMs
      // It can land no more, and it is unknown whether it has landed.
      if (transaction.state === 'sent' && !transaction.isSending && isUnknowable)
        yield { transaction, event: { type: 'following.ended' } }
    }
  }
}

const expired = (transaction: TrackedTransaction): TransactionFact => ({
  transaction,
  event: { type: 'lifetime.ended' }
})

/**
 * Tells whether a nonce account with another value, at a slot, has used the nonce up. A client reads the nonce of a block
 * that is at most `BLOCKS_AHEAD` slots above the confirmed ones. If only nodes reported the slot of the reception, they may
 * have lagged, and the lifetime of a blockhash must pass too.
 */
function isNonceUsed({ unusedNonceSlot, since, value }: TrackedTransaction, contextSlot: number): boolean {
  if (unusedNonceSlot !== null) return contextSlot > unusedNonceSlot
  const { slot, seenSlot } = since!
  if (seenSlot === null) return contextSlot > slot + BLOCKHASH_BLOCKS
  return contextSlot >= Math.max(slot, seenSlot, value.receivedSlot ?? 0) + BLOCKS_AHEAD
}

/**
 * Returns the number of blocks that have certainly come since the reception of a transaction whose height is not stored. It
 * is 0 for a new one, whose first known height is that of its reception.
 */
function blocksSince({ receivedAtMs, receivedHeight }: Submission, nowMs: number): number {
  const ageMs = nowMs - receivedAtMs
  return receivedHeight !== undefined || ageMs < NODES_ALONE_MS ? 0 : Math.floor(ageMs / BLOCK_MS_MAX)
}

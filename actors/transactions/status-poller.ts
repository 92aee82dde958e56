import { NodeError } from '../../src/node/node-fault.ts'
import type { Clock } from '../../src/ports.ts'
import { isAbsent, isBeyondCache, RECENT_MS, statusesOrCached } from '../../src/transactions/absence.ts'
import type { SignatureStatus, TransactionNode } from '../../src/transactions/ports.ts'
import { asTheyEnd } from './as-they-end.ts'
import type { TrackedTransaction } from './tracked-transaction.ts'

/** Signatures of one request (the limit of getSignatureStatuses). */
const SIGNATURES_MAX = 256
/** Requests at a time. Arbitrary; the node's client has limits of its own. */
const LANES = 4
/**
 * Shortest interval of requests for one signature, in milliseconds: about two slots. It is longer with many signatures, so
 * that a process makes at most 8 requests a second.
 */
const INTERVAL_MS = 1_000
const REQUESTS_PER_SECOND = 8
/**
 * Intervals from one request for a signature to the next. The first is for a signature that this process searches in its own
 * blocks, the second for a confirmed one, whose finality takes 13 s.
 */
const REST_WITH_BLOCKS = 5
const REST_CONFIRMED = 2
/** Intervals for a signature that one node calls final, of which a minute of equal answers is awaited. */
const REST_CLAIMED = 5

export interface StatusPollerDeps {
  readonly node: Pick<TransactionNode, 'statuses'>
  readonly clock: Clock
}

/** A node's statement about a transaction. */
export interface StatusAnswer {
  readonly transaction: TrackedTransaction
  /** Null if it had not landed at the slot. */
  readonly status: SignatureStatus | null
  readonly contextSlot: number
}

/** A request for the statuses of some transactions: of the newest node, of every node, or also from the histories. */
interface StatusRequest {
  readonly kind: 'recent' | 'every node' | 'history'
  readonly chunk: readonly TrackedTransaction[]
}

/** Requests the statuses of tracked transactions from nodes, many at once, each as often as its state needs it. */
export class StatusPoller {
  readonly #deps: StatusPollerDeps
  /** The slot of the last answer; 0 before. */
  #contextSlot = 0

  constructor(deps: StatusPollerDeps) {
    this.#deps = deps
  }

  /**
   * Requests the statuses that are due. Yields the answers to each request. An outage of the nodes gives none. `hasBlocks`
   * tells whether blocks arrive in this process.
   */
  poll(
    all: readonly TrackedTransaction[],
    hasBlocks: boolean,
    signal: AbortSignal
  ): AsyncGenerator<readonly StatusAnswer[]> {
    const nowMs = this.#deps.clock.now()
    const due = all.filter((each) => !each.isOver && each.askAtMs <= nowMs)
    for (const each of due) each.askAtMs = nowMs + intervalOf(each, all.length, hasBlocks)
    const isOld = ({ context, value }: TrackedTransaction): boolean =>
      nowMs - (context.firstSentAtMs ?? value.receivedAtMs) > RECENT_MS
    const kindOf = (each: TrackedTransaction): StatusRequest['kind'] =>
      isOld(each) || this.#isBeyondCache(each) ? 'history' : each.isFinalToOne ? 'every node' : 'recent'
    const requests: StatusRequest[] = [...Map.groupBy(due, kindOf)].flatMap(([kind, transactions]) =>
      chunked(transactions).map((chunk) => ({ kind, chunk }))
    )
    return asTheyEnd(requests, LANES, (request) => this.#request(request, signal), signal)
  }

  /**
   * Requests statuses also from the node's history. If the node has no history, a transaction had not landed if the cache
   * never had it since its reception, without a gap.
   */
  async *history(
    transactions: readonly TrackedTransaction[],
    signal: AbortSignal
  ): AsyncGenerator<readonly StatusAnswer[]> {
    for (const chunk of chunked(transactions)) yield await this.#request({ kind: 'history', chunk }, signal)
  }

  async #request({ kind, chunk }: StatusRequest, signal: AbortSignal): Promise<readonly StatusAnswer[]> {
    const answers: StatusAnswer[] = []
    try {
      const signatures = chunk.map(({ value }) => value.signature)
      const options = { history: kind === 'history', everyNode: kind !== 'recent' }
      const { contextSlot, statuses, isWhole } = await statusesOrCached(
        this.#deps.node,
        signatures,
        options,
        signal
      )
      this.#contextSlot = contextSlot
      for (const [at, transaction] of chunk.entries()) {
        const status = statuses[at] ?? null
        if (status === null) {
          const isProven = this.#noteAbsence(transaction, contextSlot, isWhole)
          transaction.noteAnswer(isProven || kind !== 'history', this.#deps.clock.now())
          // Either a node without history has forgotten it, or it never landed: the answer does not show which.
          if (!isProven) continue
        }
        answers.push({ transaction, status, contextSlot })
      }
    } catch (error) {
      if (!(error instanceof NodeError) && !signal.aborted) throw error
    }
    return answers
  }

  /**
   * Tells whether the cache of a node may lack a transaction that has landed. Its block is old, or nothing shows that the
   * block is not older than its reception. Then an answer without it proves nothing, unless the history was searched.
   */
  #isBeyondCache({ context, absentSlot, hadBlockhash }: TrackedTransaction): boolean {
    if (context.slot !== null) return isBeyondCache(context.slot, this.#contextSlot)
    return absentSlot === null && !hadBlockhash
  }

  /** Records that a status is not known at a slot. Returns whether the transaction had not landed by then. */
  #noteAbsence(transaction: TrackedTransaction, slot: number, isWhole: boolean): boolean {
    const { absentSlot, value, unusedNonceSlot, hadBlockhash, context } = transaction
    // With a nonce or a blockhash that was never seen valid it can have landed long before its reception; else 150 blocks
    // before.
    const isNew =
      this.#deps.clock.now() - value.receivedAtMs <= RECENT_MS &&
      (value.nonceAccount === null ? hadBlockhash : unusedNonceSlot !== null)
    if (!isAbsent({ landedSlot: context.slot, absentSlot, isNew }, slot, isWhole)) return false
    transaction.absentSlot = Math.max(slot, absentSlot ?? 0)
    return true
  }
}

function intervalOf({ state }: TrackedTransaction, tracked: number, hasBlocks: boolean): number {
  const requests = Math.ceil(tracked / SIGNATURES_MAX)
  const intervalMs = Math.max(INTERVAL_MS, (requests / REQUESTS_PER_SECOND) * 1_000)
  if (state === 'sent' && hasBlocks) return intervalMs * REST_WITH_BLOCKS
  if (state === 'claimed') return intervalMs * REST_CLAIMED
  return state === 'confirmed' ? intervalMs * REST_CONFIRMED : intervalMs
}

function chunked(all: readonly TrackedTransaction[]): (readonly TrackedTransaction[])[] {
  const count = Math.ceil(all.length / SIGNATURES_MAX)
  return Array.from({ length: count }, (_, at) => all.slice(at * SIGNATURES_MAX, (at + 1) * SIGNATURES_MAX))
}

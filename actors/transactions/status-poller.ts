import { NodeError } from '../../src/node/node-fault.ts'
import type { Clock } from '../../src/ports.ts'
import type { SignatureStatus, TransactionNode } from '../../src/transactions/ports.ts'
import type { TrackedTransaction } from './tracked-transaction.ts'

/** Signatures of one request (the limit of getSignatureStatuses). */
const SIGNATURES_MAX = 256
/** Requests at a time. Arbitrary; the node's client has limits of its own. */
const LANES = 4
/**
 * Milliseconds between two requests for one signature, at least: about two slots. With many signatures longer, so that a
 * process makes 8 requests a second at most.
 */
const INTERVAL_MS = 1_000
const REQUESTS_PER_SECOND = 8
/**
 * Intervals between two requests for a signature that this process looks for in its own blocks, and for a confirmed one,
 * whose finality takes 13 s.
 */
const REST_WITH_BLOCKS = 5
const REST_CONFIRMED = 2
/** Milliseconds after which a node answers about a landed signature only from its history: 150 slots take 60 s. */
const RECENT_MS = 60_000

export interface StatusPollerDeps {
  readonly node: Pick<TransactionNode, 'statuses'>
  readonly clock: Clock
  /** Tells whether blocks arrive in this process. */
  readonly hasBlocks: () => boolean
  /** Receives each answer with the slot that it is as of; null for an unknown signature. */
  readonly answered: (
    transaction: TrackedTransaction,
    status: SignatureStatus | null,
    contextSlot: number
  ) => void
}

/** Asks nodes for the statuses of tracked transactions, many at once, each as often as its state needs it. */
export class StatusPoller {
  readonly #deps: StatusPollerDeps

  constructor(deps: StatusPollerDeps) {
    this.#deps = deps
  }

  /** Asks for those that are due. An outage of the nodes changes nothing. */
  async poll(all: readonly TrackedTransaction[], signal: AbortSignal): Promise<void> {
    const nowMs = this.#deps.clock.now()
    const due = all.filter((each) => !each.isOver && each.askAtMs <= nowMs)
    for (const each of due) each.askAtMs = nowMs + this.#intervalOf(each, all.length)
    const isOld = ({ context, value }: TrackedTransaction): boolean =>
      nowMs - (context.firstSentAtMs ?? value.receivedAtMs) > RECENT_MS
    const chunks = [
      ...chunked(due.filter((each) => !isOld(each))).map((chunk) => ({ chunk, history: false })),
      ...chunked(due.filter(isOld)).map((chunk) => ({ chunk, history: true }))
    ]
    const lane = async (): Promise<void> => {
      for (let next = chunks.pop(); next !== undefined && !signal.aborted; next = chunks.pop())
        await this.#ask(next.chunk, next.history, signal)
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  }

  /** Asks for the statuses from the node's history too. Resolves with those that the node does not know, as of a slot. */
  async unknownAsOf(
    transactions: readonly TrackedTransaction[],
    signal: AbortSignal
  ): Promise<{ readonly transaction: TrackedTransaction; readonly contextSlot: number }[]> {
    const unknown: { transaction: TrackedTransaction; contextSlot: number }[] = []
    for (const chunk of chunked(transactions))
      await this.#ask(chunk, true, signal, (transaction, contextSlot) =>
        unknown.push({ transaction, contextSlot })
      )
    return unknown
  }

  async #ask(
    chunk: readonly TrackedTransaction[],
    history: boolean,
    signal: AbortSignal,
    onUnknown: (transaction: TrackedTransaction, contextSlot: number) => void = () => undefined
  ): Promise<void> {
    try {
      const signatures = chunk.map(({ value }) => value.signature)
      const { contextSlot, statuses } = await this.#deps.node.statuses(signatures, { history }, signal)
      for (const [at, transaction] of chunk.entries()) {
        const status = statuses[at] ?? null
        if (status === null) onUnknown(transaction, contextSlot)
        this.#deps.answered(transaction, status, contextSlot)
      }
    } catch (error) {
      if (!(error instanceof NodeError) && !signal.aborted) throw error
    }
  }

  #intervalOf({ state }: TrackedTransaction, tracked: number): number {
    const requests = Math.ceil(tracked / SIGNATURES_MAX)
    const intervalMs = Math.max(INTERVAL_MS, (requests / REQUESTS_PER_SECOND) * 1_000)
    if (state === 'sent' && this.#deps.hasBlocks()) return intervalMs * REST_WITH_BLOCKS
    return state === 'confirmed' ? intervalMs * REST_CONFIRMED : intervalMs
  }
}

function chunked(all: readonly TrackedTransaction[]): (readonly TrackedTransaction[])[] {
  const count = Math.ceil(all.length / SIGNATURES_MAX)
  return Array.from({ length: count }, (_, at) => all.slice(at * SIGNATURES_MAX, (at + 1) * SIGNATURES_MAX))
}

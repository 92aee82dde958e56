import { NodeError } from '../../src/node/node-fault.ts'
import type { TransactionMetrics } from '../../src/transactions/metrics.ts'
import type { RevocableTurn, SendTurn } from '../../src/transactions/fair-queue.ts'
import type { EngineSender, LeaderSender, TransactionNode } from '../../src/transactions/ports.ts'
import type { Submission } from '../../src/transactions/submission.ts'

export interface TransactionSenderDeps {
  readonly node: Pick<TransactionNode, 'send'>
  /** Null if nothing is sent to leaders directly. */
  readonly leaders: LeaderSender | null
  /** Null if no block engine is configured; a submission by it is then refused at its reception. */
  readonly engine: EngineSender | null
  readonly metrics: Pick<TransactionMetrics, 'sends' | 'leaders'>
}

/**
 * The outcome of a send: null if no node, no leader and no engine received it. `deferred` if none could even be tried, or if
 * the send was no longer needed when its turn came.
 */
export type SendOutcome = { readonly leaders: number } | 'deferred' | null

/**
 * Sends a transaction once by its route. Refusals are counted; the loop repeats a send at its next instant. Each path has
 * its own limit and its own queue, in the order of `FairQueue`.
 */
export class TransactionSender {
  readonly #deps: TransactionSenderDeps
  #inFlight = 0

  constructor(deps: TransactionSenderDeps) {
    this.#deps = deps
  }

  /** Sends that have not ended, including those that wait for their turn. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Resolves when the send has ended; never rejects. Aborted sends count as received: they may have been. */
  async send(
    { wire, route, revertProtection }: Submission,
    signal: AbortSignal,
    turn: RevocableTurn
  ): Promise<SendOutcome> {
    const { metrics } = this.#deps
    if (wire === null || signal.aborted) return null
    this.#inFlight++
    try {
      const outcome =
        route === 'jito'
          ? await this.#toEngine(wire, revertProtection, signal, turn)
          : await this.#toChain(wire, signal, turn)
      metrics.sends.inc({ route, outcome: labelOf(outcome) })
      return outcome
    } finally {
      this.#inFlight--
    }
  }

  async #toEngine(
    wire: Uint8Array,
    revertProtection: boolean,
    signal: AbortSignal,
    turn: RevocableTurn
  ): Promise<SendOutcome> {
    const { engine } = this.#deps
    if (engine === null) return null
    return engine.send(wire, signal, { revertProtection, turn }).then(
      (isReceived) => (isReceived ? { leaders: 0 } : 'deferred'),
      () => null
    )
  }

  async #toChain(wire: Uint8Array, signal: AbortSignal, turn: SendTurn): Promise<SendOutcome> {
    const { node, leaders, metrics } = this.#deps
    const [isReceived, written] = await Promise.all([
      node.send(wire, signal, turn).then(
        () => true,
        (error: unknown) => !(error instanceof NodeError) || isReceivedDespite(error)
      ),
      leaders?.send(wire, turn) ?? 0
    ])
    if (written > 0) metrics.leaders.inc(written)
    return isReceived || written > 0 ? { leaders: written } : null
  }
}

const labelOf = (outcome: SendOutcome): 'taken' | 'limited' | 'refused' => {
  if (outcome === null) return 'refused'
  return outcome === 'deferred' ? 'limited' : 'taken'
}

/** Tells whether a node may have received a send that failed. One that refuses by rate has not read it. */
function isReceivedDespite({ fault: { kind } }: NodeError): boolean {
  return (
    kind === 'rpc' ||
    kind === 'timeout' ||
    kind === 'garbage' ||
    kind === 'too-large' ||
    kind === 'memory-exceeded'
  )
}

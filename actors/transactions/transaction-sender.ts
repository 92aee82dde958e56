import { NodeError } from '../../src/node/node-fault.ts'
import type { TransactionMetrics } from '../../src/telemetry/transaction-metrics.ts'
import type { EngineSender, LeaderSender, TransactionNode } from '../../src/transactions/ports.ts'
import type { Submission } from '../../src/transactions/submission.ts'

/** Sends in flight. Chosen: 10,000 signatures at a node that answers after 400 ms. One beyond it waits for its next instant. */
const IN_FLIGHT_MAX = 2_000

export interface TransactionSenderDeps {
  readonly node: Pick<TransactionNode, 'send'>
  /** Null where nothing is sent to leaders directly. */
  readonly leaders: LeaderSender | null
  /** Null where there is no block engine; a submission by it is then refused at its reception. */
  readonly engine: EngineSender | null
  readonly metrics: Pick<TransactionMetrics, 'sends' | 'leaders'>
}

/** The outcome of a send: null if no node, no leader and no engine received it. */
export type SendOutcome = { readonly leaders: number } | null

/** Sends a transaction once by its route. Refusals are counted; the loop repeats a send at its next instant. */
export class TransactionSender {
  readonly #deps: TransactionSenderDeps
  #inFlight = 0

  constructor(deps: TransactionSenderDeps) {
    this.#deps = deps
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Resolves when the send has ended; never rejects. Aborted sends count as received: they may have been. */
  async send({ wire, route, revertProtection }: Submission, signal: AbortSignal): Promise<SendOutcome> {
    const { metrics } = this.#deps
    if (wire === null || signal.aborted) return null
    if (this.#inFlight >= IN_FLIGHT_MAX) {
      metrics.sends.inc({ route, outcome: 'limited' })
      return null
    }
    this.#inFlight++
    try {
      const outcome =
        route === 'jito'
          ? await this.#toEngine(wire, revertProtection, signal)
          : await this.#toChain(wire, signal)
      metrics.sends.inc({ route, outcome: outcome === null ? 'refused' : 'taken' })
      return outcome
    } finally {
      this.#inFlight--
    }
  }

  async #toEngine(wire: Uint8Array, revertProtection: boolean, signal: AbortSignal): Promise<SendOutcome> {
    const { engine } = this.#deps
    if (engine === null) return null
    return engine.send(wire, signal, { revertProtection }).then(
      () => ({ leaders: 0 }),
      () => null
    )
  }

  async #toChain(wire: Uint8Array, signal: AbortSignal): Promise<SendOutcome> {
    const { node, leaders, metrics } = this.#deps
    const [isReceived, written] = await Promise.all([
      node.send(wire, signal).then(
        () => true,
        (error: unknown) => !(error instanceof NodeError) || isReceivedDespite(error)
      ),
      leaders?.send(wire) ?? 0
    ])
    if (written > 0) metrics.leaders.inc(written)
    return isReceived || written > 0 ? { leaders: written } : null
  }
}

/** Tells whether a node may have received a send that failed. One that refuses by rate has not looked at it. */
function isReceivedDespite({ fault: { kind } }: NodeError): boolean {
  return kind === 'rpc' || kind === 'timeout' || kind === 'garbage' || kind === 'too-large'
}

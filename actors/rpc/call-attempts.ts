import { refusesRequest, wasNotTaken, type NodeError } from '../../src/node/node-fault.ts'
import {
  NoUpstream,
  RequestRefused,
  type UpstreamAnswer,
  type UpstreamCall
} from '../../src/rpc/upstreams.ts'
import type { NodeOutcome } from './node-request.ts'
import type { UpstreamNode } from './upstream-node.ts'

/** Requests to one node for one call: a second one once its probes show the slot that its first answer lacked. */
const ATTEMPTS_MAX = 2

/** The outcome of an earlier attempt, or a refusal by its node, or null. */
export type EarlierOutcome = NodeOutcome | RequestRefused | null

/** Nodes that are up, and get no request. */
export interface WithheldNodes {
  /** Milliseconds until a node that was not tried has budget for the call; null if no such node exists. */
  readonly waitMs: number | null
  /** Number of cordoned nodes. */
  readonly cordoned: number
}

/** The attempts to answer one call: the nodes tried, and their best answer. */
export class CallAttempts {
  readonly #call: UpstreamCall
  /** Requests by node. */
  readonly #sent = new Map<UpstreamNode, number>()
  /** Nodes whose answer was older than the call allows, with the time of that answer. */
  readonly #behind = new Map<UpstreamNode, number>()
  #best: UpstreamAnswer | null = null
  #failed: UpstreamAnswer | null = null
  #isArchiveOnly = false
  #isAbsent = false
  #refusal: RequestRefused | null = null
  #fault: NodeError | null = null

  /** `before` is the outcome of the request to the last of the nodes in `tried`. */
  constructor(call: UpstreamCall, tried: Iterable<UpstreamNode>, before: EarlierOutcome, nowMs: number) {
    this.#call = call
    let last: UpstreamNode | null = null
    for (const node of tried) this.#sent.set((last = node), 1)
    if (before instanceof RequestRefused) this.#refusal = before
    else if (before !== null && last !== null) this.judge(last, before, nowMs)
  }

  /** Whether any node was tried. */
  get hasAsked(): boolean {
    return this.#sent.size > 0
  }

  /** Whether every answer so far was too old, so that waiting for the slot may help. */
  get isBehind(): boolean {
    return this.#behind.size > 0 && this.#best === null
  }

  wasAsked(node: UpstreamNode): boolean {
    return this.#sent.has(node)
  }

  /** Records that a request is sent to a node. */
  asks(node: UpstreamNode): void {
    this.#sent.set(node, (this.#sent.get(node) ?? 0) + 1)
    this.#behind.delete(node)
  }

  /**
   * Tells whether a node may be tried: it was not tried yet, or was behind and has reached the slot by a later probe.
   * Archives get no sends.
   */
  admits(node: UpstreamNode, minSlot: number): boolean {
    const { isIdempotent } = this.#call.method
    if (node.isArchive ? !isIdempotent : this.#isArchiveOnly) return false
    const sent = this.#sent.get(node) ?? 0
    if (sent === 0) return true
    const behindAtMs = this.#behind.get(node)
    return (
      sent < ATTEMPTS_MAX &&
      behindAtMs !== undefined &&
      node.probedAtMs > behindAtMs &&
      (node.slot(this.#call.commitment) ?? 0) >= minSlot
    )
  }

  /** Judges an outcome; returns the answer if the client gets it. */
  judge(node: UpstreamNode, { answer, verdict }: NodeOutcome, nowMs: number): UpstreamAnswer | null {
    switch (verdict) {
      case 'deliver':
        return answer
      case 'behind':
        this.#behind.set(node, nowMs)
        return null
      case 'failed':
        this.#failed = answer
        return null
      case 'archive':
        this.#isArchiveOnly = true
        break
      case 'elsewhere':
        break
    }
    this.#best = answer
    this.#isAbsent ||= this.#call.method.hasArchive
    return null
  }

  /** Records a fault of a node. Returns whether another node may be tried. */
  failed(error: NodeError): boolean {
    if (refusesRequest(error.fault))
      this.#refusal = new RequestRefused(error.fault.kind === 'http' ? error.fault.status : 400)
    else this.#fault = error
    return this.#call.method.isIdempotent || wasNotTaken(error)
  }

  /** Returns the best answer of all nodes, or throws the reason why no node has one. */
  result(archives: readonly UpstreamNode[], { waitMs, cordoned }: WithheldNodes): UpstreamAnswer {
    // An archive that is unavailable may have blocks that the nodes lack.
    const hasTriedAll = archives.every((node) => this.#sent.has(node) && this.#fault === null)
    if (this.#best !== null && (!this.#isAbsent || hasTriedAll)) return this.#best
    if (waitMs !== null)
      throw new NoUpstream('every node that could answer has used up its budget of requests', {
        cause: this.#fault,
        retryAfterMs: waitMs
      })
    if (this.#failed !== null && !this.isBehind && this.#best === null) return this.#failed
    if (this.#refusal !== null) throw this.#refusal
    const reason = this.isBehind
      ? `no node has reached slot ${this.#call.minSlot}`
      : 'no node answers this request now'
    throw new NoUpstream(cordoned === 0 ? reason : `${reason}; ${cordonText(cordoned)}`, {
      cause: this.#fault
    })
  }
}

const cordonText = (cordoned: number): string =>
  cordoned === 1 ? 'the operator has cordoned a node' : `the operator has cordoned ${cordoned} nodes`

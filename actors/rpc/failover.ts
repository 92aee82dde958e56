import { NodeError } from '../../src/node/node-fault.ts'
import { sleep, type Clock } from '../../src/ports.ts'
import { AnswerTooLarge, type UpstreamAnswer, type UpstreamCall } from '../../src/rpc/upstreams.ts'
import { CallAttempts, type EarlierOutcome, type WithheldNodes } from './call-attempts.ts'
import { Hedge } from './hedge.ts'
import type { NodePool } from './node-pool.ts'
import { askNode, type NodeOutcome } from './node-request.ts'
import { recorded } from './recorded-request.ts'
import type { RequestDeadline } from './request-deadlines.ts'
import type { UpstreamNode } from './upstream-node.ts'

/** A read is hedged after the average latency of its node times this. Arbitrary; nothing depends on it. */
const HEDGE_TIMES = 4
/** Poll interval of the nodes' probed slots, in milliseconds; a quarter of the interval of probes. */
const POLL_INTERVAL_MS = 100

/** Counts the outcomes of requests. */
export interface RpcNodesCounts {
  requests: number
  failovers: number
  hedges: number
}

/** A call, its attempts, and the time that it has. */
interface Resolving {
  readonly call: UpstreamCall
  readonly attempts: CallAttempts
  readonly deadline: RequestDeadline
}

/** Tries one node after another until one has an answer for the client. */
export class Failover {
  readonly #pool: NodePool
  readonly #clock: Clock
  readonly #counts: RpcNodesCounts
  readonly #hedge: Hedge

  constructor(pool: NodePool, clock: Clock, counts: RpcNodesCounts) {
    this.#pool = pool
    this.#clock = clock
    this.#counts = counts
    this.#hedge = new Hedge(clock)
  }

  /**
   * Returns the answer to a call. The nodes `tried` were tried before, the last of them with the outcome `before`. Throws
   * `Unanswered`, or the reason of the deadline's signal.
   */
  async resolve(
    call: UpstreamCall,
    deadline: RequestDeadline,
    tried: Iterable<UpstreamNode> = [],
    before: EarlierOutcome = null
  ): Promise<UpstreamAnswer> {
    const clock = this.#clock
    let wanted = call
    let attempts = new CallAttempts(call, tried, before, clock.now())
    let waitedMs = 0
    for (;;) {
      const [node, ...others] = this.#candidates(attempts, wanted)
      if (node !== undefined) {
        const answer = await this.#attempt(node, others, { call: wanted, attempts, deadline })
        if (answer === null) continue
        if (answer !== 'ends') return answer
        return attempts.result(this.#archives(), { waitMs: null, cordoned: 0 })
      }
      const abandoned = this.#withoutFloor(wanted)
      if (attempts.isBehind && abandoned !== null) {
        wanted = abandoned
        attempts = new CallAttempts(wanted, [], null, clock.now())
        continue
      }
      if (!this.#mayWait(wanted, attempts, waitedMs)) break
      await sleep(clock, POLL_INTERVAL_MS, deadline.signal)
      deadline.signal.throwIfAborted()
      waitedMs += POLL_INTERVAL_MS
    }
    return attempts.result(this.#archives(), this.#withheld(attempts, wanted))
  }

  #archives(): UpstreamNode[] {
    return this.#pool.nodes.filter(({ isArchive }) => isArchive)
  }

  /** Returns the nodes that may be tried now, in order; those that failed recently come last. */
  #candidates(attempts: CallAttempts, call: UpstreamCall): UpstreamNode[] {
    const { commitment, minSlot } = call
    const cost = this.#costOf(call)
    const mayAsk = (node: UpstreamNode): boolean => attempts.admits(node, minSlot) && node.admits(cost)
    return [...this.#pool.inOrder(commitment, minSlot), ...this.#pool.failedLately()].filter(mayAsk)
  }

  #costOf({ method }: UpstreamCall): number {
    return this.#pool.tuning.costs.of(method.name)
  }

  /** Returns the nodes that were not tried although they are up. */
  #withheld(attempts: CallAttempts, call: UpstreamCall): WithheldNodes {
    const { commitment, minSlot } = call
    const waits = this.#pool
      .inOrder(commitment, minSlot)
      .filter((node) => attempts.admits(node, minSlot))
      .map((node) => node.budget.waitMs(this.#costOf(call), this.#clock.now()))
    return {
      waitMs: waits.length === 0 ? null : Math.min(...waits),
      cordoned: this.#pool.nodes.filter(({ cordonedAtMs }) => cordonedAtMs !== null).length
    }
  }

  /** Returns the answer for the client, null if another node may be tried, or `ends`. */
  async #attempt(
    node: UpstreamNode,
    others: readonly UpstreamNode[],
    read: Resolving
  ): Promise<UpstreamAnswer | 'ends' | null> {
    const { attempts } = read
    if (attempts.hasAsked) this.#counts.failovers++
    attempts.asks(node)
    try {
      const outcome = await this.#sendHedged(node, others, read)
      return attempts.judge(node, outcome, this.#clock.now())
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      return attempts.failed(error) ? null : 'ends'
    }
  }

  /** Returns the call without a floor that no node has reached for too long; null if its floor stands. */
  #withoutFloor(call: UpstreamCall): UpstreamCall | null {
    const minSlot = Math.max(call.minContextSlot, this.#pool.reached(call.commitment))
    return minSlot < call.minSlot ? { ...call, minSlot } : null
  }

  /** Tells whether to wait for a slot, or for the first probes of the service. */
  #mayWait(call: UpstreamCall, attempts: CallAttempts, waitedMs: number): boolean {
    const isEarly = !attempts.hasAsked && this.#pool.isStarting
    if ((attempts.isBehind || isEarly) && waitedMs < this.#pool.tuning.behindMs) return true
    // A floor that no node has reached is reached or abandoned within seconds.
    const newest = this.#pool.newest(call.commitment) ?? 0
    return attempts.isBehind && newest < call.minSlot && call.minSlot > call.minContextSlot
  }

  /** Sends the call to a node, and to a second one if the first is slow. */
  async #sendHedged(
    node: UpstreamNode,
    others: readonly UpstreamNode[],
    { call, attempts, deadline }: Resolving
  ): Promise<NodeOutcome> {
    const { signal } = deadline
    if (!call.method.isIdempotent || this.#pool.nodes.length === 1) return this.#send(node, call, signal)
    // Half of the time left if another node can be tried after this one; else the deadline alone.
    const limitMs = (rest: number): number | null => (rest === 0 ? null : deadline.leftMs() / 2)
    const first = (end: AbortSignal) => this.#sendWithin(node, call, end, limitMs(others.length))
    const second = others.find((each) => isFresh(each, call) && !attempts.wasAsked(each))
    if (second === undefined) return first(signal)
    const hedgeMs = Math.max(this.#pool.tuning.hedgeMs, HEDGE_TIMES * (node.latencyMs ?? 0))
    return this.#hedge.request(hedgeMs, signal, {
      first,
      second: async (end) => {
        const restMs = second.budget.waitMs(this.#costOf(call), this.#clock.now())
        // Its budget was spent while the first node was waited for.
        if (restMs > 0) throw second.link.error({ kind: 'throttled', restMs })
        this.#counts.hedges++
        attempts.asks(second)
        return this.#sendWithin(second, call, end, limitMs(others.length - 1))
      }
    })
  }

  async #sendWithin(
    node: UpstreamNode,
    call: UpstreamCall,
    signal: AbortSignal,
    limitMs: number | null
  ): Promise<NodeOutcome> {
    if (limitMs === null) return this.#send(node, call, signal)
    const end = new AbortController()
    const leave = (): void => end.abort(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    const timer = this.#clock.setTimeout(
      () => end.abort(node.link.error({ kind: 'timeout', afterMs: Math.round(limitMs) })),
      limitMs
    )
    try {
      return await this.#send(node, call, end.signal)
    } finally {
      this.#clock.clearTimeout(timer)
      signal.removeEventListener('abort', leave)
    }
  }

  async #send(node: UpstreamNode, call: UpstreamCall, signal: AbortSignal): Promise<NodeOutcome> {
    this.#counts.requests++
    try {
      return await recorded(node, [call], this.#clock, () =>
        askNode(node, call, this.#pool.newest('processed'), this.#clock, signal)
      )
    } catch (error) {
      if (error instanceof NodeError) {
        if (error.fault.kind === 'too-large') throw new AnswerTooLarge()
        node.failed(error)
      }
      throw error
    }
  }
}

/** Tells whether a node can answer instead of a slow one: it is up, has reached the slot, and is no archive. */
const isFresh = (node: UpstreamNode, { commitment, minSlot }: UpstreamCall): boolean =>
  node.isUsable && !node.isArchive && (node.slot(commitment) ?? 0) >= minSlot

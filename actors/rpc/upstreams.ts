import { NodeError, refusesRequest, refusesSize } from '../../src/node/node-fault.ts'
import { sleep, type Ports } from '../../src/ports.ts'
import { mapBounded } from '../../src/rpc/bounded-map.ts'
import type { Commitment } from '../../src/rpc/commitment.ts'
import {
  AnswerTooLarge,
  isUnanswered,
  NoUpstream,
  RequestRefused,
  type RpcUpstreams,
  type Unanswered,
  type UpstreamAnswer,
  type UpstreamCall
} from '../../src/rpc/upstreams.ts'
import { afterSockets, type RunPiece } from '../../src/work/turns.ts'
import { GatheredReads } from './gathered-reads.ts'
import { Hedge } from './hedge.ts'
import { wasUnsent } from './node-link.ts'
import { askNode, askNodeAll, type NodeOutcome } from './node-request.ts'
import { NodePool, type RpcNodesOptions } from './node-pool.ts'
import type { UpstreamNode } from './upstream-node.ts'

/** Hedging by the latency of a node: its average times this. */
const HEDGE_TIMES = 4
/** Milliseconds between two looks at a slot that is waited for. */
const BEHIND_RETRY_MS = 100
/** Requests of one batch that are in flight at a time, where a node takes no batches. */
const SINGLES_MAX = 16
/**
 * Share of the memory of all answers that batches of clients may take. What clients request must not exceed the whole,
 * because a node is blamed for that.
 */
const BUFFERED_SHARE = 0.5
/** Counts the outcomes of requests. */
export interface RpcNodesCounts {
  requests: number
  failovers: number
  hedges: number
  refusedSlots: number
}

/** The operator's nodes and archives behind the RPC URL. */
export class RpcNodes implements RpcUpstreams {
  readonly #pool: NodePool
  readonly #ports: Ports
  readonly #hedge: Hedge
  readonly counts: RpcNodesCounts = { requests: 0, failovers: 0, hedges: 0, refusedSlots: 0 }
  readonly #gathered = new GatheredReads({
    alone: (call) => this.#resolve(call, neverAborted(), new Set(), null),
    together: (calls) => this.requestAll(calls, neverAborted())
  })
  #bufferedBytes = 0

  constructor(options: RpcNodesOptions, ports: Ports) {
    this.#pool = new NodePool(options, ports)
    this.#ports = ports
    this.#hedge = new Hedge(ports.clock)
  }

  get nodes(): readonly UpstreamNode[] {
    return this.#pool.nodes
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#pool.run(signal)
  }

  inOrder(commitment: Commitment, minSlot: number): readonly UpstreamNode[] {
    return this.#pool.inOrder(commitment, minSlot)
  }

  newest(commitment: Commitment): number | null {
    return this.#pool.newest(commitment)
  }

  sawSlot(node: string, commitment: Commitment, slot: number): void {
    this.#pool.sawSlot(node, commitment, slot)
  }

  onChange(listener: () => void): () => void {
    return this.#pool.onChange(listener)
  }

  /** Requests in flight to all nodes. */
  get inFlight(): number {
    return this.nodes.reduce((sum, { link }) => sum + link.inFlight, 0)
  }

  request(call: UpstreamCall, signal: AbortSignal | null): Promise<UpstreamAnswer> {
    if (this.#mayGather(call)) return this.#gathered.read(call)
    return this.#resolve(call, signal ?? neverAborted(), new Set(), null)
  }

  async requestAll(
    calls: readonly UpstreamCall[],
    signal: AbortSignal,
    runPiece = afterSockets
  ): Promise<readonly (UpstreamAnswer | Unanswered)[]> {
    this.#pool.noteRequest()
    const minSlot = Math.max(...calls.map((call) => call.minSlot))
    const [node] = this.inOrder(calls[0]!.commitment, minSlot)
    const isBatch = calls.length > 1 && node !== undefined && node.takesBatches
    let outcomes: readonly (NodeOutcome | RequestRefused | null)[] = calls.map(() => null)
    const tried = new Set<UpstreamNode>()
    if (isBatch) {
      try {
        outcomes = await this.#sendAll(node, calls, signal, runPiece)
        // After a batch was refused as a whole, its calls are sent to the same node as single requests.
        if (outcomes.some((each) => each !== null)) tried.add(node)
      } catch (error) {
        if (error instanceof AnswerTooLarge) return calls.map(() => error)
        if (!(error instanceof NodeError)) throw error
        node.failed(error)
        this.counts.failovers++
        tried.add(node)
      }
    }
    const delivered = outcomes.flatMap((each) =>
      isOutcome(each) && each.verdict === 'deliver' ? [each.answer] : []
    )
    if (delivered.length === calls.length) return delivered
    return mapBounded(calls, SINGLES_MAX, async (call, at) => {
      const outcome = outcomes[at] ?? null
      if (isOutcome(outcome) && outcome.verdict === 'deliver') return outcome.answer
      return this.#resolve(call, signal, new Set(tried), outcome).catch((error: unknown) => {
        if (isUnanswered(error)) return error
        throw error
      })
    })
  }

  /**
   * Sends reads to a node as a batch. A batch that is too large for the node is sent in halves, and a read that is too
   * large by itself is refused. All outcomes are null if the node refuses the batch for another reason.
   */
  async #sendAll(
    node: UpstreamNode,
    calls: readonly UpstreamCall[],
    signal: AbortSignal,
    runPiece: RunPiece
  ): Promise<readonly (NodeOutcome | RequestRefused | null)[]> {
    this.counts.requests++
    try {
      const pace = { bytesLeft: (bytes: number) => this.#buffer(bytes), runPiece }
      return await askNodeAll(node, calls, this.newest('processed'), pace, signal)
    } catch (error) {
      if (!(error instanceof NodeError) || !refusesRequest(error.fault)) throw error
      if (!refusesSize(error.fault)) return calls.map(() => null)
      if (calls.length === 1) return [refusalOf(error)]
      const half = calls.length >> 1
      const halves = [calls.slice(0, half), calls.slice(half)]
      return (await Promise.all(halves.map((each) => this.#sendAll(node, each, signal, runPiece)))).flat()
    }
  }

  /** With a second node each read is hedged by itself. */
  #mayGather(call: UpstreamCall): boolean {
    const [node] = this.nodes
    return this.nodes.length === 1 && node!.isUsable && node!.takesBatches && GatheredReads.takes(call)
  }

  /**
   * Asks one node after another until one has an answer for the client. `tried` were asked before, the last of them with an
   * outcome that may be improved, or with a refusal.
   */
  async #resolve(
    call: UpstreamCall,
    signal: AbortSignal,
    tried: Set<UpstreamNode>,
    before: NodeOutcome | RequestRefused | null
  ): Promise<UpstreamAnswer> {
    this.#pool.noteRequest()
    const { clock } = this.#ports
    const untilMs = clock.now() + this.#pool.tuning.behindMs
    let best: UpstreamAnswer | null = null
    let isArchiveOnly = false
    let isAbsent = false
    let isBehind = false
    let last: NodeError | null = null
    const judge = ({ answer, verdict }: NodeOutcome): UpstreamAnswer | null => {
      if (verdict === 'deliver') return answer
      if (verdict === 'behind') isBehind = true
      else best = answer
      if (verdict === 'archive') isArchiveOnly = true
      isAbsent ||= verdict !== 'behind' && call.method.hasArchive
      return null
    }
    let refusal = before instanceof RequestRefused ? before : null
    if (isOutcome(before)) judge(before)
    for (;;) {
      const node = this.#next(call, tried, isArchiveOnly)
      if (node === undefined) {
        const isEarly = tried.size === 0 && this.#isStarting
        if (best !== null || !(isBehind || isEarly) || clock.now() >= untilMs) break
        await sleep(clock, BEHIND_RETRY_MS, signal)
        signal.throwIfAborted()
        tried.clear()
        isBehind = false
        continue
      }
      if (tried.size > 0) this.counts.failovers++
      tried.add(node)
      try {
        const answer = judge(await this.#ask(node, call, signal, tried))
        if (answer !== null) return answer
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        if (refusesRequest(error.fault)) refusal = refusalOf(error)
        else last = error
        if (!call.method.isIdempotent && !wasUnsent(error)) break
      }
    }
    // An archive that is unavailable may have blocks that the nodes lack.
    const hasTriedAll = this.nodes.every((node) => !node.isArchive || (tried.has(node) && last === null))
    if (best !== null && (!isAbsent || hasTriedAll)) return best
    if (refusal !== null) throw refusal
    throw new NoUpstream(
      isBehind && best === null
        ? `no node has reached slot ${call.minSlot}`
        : 'no node answers this request now',
      { cause: last }
    )
  }

  #next(
    call: UpstreamCall,
    tried: ReadonlySet<UpstreamNode>,
    isArchiveOnly: boolean
  ): UpstreamNode | undefined {
    const { isIdempotent } = call.method
    return this.inOrder(call.commitment, call.minSlot).find(
      (node) => !tried.has(node) && (node.isArchive ? isIdempotent : !isArchiveOnly)
    )
  }

  /** Whether no node has been probed yet. */
  get #isStarting(): boolean {
    return this.nodes.every(({ state, facts }) => state === 'probing' && facts.attempt === 0)
  }

  /** Asks a node, and a second one if the first is slow. */
  async #ask(
    node: UpstreamNode,
    call: UpstreamCall,
    signal: AbortSignal,
    tried: Set<UpstreamNode>
  ): Promise<NodeOutcome> {
    const second = call.method.isIdempotent ? this.#second(call, tried) : undefined
    if (second === undefined) return this.#send(node, call, signal)
    const hedgeMs = Math.max(this.#pool.tuning.hedgeMs, HEDGE_TIMES * (node.latencyMs ?? 0))
    return this.#hedge.request(hedgeMs, signal, {
      first: (end) => this.#send(node, call, end),
      second: (end) => {
        this.counts.hedges++
        tried.add(second)
        return this.#send(second, call, end)
      }
    })
  }

  #second(call: UpstreamCall, tried: ReadonlySet<UpstreamNode>): UpstreamNode | undefined {
    if (this.nodes.length < 2) return undefined
    const { commitment, minSlot } = call
    return this.inOrder(commitment, minSlot).find(
      (node) => !tried.has(node) && !node.isArchive && (node.slot(commitment) ?? 0) >= minSlot
    )
  }

  async #send(node: UpstreamNode, call: UpstreamCall, signal: AbortSignal): Promise<NodeOutcome> {
    this.counts.requests++
    try {
      return await askNode(node, call, this.newest('processed'), this.#ports.clock, signal)
    } catch (error) {
      if (error instanceof NodeError) {
        if (error.fault.kind === 'too-large') throw new AnswerTooLarge()
        node.failed(error)
      }
      throw error
    }
  }

  /** Reserves bytes of memory, or releases them if the number is negative. Returns false if there are none left. */
  #buffer(bytes: number): boolean {
    if (this.#bufferedBytes + bytes > this.#pool.tuning.link.memory.bytesMax * BUFFERED_SHARE) return false
    this.#bufferedBytes += bytes
    return true
  }
}

const isOutcome = (each: NodeOutcome | RequestRefused | null): each is NodeOutcome =>
  each !== null && !(each instanceof RequestRefused)

const refusalOf = ({ fault }: NodeError): RequestRefused =>
  new RequestRefused(fault.kind === 'http' ? fault.status : 400)

/** The signal of a request that is never cancelled. */
const neverAborted = (): AbortSignal => new AbortController().signal

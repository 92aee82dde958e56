import { NodeError, refusesRequest, refusesSize } from '../../src/node/node-fault.ts'
import type { Clock, Ports } from '../../src/ports.ts'
import { mapBounded } from '../../src/rpc/bounded-map.ts'
import type { Commitment } from '../../src/rpc/commitment.ts'
import type { NodeControl } from '../../src/rpc/node-control.ts'
import {
  isUnanswered,
  RequestRefused,
  type RpcUpstreams,
  type Unanswered,
  type UpstreamAnswer,
  type UpstreamCall
} from '../../src/rpc/upstreams.ts'
import { afterSockets, type RunPiece } from '../../src/kernel/work/turns.ts'
import { GatheredReads } from './gathered-reads.ts'
import { Failover, type RpcNodesCounts } from './failover.ts'
import { askNodeAll, type NodeOutcome } from './node-request.ts'
import { recorded } from './recorded-request.ts'
import { NodePool, type RpcNodesOptions } from './node-pool.ts'
import { RequestDeadlines, unlimited, type RequestDeadline } from './request-deadlines.ts'
import type { UpstreamNode } from './upstream-node.ts'

/** Requests of one batch that are in flight at a time, where a node takes no batches. */
const SINGLES_MAX = 16
/**
 * Share of the memory of all answers that batches of clients may take. What clients request must not exceed the whole,
 * because a node is blamed for that.
 */
const BUFFERED_SHARE = 0.5

/** The operator's nodes and archives behind the RPC URL. */
export class RpcNodes implements RpcUpstreams {
  readonly #pool: NodePool
  readonly #clock: Clock
  readonly #failover: Failover
  readonly #deadlines: RequestDeadlines
  readonly counts: RpcNodesCounts = { requests: 0, failovers: 0, hedges: 0 }
  readonly #gathered = new GatheredReads({
    alone: (call) => this.#resolve(call, null),
    together: (calls) => this.requestAll(calls, null)
  })
  #bufferedBytes = 0

  constructor(options: RpcNodesOptions, ports: Ports) {
    this.#pool = new NodePool(options, ports)
    this.#clock = ports.clock
    this.#failover = new Failover(this.#pool, ports.clock, this.counts)
    this.#deadlines = new RequestDeadlines(ports.clock, this.#pool.tuning.deadlineMs)
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

  reached(commitment: Commitment): number {
    return this.#pool.reached(commitment)
  }

  /** Records a slot that an answer or a notification has stated. */
  stated(commitment: Commitment, slot: number): void {
    this.#pool.stated(commitment, slot)
  }

  sawSlot(node: string, commitment: Commitment, slot: number): void {
    this.#pool.sawSlot(node, commitment, slot)
  }

  isCordoned(index: number): boolean {
    return this.nodes.some((node) => !node.isArchive && node.index === index && node.cordonedAtMs !== null)
  }

  /** The nodes as operators see and change them. */
  get control(): NodeControl {
    return this.#pool
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
    return this.#resolve(call, signal)
  }

  async #resolve(call: UpstreamCall, signal: AbortSignal | null): Promise<UpstreamAnswer> {
    this.#pool.noteRequest()
    const deadline = call.method.isIdempotent ? this.#deadlines.open(signal) : unlimited(signal)
    try {
      return await this.#failover.resolve(call, deadline)
    } finally {
      deadline.close()
    }
  }

  async requestAll(
    calls: readonly UpstreamCall[],
    signal: AbortSignal | null,
    runPiece = afterSockets
  ): Promise<readonly (UpstreamAnswer | Unanswered)[]> {
    this.#pool.noteRequest()
    const deadline = this.#deadlines.open(signal)
    try {
      return await this.#requestAll(calls, deadline, runPiece)
    } finally {
      deadline.close()
    }
  }

  async #requestAll(
    calls: readonly UpstreamCall[],
    deadline: RequestDeadline,
    runPiece: RunPiece
  ): Promise<readonly (UpstreamAnswer | Unanswered)[]> {
    const minSlot = Math.max(...calls.map((call) => call.minSlot))
    const cost = this.#pool.tuning.costs.ofAll(calls)
    const node = this.inOrder(calls[0]!.commitment, minSlot).find((each) => each.admits(cost))
    const isBatch = calls.length > 1 && node !== undefined && node.takesBatches
    let outcomes: readonly (NodeOutcome | RequestRefused | null)[] = calls.map(() => null)
    const tried = new Set<UpstreamNode>()
    if (isBatch) {
      try {
        outcomes = await this.#sendAll(node, calls, deadline.signal, runPiece)
        // After a batch was refused as a whole, its calls are sent to the same node as single requests.
        if (outcomes.some((each) => each !== null)) tried.add(node)
      } catch (error) {
        if (isUnanswered(error)) return calls.map(() => error)
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
      return this.#failover.resolve(call, deadline, tried, outcome).catch((error: unknown) => {
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
      return await recorded(node, calls, this.#clock, () =>
        askNodeAll(node, calls, this.newest('processed'), pace, signal)
      )
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

  /** Reserves bytes of memory, or releases them if the number is negative. Returns false if they exceed the limit. */
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

import type { NodeAddress } from '../../src/node/node-address.ts'
import type { NodeError, NodeFault } from '../../src/node/node-fault.ts'
import { NodeHttp, type RequestWay } from '../../src/node/node-http.ts'
import type { Clock } from '../../src/ports.ts'
import { answerMemory, type AnswerMemory } from '../../src/kernel/memory/answer-memory.ts'
import type { ResponseStart } from '../../src/node/answer-body.ts'
import { ReadSockets } from './read-sockets.ts'

export interface NodeLinkTuning {
  /** Maximum sockets to the node. */
  readonly connections: number
  /** Maximum requests in flight and waiting; a further one fails at once. */
  readonly requestsMax: number
  readonly connectMs: number
  /** Maximum milliseconds until an answer begins, and between pieces of it. */
  readonly stallMs: number
  /** Maximum bytes of an answer. */
  readonly bytesMax: number
  /** Counts the bytes of answers of all nodes. */
  readonly memory: AnswerMemory
}

/** Reads like getProgramAccounts may take a node several seconds; a mainnet block has at most 15 MB. */
export const NODE_LINK_TUNING: NodeLinkTuning = {
  connections: 64,
  requestsMax: 1_024,
  connectMs: 2_000,
  stallMs: 10_000,
  bytesMax: 32 * 1024 * 1024,
  memory: answerMemory
}

/** Answers up to this length are read whole before anything is sent on. Until then another node can be tried instead. */
const WINDOW_BYTES = 64 * 1024
/** Over loopback compression costs more than the bytes. */
const LOOPBACK = /^https?:\/\/(127\.|localhost\b|\[::1\])/

/** The connections to one node behind the RPC URL: HTTP, with a faster way for reads. */
export class NodeLink {
  readonly name: string
  readonly #http: NodeHttp
  readonly #tuning: NodeLinkTuning
  readonly #sockets: ReadSockets
  readonly #fast: RequestWay

  constructor(address: NodeAddress, clock: Clock, tuning: NodeLinkTuning) {
    this.name = address.name
    this.#tuning = tuning
    const compressed = !LOOPBACK.test(address.origin)
    this.#http = new NodeHttp(address, clock, { ...tuning, compressed, windowBytes: WINDOW_BYTES })
    const { origin, path } = address
    const { connections, connectMs, stallMs } = tuning
    const sockets = new ReadSockets(
      { origin, path, headers: this.#http.headers, connections, connectMs, stallMs },
      clock
    )
    this.#sockets = sockets
    this.#fast = { post: (body, answer, dispatch) => sockets.post(body, answer, dispatch) }
  }

  /** The memory that counts its answers. */
  get memory(): AnswerMemory {
    return this.#tuning.memory
  }

  /** Whether the node requested a pause that is not over. */
  get isResting(): boolean {
    return this.#http.isResting
  }

  /** Requests whose answer has not begun. */
  get inFlight(): number {
    return this.#http.inFlight
  }

  /** Requests sent since the start. */
  get sent(): number {
    return this.#http.sent
  }

  /**
   * Posts a body. Resolves with the beginning of an answer with HTTP status 200, or another status with JSON. A read, which
   * may be sent twice, takes the faster connections.
   *
   * @throws NodeError for any fault of the node; the signal's reason when it aborts
   */
  async post(body: string, signal: AbortSignal, isRead = false): Promise<ResponseStart> {
    if (this.inFlight >= this.#tuning.requestsMax && !this.isResting)
      throw this.error({ kind: 'busy', waiting: this.inFlight })
    const start = await this.#http.post(body, signal, isRead && this.#sockets.isOn ? this.#fast : {})
    const { status } = start
    if (status < 300) return start
    // Some nodes answer JSON-RPC errors with HTTP 4xx.
    const isUnauthorized = status === 401 || status === 403
    if (!isUnauthorized && status < 500 && start.rest === null) return start
    start.rest?.abort()
    throw this.error({ kind: isUnauthorized ? 'unauthorized' : 'http', status })
  }

  error(fault: NodeFault, cause?: unknown): NodeError {
    return this.#http.error(fault, cause)
  }

  /** Returns the fault of an answer that broke off. */
  faultOf(error: Error): NodeError {
    return this.#http.faultOf(error)
  }

  async close(): Promise<void> {
    this.#sockets.close()
    await this.#http.close()
  }
}

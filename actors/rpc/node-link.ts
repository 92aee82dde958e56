import type { NodeAddress } from '../../src/node/node-address.ts'
import { NodeError, refusesSize, type NodeFault } from '../../src/node/node-fault.ts'
import { Pool } from '../../src/node/undici.ts'
import type { Clock } from '../../src/ports.ts'
import { answerMemory, AnswersTooLarge, type AnswerMemory } from '../../src/kernel/memory/answer-memory.ts'
import { AnswerBody, BodyTooLong, type ResponseStart } from './answer-body.ts'
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
/** Pause after HTTP 429 without Retry-After, and the longest pause that a node can request, in milliseconds. */
const REST_MS = 1_000
const REST_MAX_MS = 60_000

/** The connections to one node. Each request is sent once; faults are NodeErrors. */
export class NodeLink {
  readonly name: string
  readonly #address: NodeAddress
  readonly #clock: Clock
  readonly #tuning: NodeLinkTuning
  readonly #headers: Readonly<Record<string, string>>
  readonly #pool: Pool
  readonly #sockets: ReadSockets
  #restUntilMs = 0
  /** Requests in flight, and sent since the start. */
  inFlight = 0
  sent = 0

  constructor(address: NodeAddress, clock: Clock, tuning: NodeLinkTuning) {
    this.name = address.name
    this.#address = address
    this.#clock = clock
    this.#tuning = tuning
    // Over loopback compression costs more than the bytes.
    const isNear = /^https?:\/\/(127\.|localhost\b|\[::1\])/.test(address.origin)
    this.#headers = {
      'content-type': 'application/json',
      ...(!isNear && { 'accept-encoding': 'gzip' }),
      ...(address.authorization !== null && { authorization: address.authorization })
    }
    this.#pool = new Pool(address.origin, {
      connections: tuning.connections,
      connect: { timeout: tuning.connectMs },
      headersTimeout: tuning.stallMs,
      bodyTimeout: tuning.stallMs
    })
    const { origin, path } = address
    const { connections, connectMs, stallMs } = tuning
    this.#sockets = new ReadSockets(
      { origin, path, headers: this.#headers, connections, connectMs, stallMs },
      clock
    )
  }

  /** The memory that counts its answers. */
  get memory(): AnswerMemory {
    return this.#tuning.memory
  }

  /** Whether the node requested a pause that is not over. */
  get isResting(): boolean {
    return this.#clock.now() < this.#restUntilMs
  }

  /**
   * Posts a body. Resolves with the beginning of an answer with HTTP status 200, or another status with JSON. A read, which
   * may be sent twice, takes the faster connections.
   *
   * @throws NodeError for any fault of the node; the signal's reason when it aborts
   */
  async post(body: string, signal: AbortSignal, isRead = false): Promise<ResponseStart> {
    signal.throwIfAborted()
    const restMs = this.#restUntilMs - this.#clock.now()
    if (restMs > 0) throw this.error({ kind: 'throttled', restMs })
    const { requestsMax, bytesMax, memory } = this.#tuning
    if (this.inFlight >= requestsMax) throw this.error({ kind: 'busy', waiting: this.inFlight })
    const limits = { windowBytes: WINDOW_BYTES, bytesMax, memory }
    const start = await this.#send(body, isRead && this.#sockets.isOn, limits, signal)
    const { status, headers } = start
    if (status < 300) return start
    if (status === 429) {
      start.rest?.abort()
      throw this.#rest(headers['retry-after'])
    }
    if (status === 401 || status === 403) {
      start.rest?.abort()
      throw this.error({ kind: 'unauthorized', status })
    }
    // Some nodes answer JSON-RPC errors with HTTP 4xx.
    if (status < 500 && start.rest === null) return start
    start.rest?.abort()
    throw this.error({ kind: 'http', status })
  }

  error(fault: NodeFault, cause?: unknown): NodeError {
    return new NodeError(this.name, fault, cause)
  }

  async close(): Promise<void> {
    this.#sockets.close()
    await this.#pool.destroy()
  }

  #send(
    body: string,
    isFast: boolean,
    limits: { readonly windowBytes: number; readonly bytesMax: number; readonly memory: AnswerMemory },
    signal: AbortSignal
  ): Promise<ResponseStart> {
    this.inFlight++
    this.sent++
    return new Promise<ResponseStart>((resolve, reject) => {
      const abort = (): void => answer.abort(signal.reason as Error)
      const answer = new AnswerBody(limits, (outcome) => {
        this.inFlight--
        signal.removeEventListener('abort', abort)
        if (!(outcome instanceof Error)) resolve(outcome)
        else reject(signal.aborted ? (signal.reason as Error) : this.faultOf(outcome))
      })
      signal.addEventListener('abort', abort, { once: true })
      const { path } = this.#address
      const dispatch = (): void =>
        void this.#pool.dispatch({ method: 'POST', path, headers: this.#headers, body }, answer)
      if (isFast) this.#sockets.post(body, answer, dispatch)
      else dispatch()
    })
  }

  #rest(retryAfter: string | string[] | undefined): NodeError {
    const seconds = Number(retryAfter)
    const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : REST_MS
    const restMs = Math.min(retryAfterMs, REST_MAX_MS)
    this.#restUntilMs = this.#clock.now() + restMs
    return this.error({ kind: 'throttled', restMs })
  }

  /** Returns the fault of a request that failed, or of an answer that broke off. */
  faultOf(error: Error): NodeError {
    if (error instanceof BodyTooLong)
      return this.error({ kind: 'too-large', bytesMax: this.#tuning.bytesMax })
    if (error instanceof AnswersTooLarge)
      return this.error({ kind: 'memory-exceeded', bytesMax: error.bytesMax })
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
      return this.error({ kind: 'timeout', afterMs: this.#tuning.stallMs })
    const detail = this.#address.redact(message || (code ?? 'no reason')).slice(0, 200)
    if (code?.startsWith('Z_') === true) return this.error({ kind: 'garbage', detail })
    return this.error({ kind: 'unreachable', detail }, error)
  }
}

/** Tells whether the node cannot have taken a request that failed: no connection was made, or its size was refused. */
export function wasUnsent({ fault, cause }: NodeError): boolean {
  if (fault.kind === 'busy' || fault.kind === 'throttled' || refusesSize(fault)) return true
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  return code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ENOTFOUND'
}

/** Tells whether the node closed a connection while a request was on it, as it may with an idle one. */
export function isDropped({ cause }: NodeError): boolean {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

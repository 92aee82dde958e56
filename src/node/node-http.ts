import { AnswersTooLarge, type AnswerMemory } from '../kernel/memory/answer-memory.ts'
import type { Clock } from '../ports.ts'
import { AnswerBody, BodyTooLong, type ResponseStart } from './answer-body.ts'
import type { NodeAddress } from './node-address.ts'
import { NodeError, type NodeFault } from './node-fault.ts'
import { Pool } from './undici.ts'

export interface NodeHttpOptions {
  /** Maximum sockets to the node. */
  readonly connections: number
  readonly connectMs: number
  /** Maximum milliseconds until an answer begins, and between pieces of it; 0 for no limit. */
  readonly stallMs: number
  /** Whether to request gzip, which is worthwhile over any network. */
  readonly compressed: boolean
  /** Headers of every request, such as one with a token. */
  readonly headers?: Readonly<Record<string, string>>
  /** A longer answer is passed on while it arrives. */
  readonly windowBytes: number
  /** Maximum decompressed bytes of an answer. */
  readonly bytesMax: number
  /** Bytes that gzip unpacks at a time; absent for the default of zlib. */
  readonly unzipChunkBytes?: number
  /** Counts the bytes of answers of all nodes. */
  readonly memory: AnswerMemory
}

/** Where a request goes, if not by POST over the pool to the path of the node's address. */
export interface RequestWay {
  readonly path?: string | undefined
  /** Sends a body in place of the pool; `dispatch` sends it over the pool after all. */
  readonly post?: ((body: string, answer: AnswerBody, dispatch: () => void) => void) | undefined
}

/** Pause after HTTP 429 without Retry-After, and the longest pause that a node can request, in milliseconds. */
const REST_MS = 1_000
const REST_MAX_MS = 60_000
/** Maximum characters of a fault's detail. */
const DETAIL_MAX = 200

/**
 * HTTP to one node over persistent connections. Each request is sent once; faults are NodeErrors, which contain no part of
 * the node's URL. During the pause after a 429, requests fail at once and are not sent.
 */
export class NodeHttp {
  readonly address: NodeAddress
  /** The headers of every request, by name in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly #clock: Pick<Clock, 'now'>
  readonly #options: NodeHttpOptions
  #pool: Pool
  #restUntilMs = 0
  /** Requests whose answer has not begun, and requests sent since the start. */
  inFlight = 0
  sent = 0

  constructor(address: NodeAddress, clock: Pick<Clock, 'now'>, options: NodeHttpOptions) {
    this.address = address
    this.#clock = clock
    this.#options = options
    this.headers = {
      ...options.headers,
      'content-type': 'application/json',
      ...(options.compressed && { 'accept-encoding': 'gzip' }),
      ...(address.authorization !== null && { authorization: address.authorization })
    }
    this.#pool = this.#openPool()
  }

  get name(): string {
    return this.address.name
  }

  /** Whether the node requested a pause that is not over. */
  get isResting(): boolean {
    return this.#clock.now() < this.#restUntilMs
  }

  /**
   * Posts a body. Resolves with the beginning of the answer, or the whole of a short one, of any status but 429.
   *
   * @throws NodeError for any fault of the node; the signal's reason when it aborts
   */
  post(body: string, signal: AbortSignal, way: RequestWay = {}): Promise<ResponseStart> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const restMs = this.#restUntilMs - this.#clock.now()
      if (restMs > 0) throw this.error({ kind: 'throttled', restMs })
      this.inFlight++
      this.sent++
      const abort = (): void => answer.abort(signal.reason as Error)
      const answer = new AnswerBody(this.#options, (start) => {
        this.inFlight--
        signal.removeEventListener('abort', abort)
        if (start instanceof Error)
          return reject(signal.aborted ? (signal.reason as Error) : this.faultOf(start))
        if (start.status !== 429) return resolve(start)
        start.rest?.abort()
        reject(this.#rest(start.headers['retry-after']))
      })
      signal.addEventListener('abort', abort, { once: true })
      const { path = this.address.path } = way
      const dispatch = (): void =>
        void this.#pool.dispatch({ method: 'POST', path, headers: this.headers, body }, answer)
      if (way.post === undefined) dispatch()
      else way.post(body, answer, dispatch)
    })
  }

  error(fault: NodeFault, cause?: unknown): NodeError {
    return new NodeError(this.name, fault, cause)
  }

  /** Returns the fault of a request that failed, or of an answer that broke off. */
  faultOf(error: Error): NodeError {
    const { bytesMax, stallMs } = this.#options
    if (error instanceof BodyTooLong) return this.error({ kind: 'too-large', bytesMax })
    if (error instanceof AnswersTooLarge)
      return this.error({ kind: 'memory-exceeded', bytesMax: error.bytesMax })
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
      return this.error({ kind: 'timeout', afterMs: stallMs })
    const detail = this.address.redact(message || (code ?? 'no reason')).slice(0, DETAIL_MAX)
    if (code?.startsWith('Z_') === true || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
      return this.error({ kind: 'garbage', detail })
    return this.error({ kind: 'unreachable', detail }, error)
  }

  /** Opens new connections for later requests; requests in flight finish on the old ones. */
  renewConnections(): void {
    const old = this.#pool
    this.#pool = this.#openPool()
    old.close().catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  #rest(retryAfter: string | string[] | undefined): NodeError {
    const seconds = Number(retryAfter)
    const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : REST_MS
    const restMs = Math.min(retryAfterMs, REST_MAX_MS)
    this.#restUntilMs = this.#clock.now() + restMs
    return this.error({ kind: 'throttled', restMs })
  }

  #openPool(): Pool {
    const { connections, connectMs, stallMs } = this.#options
    return new Pool(this.address.origin, {
      connections: connections === Infinity ? null : connections,
      connect: { timeout: connectMs },
      headersTimeout: stallMs,
      bodyTimeout: stallMs
    })
  }
}

import PQueue from 'p-queue'
import { answerMemory, AnswersTooLarge, type AnswerMemory } from '../kernel/memory/answer-memory.ts'
import type { Clock } from '../ports.ts'
import type { NodeAddress } from './node-address.ts'
import { NodeError, RPC_CODE, type NodeFault } from './node-fault.ts'
import { Pool } from './undici.ts'
import { readBody, resultOf, resultsOf, TooLarge, type AnswerReading } from './rpc-answer.ts'

export interface RpcClientOptions {
  /** Maximum number of requests started in any second. */
  readonly requestsPerSecond: number
  /** Maximum number of requests in flight, and of sockets. */
  readonly concurrency: number
  /** Time from the start of a request to the last byte of its answer. */
  readonly timeoutMs: number
  /** Maximum size of one decompressed answer. */
  readonly bodyBytesMax: number
  /** Whether to request gzip, which is worthwhile over any network. */
  readonly compressed: boolean
  /** Headers of every request, such as one with a token. */
  readonly headers: Readonly<Record<string, string>>
  /** Counts the bytes of answers of all nodes. */
  readonly memory: AnswerMemory
}

/** Blocks set time and size: one of mainnet in 2026 has 5 to 15 MB of JSON. Public nodes allow about this rate. */
export const RPC_CLIENT_DEFAULTS: RpcClientOptions = {
  requestsPerSecond: 40,
  concurrency: 8,
  timeoutMs: 10_000,
  bodyBytesMax: 256 * 1024 * 1024,
  compressed: true,
  headers: {},
  memory: answerMemory
}

export interface CallOptions {
  readonly signal: AbortSignal
  /** Replaces the client's timeout. */
  readonly timeoutMs?: number
  /** Whether the request goes before queued ones. */
  readonly urgent?: boolean
  /** Replaces the path of the client's address. */
  readonly path?: string
}

export interface RpcAnswer {
  readonly result: unknown
  /** The whole JSON-RPC response as the node sent it, decompressed. */
  readonly body: Buffer
}

interface HttpAnswer {
  readonly bytes: Buffer
  readonly statusCode: number
}

/** Maximum number of requests waiting for one node; further ones fail at once. */
const WAITING_MAX = 1_000
/**
 * Maximum time to connect in milliseconds, and the share of a request's timeout that connecting may take. A failed
 * connection must be reported as such, before the timeout of the request: no request was sent over it.
 */
const CONNECT_TIMEOUT_MS = 5_000
const CONNECT_SHARE = 0.6
/** Pause after HTTP 429 without a Retry-After header, and the longest pause that a node can request. */
const REST_MS = 1_000
const REST_MAX_MS = 60_000
/** Maximum number of bytes read from an error response. */
const ERROR_BODY_BYTES_MAX = 64 * 1024

/**
 * Sends JSON-RPC to one node over persistent connections, with limits on rate, concurrency, time and size. A request
 * fails with a NodeError. No request is sent twice, except a read whose persistent connection turned out to be
 * closed. During the pause after a 429, requests fail at once and are not sent.
 */
export class RpcClient {
  readonly address: NodeAddress
  readonly #options: RpcClientOptions
  readonly #clock: Clock
  readonly #queue: PQueue
  #pool: Pool
  #restUntilMs = 0
  #id = 0
  /** Number of requests sent. */
  sent = 0

  constructor(address: NodeAddress, clock: Clock, options: Partial<RpcClientOptions> = {}) {
    this.address = address
    this.#clock = clock
    this.#options = { ...RPC_CLIENT_DEFAULTS, ...options }
    const { concurrency, requestsPerSecond } = this.#options
    const rate =
      requestsPerSecond === Infinity
        ? {}
        : ({ interval: 1_000, intervalCap: requestsPerSecond, strict: true } as const)
    this.#queue = new PQueue({ concurrency, ...rate })
    this.#pool = this.#openPool()
  }

  get name(): string {
    return this.address.name
  }

  /** Number of queued requests. */
  get waiting(): number {
    return this.#queue.size
  }

  /**
   * Sends a request and returns its answer.
   *
   * @throws NodeError for any fault of the node; the signal's reason when it aborts
   */
  async call(method: string, params: readonly unknown[], options: CallOptions): Promise<RpcAnswer> {
    const { signal, timeoutMs = this.#options.timeoutMs, urgent = false, path } = options
    return this.#enqueue(urgent, signal, () => {
      const id = ++this.#id
      const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
      return this.#inTime(timeoutMs, signal, async (end) => {
        const answer = await this.#repeatable(isRead(method), body, end, path)
        const result = this.#resultOf(resultOf(answer.bytes, id), answer.statusCode)
        return { result, body: answer.bytes }
      })
    })
  }

  /**
   * Sends several requests of one method in one POST. Returns a result or a NodeError for each, in their order.
   *
   * @throws NodeError if the node refused the whole batch; the signal's reason when it aborts
   */
  async batch(
    method: string,
    calls: readonly (readonly unknown[])[],
    { signal, timeoutMs = this.#options.timeoutMs, urgent = false, path }: CallOptions
  ): Promise<unknown[]> {
    return this.#enqueue(urgent, signal, () => {
      const first = this.#id + 1
      this.#id += calls.length
      const body = JSON.stringify(
        calls.map((params, at) => ({ jsonrpc: '2.0', id: first + at, method, params }))
      )
      return this.#inTime(timeoutMs, signal, async (end) => {
        const { bytes, statusCode } = await this.#repeatable(isRead(method), body, end, path)
        const readings = resultsOf(bytes, first, calls.length)
        if (!Array.isArray(readings)) {
          this.#resultOf(readings, statusCode)
          throw this.#error({ kind: 'garbage', detail: 'one answer to a batch' })
        }
        return readings.map((reading) => {
          try {
            return this.#resultOf(reading, statusCode)
          } catch (error) {
            return error
          }
        })
      })
    })
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

  async #enqueue<T>(urgent: boolean, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (this.#queue.size >= WAITING_MAX) throw this.#error({ kind: 'busy', waiting: this.#queue.size })
    return this.#queue.add(run, { signal, priority: urgent ? 1 : 0 })
  }

  /** Runs a request until it ends, its time is over or `signal` aborts. Rejects with NodeError or the signal's reason. */
  async #inTime<T>(
    timeoutMs: number,
    signal: AbortSignal,
    run: (end: AbortSignal) => Promise<T>
  ): Promise<T> {
    const restMs = this.#restUntilMs - this.#clock.now()
    if (restMs > 0) throw this.#error({ kind: 'throttled', restMs })
    const end = new AbortController()
    const abort = (): void => end.abort()
    let late = false
    const timer = this.#clock.setTimeout(() => {
      late = true
      end.abort()
    }, timeoutMs)
    signal.addEventListener('abort', abort)
    try {
      return await run(end.signal)
    } catch (error) {
      signal.throwIfAborted()
      if (late) throw this.#error({ kind: 'timeout', afterMs: timeoutMs })
      throw this.#faultOf(error)
    } finally {
      this.#clock.clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }

  /** Sends a body. A read is resent if the node closed its persistent connection during the send. */
  async #repeatable(isRead: boolean, body: string, signal: AbortSignal, path?: string): Promise<HttpAnswer> {
    return this.#send(body, signal, path).catch((error: unknown) => {
      if (!isDropped(error) || !isRead || signal.aborted) throw error
      return this.#send(body, signal, path)
    })
  }

  async #send(body: string, signal: AbortSignal, path = this.address.path): Promise<HttpAnswer> {
    const { authorization } = this.address
    this.sent++
    const response = await this.#pool.request({
      method: 'POST',
      path,
      headers: {
        ...this.#options.headers,
        'content-type': 'application/json',
        ...(this.#options.compressed && { 'accept-encoding': 'gzip' }),
        ...(authorization !== null && { authorization })
      },
      body,
      signal
    })
    const { statusCode, headers } = response
    const bytesMax = statusCode < 300 ? this.#options.bodyBytesMax : ERROR_BODY_BYTES_MAX
    const bytes = await readBody(response.body, headers['content-encoding'], bytesMax, this.#options.memory)
    if (statusCode === 429) throw this.#rest(headers['retry-after'])
    return { bytes, statusCode }
  }

  /** Returns the result in an answer, or throws NodeError. */
  #resultOf(reading: AnswerReading, statusCode: number): unknown {
    if (reading.kind === 'result') return reading.result
    // A proxy may reject a method with 403 and a JSON-RPC error; that does not concern our credentials.
    const refusesMethod = reading.kind === 'rpc' && reading.code === RPC_CODE.methodNotFound
    if (statusCode === 401 || (statusCode === 403 && !refusesMethod))
      throw this.#error({ kind: 'unauthorized', status: statusCode })
    if (reading.kind === 'garbage' && statusCode >= 300)
      throw this.#error({ kind: 'http', status: statusCode })
    const { redact } = this.address
    if (reading.kind === 'rpc') throw this.#error({ ...reading, message: redact(reading.message) })
    throw this.#error(reading)
  }

  #rest(retryAfter: string | string[] | undefined): NodeError {
    const seconds = Number(retryAfter)
    const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : REST_MS
    const restMs = Math.min(retryAfterMs, REST_MAX_MS)
    this.#restUntilMs = this.#clock.now() + restMs
    return this.#error({ kind: 'throttled', restMs })
  }

  #faultOf(error: unknown): NodeError {
    if (error instanceof NodeError) return error
    if (error instanceof AnswersTooLarge)
      return this.#error({ kind: 'memory-exceeded', bytesMax: error.bytesMax })
    if (error instanceof TooLarge) return this.#error({ kind: 'too-large', bytesMax: error.bytesMax })
    const { code, message } = error as NodeJS.ErrnoException
    const detail = this.address.redact(message || (code ?? 'no reason')).slice(0, 200)
    if (code?.startsWith('Z_') === true || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
      return this.#error({ kind: 'garbage', detail })
    return this.#error({ kind: 'unreachable', detail }, error)
  }

  #error(fault: NodeFault, cause?: unknown): NodeError {
    return new NodeError(this.name, fault, cause)
  }

  #openPool(): Pool {
    const { concurrency, timeoutMs } = this.#options
    return new Pool(this.address.origin, {
      connections: concurrency === Infinity ? null : concurrency,
      connect: { timeout: Math.min(timeoutMs * CONNECT_SHARE, CONNECT_TIMEOUT_MS) },
      // The client's own timer covers the whole request.
      headersTimeout: 0,
      bodyTimeout: 0
    })
  }
}

/** Returns whether a request can safely be resent because it is a read. */
function isRead(method: string): boolean {
  return method.startsWith('get') || method.startsWith('is')
}

function isDropped(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

import PQueue from 'p-queue'
import { answerMemory, type AnswerMemory } from '../kernel/memory/answer-memory.ts'
import type { Clock } from '../ports.ts'
import { ERROR_WINDOW_BYTES, type ResponseStart } from './answer-body.ts'
import type { NodeAddress } from './node-address.ts'
import { isDropped, NodeError, RPC_CODE, type NodeFault } from './node-fault.ts'
import { NodeHttp } from './node-http.ts'
import { resultOf, resultsOf, type AnswerReading } from './rpc-answer.ts'

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

type HttpAnswer = Pick<ResponseStart, 'bytes' | 'status'>

/** Maximum number of requests waiting for one node; further ones fail at once. */
const WAITING_MAX = 1_000
/**
 * Maximum time to connect in milliseconds, and the share of a request's timeout that connecting may take. A failed
 * connection must be reported as such, before the timeout of the request: no request was sent over it.
 */
const CONNECT_TIMEOUT_MS = 5_000
const CONNECT_SHARE = 0.6
/** Large output chunks: a block of 2 MB unpacks in half the time of the default 16 KiB. */
const UNZIP_CHUNK_BYTES = 2 ** 20

/**
 * Sends JSON-RPC to one node over persistent connections, with limits on rate, concurrency, time and size. A request
 * fails with a NodeError. No request is sent twice, except a read whose persistent connection turned out to be
 * closed. During the pause after a 429, requests fail at once and are not sent.
 */
export class RpcClient {
  readonly #options: RpcClientOptions
  readonly #clock: Clock
  readonly #queue: PQueue
  readonly #http: NodeHttp
  #id = 0

  constructor(address: NodeAddress, clock: Clock, options: Partial<RpcClientOptions> = {}) {
    this.#clock = clock
    this.#options = { ...RPC_CLIENT_DEFAULTS, ...options }
    const { concurrency, requestsPerSecond, timeoutMs, bodyBytesMax } = this.#options
    const rate =
      requestsPerSecond === Infinity
        ? {}
        : ({ interval: 1_000, intervalCap: requestsPerSecond, strict: true } as const)
    this.#queue = new PQueue({ concurrency, ...rate })
    this.#http = new NodeHttp(address, clock, {
      ...this.#options,
      connections: concurrency,
      connectMs: Math.min(timeoutMs * CONNECT_SHARE, CONNECT_TIMEOUT_MS),
      // The client's own timer covers the whole request.
      stallMs: 0,
      windowBytes: Infinity,
      bytesMax: bodyBytesMax,
      unzipChunkBytes: UNZIP_CHUNK_BYTES
    })
  }

  get address(): NodeAddress {
    return this.#http.address
  }

  get name(): string {
    return this.#http.name
  }

  /** Number of requests sent. */
  get sent(): number {
    return this.#http.sent
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
        const answer = await this.#post(isRead(method), body, end, path)
        const result = this.#resultOf(resultOf(answer.bytes, id), answer.status)
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
        const { bytes, status } = await this.#post(isRead(method), body, end, path)
        const readings = resultsOf(bytes, first, calls.length)
        if (!Array.isArray(readings)) {
          this.#resultOf(readings, status)
          throw this.#error({ kind: 'garbage', detail: 'one answer to a batch' })
        }
        return readings.map((reading) => {
          try {
            return this.#resultOf(reading, status)
          } catch (error) {
            return error
          }
        })
      })
    })
  }

  /** Opens new connections for later requests; requests in flight finish on the old ones. */
  renewConnections(): void {
    this.#http.renewConnections()
  }

  async close(): Promise<void> {
    await this.#http.close()
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
      throw error
    } finally {
      this.#clock.clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }

  /** Posts a body, and reads the whole answer. A read is resent if the node closed its persistent connection meanwhile. */
  async #post(isRead: boolean, body: string, signal: AbortSignal, path?: string): Promise<HttpAnswer> {
    const post = (): Promise<ResponseStart> => this.#http.post(body, signal, { path })
    const { status, bytes, rest } = await post().catch((error: unknown) => {
      if (!isRead || !(error instanceof NodeError) || !isDropped(error) || signal.aborted) throw error
      return post()
    })
    if (rest !== null) {
      // Only the body of an error can be longer than what is awaited.
      rest.abort()
      // A refusal that was not read does not prove that no request of a batch was done.
      const isNodeFault = status >= 500 || status === 401 || status === 403
      if (!isNodeFault) throw this.#error({ kind: 'too-large', bytesMax: ERROR_WINDOW_BYTES })
    }
    return { bytes, status }
  }

  /** Returns the result in an answer, or throws NodeError. */
  #resultOf(reading: AnswerReading, status: number): unknown {
    if (reading.kind === 'result') return reading.result
    // A proxy may reject a method with 403 and a JSON-RPC error; that does not concern our credentials.
    const refusesMethod = reading.kind === 'rpc' && reading.code === RPC_CODE.methodNotFound
    if (status === 401 || (status === 403 && !refusesMethod))
      throw this.#error({ kind: 'unauthorized', status })
    if (reading.kind === 'garbage' && status >= 300) throw this.#error({ kind: 'http', status })
    const { redact } = this.address
    if (reading.kind === 'rpc') throw this.#error({ ...reading, message: redact(reading.message) })
    throw this.#error(reading)
  }

  #error(fault: NodeFault): NodeError {
    return this.#http.error(fault)
  }
}

/** Returns whether a request can safely be resent because it is a read. */
function isRead(method: string): boolean {
  return method.startsWith('get') || method.startsWith('is')
}

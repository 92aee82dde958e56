import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { RateUse } from '../../../storage/cluster/coordination.ts'
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../kernel/errors.ts'
import type { RpcReply, RpcRequestContext } from '../gateway.ts'
import { JsonBounds } from '../../kernel/json-depth.ts'
import { costOf, idOf, LONG_BODY_BYTES, parseRequest, type ParsedRequest } from '../requests.ts'
import { BODY_BYTES_MAX, excessive, HTTP_BATCH_MAX } from '../rpc-error.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import type { Fields } from '../../kernel/http/fields.ts'
import { freshnessFields } from '../../kernel/http/freshness.ts'
import { RPC_PATH } from '../../kernel/http/handshake.ts'
import { hostFault } from '../../kernel/http/host.ts'
import { findCaller, KEY_PARAMETERS } from '../../kernel/http/plugins/access.ts'
import { WorkBudget } from '../../access/work-budget.ts'
import { isWhole, meteredReply } from '../metered-reply.ts'
import { RpcWork } from '../rpc-work.ts'
import { quotaExceeded, rateFields, workExceeded } from '../../kernel/http/plugins/limits.ts'
import { plainFields } from '../../kernel/http/plugins/requests.ts'
import { serviceErrorOf } from '../../kernel/http/problem.ts'
import { takesGzip } from '../../kernel/http/respond.ts'
import { rpcProblem } from './rpc-problem.ts'
import { isTracked, messageOf, sendPieces, type RpcMessage } from './rpc-reply.ts'

type Deps = Pick<
  AppDeps,
  'rpc' | 'keys' | 'limits' | 'turns' | 'feed' | 'nodeHead' | 'clock' | 'metrics' | 'logger' | 'draining'
>

/**
 * Answers the usual JSON-RPC requests without the framework, which would double their time. Other requests go to
 * `rest`, which gives equal answers.
 *
 * X1. A request passed on has had no effect: nothing was counted, read or sent.
 * X2. Status, header fields and bytes are those that `rest` would send.
 */
export function rpcFastPath(deps: Deps, nextRequestId: () => string, rest: RequestListener): RequestListener {
  const { keys, limits, metrics, clock, logger, draining } = deps
  const shared = { ...deps, budget: new WorkBudget(limits.work, metrics.work) }
  return (request, response) => {
    const query = request.method === 'POST' ? queryOf(request.url!) : null
    // At this log level each request is logged, which `rest` does.
    if (query === null || !isPlain(request) || draining() || logger.isLevelEnabled('debug'))
      return rest(request, response)
    const { headers, socket } = request
    const caller = findCaller(keys, { headers, socket, query }, clock.now(), true)
    if (caller instanceof ServiceError) return rest(request, response)
    new Exchange(shared, request, response, caller, nextRequestId()).read()
  }
}

const NO_QUERY = {}

/**
 * Returns the query of a request for the RPC path, with or without a slash at its end: empty, or only a key of unescaped
 * characters. Null for any other URL.
 */
function queryOf(url: string): Record<string, string> | null {
  if (!url.startsWith(RPC_PATH)) return null
  if (url.length === RPC_PATH.length) return NO_QUERY
  const found = AFTER_PATH.exec(url.slice(RPC_PATH.length))
  if (found === null) return null
  return found[1] === undefined ? NO_QUERY : { [found[1]]: found[2]! }
}

const AFTER_PATH = new RegExp(`^/?(?:\\?(${KEY_PARAMETERS.join('|')})=([\\w.~-]+))?$`)
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i

/** Tells whether a request has a JSON body of a stated length, and needs no check by `rest`. */
function isPlain(request: IncomingMessage): boolean {
  const { headers } = request
  const length = Number(headers['content-length'] ?? 0)
  return (
    length > 0 &&
    length <= BODY_BYTES_MAX &&
    JSON_TYPE.test(headers['content-type'] ?? '') &&
    headers.origin === undefined &&
    headers['content-encoding'] === undefined &&
    headers.expect === undefined &&
    headers['transfer-encoding'] === undefined &&
    hostFault(request) === undefined
  )
}

const LEFT = new Error('the client has left')
const BROKEN = new ServiceError('PARAMETER_INVALID', 'the request is malformed')

/** A request and its response. */
class Exchange implements RpcRequestContext {
  readonly caller: Caller
  readonly batchMax = HTTP_BATCH_MAX
  readonly work: RpcWork
  readonly #deps: Deps & { readonly budget: WorkBudget }
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #id: string
  readonly #startedAt = performance.now()
  readonly #chunks: Buffer[] = []
  #rate: Fields = []
  #calls: RateUse | null = null
  #left: AbortController | null = null
  /** Id of the body, once it is parsed. */
  #rpcId = 'null'

  constructor(
    deps: Deps & { readonly budget: WorkBudget },
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    id: string
  ) {
    this.#deps = deps
    this.work = new RpcWork(caller, deps.budget, deps.clock)
    this.#request = request
    this.#response = response
    this.caller = caller
    this.#id = id
  }

  get tracks(): boolean {
    return isTracked(this.#request.headers)
  }

  /** Aborts when the client disconnects. Created only for requests that wait. */
  get signal(): AbortSignal {
    if (this.#left === null) {
      const left = new AbortController()
      this.#left = left
      this.#response.once('close', () => {
        // An abort costs as much as a lookup; nothing waits after the complete answer.
        if (!this.#response.writableFinished) left.abort(LEFT)
      })
    }
    return this.#left.signal
  }

  /** Reads the body, which is no longer than the header states, and answers it. */
  read(): void {
    const request = this.#request
    const chunks = this.#chunks
    // If the connection is refused meanwhile, its request gets an error.
    request.on('error', (error) => this.#fail(error instanceof ServiceError ? error : BROKEN))
    if (Number(request.headers['content-length']) >= LONG_BODY_BYTES) return this.#readInTurns()
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => this.#charge(this.#parse()))
  }

  /**
   * Reads a long body in turns of the tenant: one turn to check each piece, and one to parse the whole. A body with too many
   * levels or values is refused before the rest has arrived, which is discarded.
   */
  #readInTurns(): void {
    const request = this.#request
    const chunks = this.#chunks
    const bounds = new JsonBounds()
    const inTurn = <T>(work: () => T, then: (made: T) => void): void =>
      void this.#deps.turns
        .run(this.caller.tenant, work, { signal: this.signal })
        .then(then)
        .catch((error: unknown) => this.#fail(error))
    const take = (chunk: Buffer): void => {
      chunks.push(chunk)
      request.pause()
      inTurn(
        () => bounds.take(chunk),
        (excess) => {
          if (excess !== null) {
            request.off('data', take).off('end', end)
            chunks.length = 0
            this.#charge({ kind: 'refused', refusal: excessive(excess) })
          }
          request.resume()
        }
      )
    }
    const end = (): void =>
      inTurn(
        () => this.#parse(),
        (parsed) => this.#charge(parsed)
      )
    request.on('data', take).on('end', end)
  }

  #parse(): ParsedRequest {
    const chunks = this.#chunks
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    return parseRequest(body, HTTP_BATCH_MAX)
  }

  #charge(parsed: ParsedRequest): void {
    this.#rpcId = idOf(parsed)
    const { limits, clock, rpc } = this.#deps
    const { keyId, ratePerMinute } = this.caller
    const units = costOf(parsed, rpc.methods, ratePerMinute)
    const use = limits.take(keyId, ratePerMinute, clock.now(), units)
    if (!(use instanceof Promise)) return this.#answer(parsed, use)
    use.then((taken) => this.#answer(parsed, taken)).catch((error: unknown) => this.#fail(error))
  }

  #answer(parsed: ParsedRequest, use: RateUse): void {
    const { caller } = this
    const { budget, clock } = this.#deps
    const work = use.allowed ? budget.admit(caller, clock.now()) : budget.look(caller, clock.now())
    this.#calls = use
    this.#rate = rateFields(caller, { calls: use, work, units: null })
    if (!use.allowed) return this.#fail(quotaExceeded(caller.ratePerMinute, use))
    if (!work.allowed) return this.#fail(workExceeded(caller, work))
    try {
      const made = this.#deps.rpc.gateway.answer(parsed, this)
      if (!(made instanceof Promise)) return this.#make(made)
      made.then((reply) => this.#make(reply)).catch((error: unknown) => this.#failAdmitted(error))
    } catch (error) {
      this.#failAdmitted(error)
    }
  }

  /** Fails a body that was admitted: its work until then is charged. */
  #failAdmitted(thrown: unknown): void {
    const units = this.work.charge()
    this.#rate = rateFields(this.caller, { calls: this.#calls!, work: this.work.left, units })
    this.#fail(thrown)
  }

  #make(reply: RpcReply): void {
    const units = this.work.charge()
    this.#rate = rateFields(this.caller, {
      calls: this.#calls!,
      work: this.work.left,
      units: isWhole(reply) ? units : null
    })
    const message = messageOf(meteredReply(reply, this.work), () =>
      takesGzip(this.#request.headers['accept-encoding'])
    )
    if (!(message instanceof Promise)) return this.#send(message)
    message.then((packed) => this.#send(packed)).catch((error: unknown) => this.#fail(error))
  }

  #send({ status, fields, body, packs }: RpcMessage): void {
    const response = this.#response
    // A short read is not aborted when its client disconnects. Pieces of a long one still come from the node; sending them
    // ends that read.
    if (response.destroyed && (body === null || Buffer.isBuffer(body))) return
    this.#writeHead(status, fields)
    if (body === null) response.end()
    // The body is sent with the head as one string. In Latin-1 each byte stays unchanged.
    else if (Buffer.isBuffer(body)) response.end(pieceOf(body), 'latin1')
    else
      return void sendPieces(response, body, packs, (piece) => this.#inTurn(piece)).finally(() =>
        this.#observe(status)
      )
    this.#observe(status)
  }

  /** Runs a piece of an answer that is being sent, however long it waits for its turn. */
  #inTurn<T>(piece: () => Promise<T>): Promise<T> {
    return this.#deps.turns.run(this.caller.tenant, piece, { signal: this.signal, isPatient: true })
  }

  #fail(thrown: unknown): void {
    const response = this.#response
    if (thrown === LEFT || response.headersSent) return
    const error = serviceErrorOf(thrown)
    if (error.code === 'SERVICE_FAILED')
      this.#deps.logger.error({ request_id: this.#id, route: RPC_PATH, err: error }, 'request failed')
    const { status, fields, text } = rpcProblem(error, this.#id, this.#rpcId)
    this.#writeHead(status, fields)
    response.end(text)
    this.#observe(status)
  }

  #writeHead(status: number, fields: Fields): void {
    const all = plainFields(this.#id).concat(freshnessFields(this.#deps), this.#rate, fields)
    this.#response.writeHead(status, all)
  }

  #observe(status: number): void {
    this.#deps.metrics.requestSeconds.observe(RPC_PATH, status, (performance.now() - this.#startedAt) / 1000)
  }
}

/** Maximum bytes of a body that is made a text, which copies it. */
const TEXT_BYTES_MAX = 16 * 1024

const pieceOf = (body: Buffer): Buffer | string =>
  body.length > TEXT_BYTES_MAX ? body : body.toString('latin1')

import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Caller } from '../../access/caller.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { JsonBounds, LONG_BODY_BYTES } from '../../kernel/json-depth.ts'
import { parseRequest, type ParsedRequest } from '../requests.ts'
import { BODY_BYTES_MAX, excessive, HTTP_BATCH_MAX } from '../rpc-error.ts'
import type { RpcNeeds } from './needs.ts'
import type { Fields } from '../../kernel/http/fields.ts'
import { freshnessFields } from '../../kernel/http/freshness.ts'
import { RPC_PATH } from '../../kernel/http/handshake.ts'
import { hostFault } from '../../kernel/http/host.ts'
import { findCaller, KEY_PARAMETERS } from '../../kernel/http/plugins/access.ts'
import { WorkBudget } from '../../access/work-budget.ts'
import { plainFields } from '../../kernel/http/plugins/requests.ts'
import { RpcExchange, type RpcHttpCall } from './rpc-exchange.ts'

type Deps = Pick<
  RpcNeeds,
  | 'rpc'
  | 'keys'
  | 'limits'
  | 'turns'
  | 'feed'
  | 'nodeHead'
  | 'clock'
  | 'metrics'
  | 'logger'
  | 'draining'
  | 'leaving'
>
type FastDeps = Deps & { readonly budget: WorkBudget }

/**
 * Answers the usual JSON-RPC requests without the framework, which would double their time. Other requests go to
 * `rest`, which gives equal answers.
 *
 * X1. A request passed on has had no effect: nothing was counted, read or sent.
 * X2. Status, header fields and bytes are those that `rest` would send.
 */
export function rpcFastPath(deps: Deps, nextRequestId: () => string, rest: RequestListener): RequestListener {
  const { keys, limits, metrics, clock, logger, draining, leaving = draining } = deps
  const shared = { ...deps, budget: new WorkBudget(limits.work, metrics.work) }
  return (request, response) => {
    const query = request.method === 'POST' ? queryOf(request.url!) : null
    // At this log level each request is logged, which `rest` does.
    if (query === null || !isPlain(request) || leaving() || logger.isLevelEnabled('debug'))
      return rest(request, response)
    const { headers, socket } = request
    const caller = findCaller(keys, { headers, socket, query }, clock.now(), true)
    if (caller instanceof ServiceError) return rest(request, response)
    new FastCall(shared, request, response, caller, nextRequestId()).read()
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

const BROKEN = new ServiceError(ERRORS.PARAMETER_INVALID, 'the request is malformed')

/** A request whose body is read here, and its response. */
class FastCall implements RpcHttpCall {
  readonly caller: Caller
  readonly requestId: string
  readonly response: ServerResponse
  readonly #request: IncomingMessage
  readonly #deps: FastDeps
  readonly #exchange: RpcExchange
  readonly #startedAt = performance.now()
  readonly #chunks: Buffer[] = []

  constructor(
    deps: FastDeps,
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    requestId: string
  ) {
    this.#deps = deps
    this.#request = request
    this.response = response
    this.caller = caller
    this.requestId = requestId
    this.#exchange = new RpcExchange(this, deps)
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers
  }

  writeHead(status: number, fields: Fields): void {
    this.response.writeHead(status, plainFields(this.requestId).concat(freshnessFields(this.#deps), fields))
  }

  failed(error: ServiceError): void {
    if (error.kind === ERRORS.SERVICE_FAILED)
      this.#deps.logger.error({ request_id: this.requestId, route: RPC_PATH, err: error }, 'request failed')
  }

  sent(status: number): void {
    this.#deps.metrics.requestSeconds.observe(RPC_PATH, status, (performance.now() - this.#startedAt) / 1000)
  }

  /** Reads the body, which is no longer than the header states, and answers it. */
  read(): void {
    const request = this.#request
    const chunks = this.#chunks
    // If the connection is refused meanwhile, its request gets an error.
    request.on('error', (error) => this.#exchange.fail(error instanceof ServiceError ? error : BROKEN))
    if (Number(request.headers['content-length']) >= LONG_BODY_BYTES) return this.#readInTurns()
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => this.#exchange.answer(this.#parse()))
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
        .run(this.caller.tenant, work, { signal: this.#exchange.signal })
        .then(then)
        .catch((error: unknown) => this.#exchange.fail(error))
    const take = (chunk: Buffer): void => {
      chunks.push(chunk)
      request.pause()
      inTurn(
        () => bounds.take(chunk),
        (excess) => {
          if (excess !== null) {
            request.off('data', take).off('end', end)
            chunks.length = 0
            this.#exchange.answer({ kind: 'refused', refusal: excessive(excess) })
          }
          request.resume()
        }
      )
    }
    const end = (): void =>
      inTurn(
        () => this.#parse(),
        (parsed) => this.#exchange.answer(parsed)
      )
    request.on('data', take).on('end', end)
  }

  #parse(): ParsedRequest {
    const chunks = this.#chunks
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    return parseRequest(body, HTTP_BATCH_MAX)
  }
}

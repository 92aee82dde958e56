import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { RateUse } from '../../../storage/cluster/coordination.ts'
import type { Caller } from '../../access/caller.ts'
import type { WorkBudget } from '../../access/work-budget.ts'
import type { ServiceError } from '../../kernel/errors.ts'
import { chargedReply } from '../charged-reply.ts'
import type { RpcReply, RpcRequestContext } from '../gateway.ts'
import { costOf, idOf, type ParsedRequest } from '../requests.ts'
import { HTTP_BATCH_MAX } from '../rpc-error.ts'
import { RpcWork } from '../rpc-work.ts'
import type { RpcNeeds } from './needs.ts'
import type { Fields } from '../../kernel/http/fields.ts'
import { quotaExceeded, rateFields, workExceeded, type QuotaUse } from '../../kernel/http/plugins/limits.ts'
import { serviceErrorOf } from '../../kernel/http/problem.ts'
import { takesGzip } from '../../kernel/http/respond.ts'
import { rpcProblem } from './rpc-problem.ts'
import { isTracked, messageOf, sendPieces, type RpcMessage } from './rpc-reply.ts'

export type RpcExchangeDeps = Pick<RpcNeeds, 'rpc' | 'limits' | 'turns' | 'clock'> & {
  readonly budget: WorkBudget
}

/** A JSON-RPC request over HTTP, as the path that received it sees it. */
export interface RpcHttpCall {
  readonly caller: Caller
  readonly requestId: string
  readonly headers: IncomingHttpHeaders
  readonly response: ServerResponse
  /** Writes the head of the response: the fields that every response of the path has, and these. */
  writeHead(status: number, fields: Fields): void
  /** Takes note of the error that is answered. */
  failed(error: ServiceError): void
  /** Takes note that the answer has been handed to the connection. */
  sent(status: number): void
}

const LEFT = new Error('the client has left')
/** Maximum bytes of a body that is made a text, which copies it. */
const TEXT_BYTES_MAX = 16 * 1024

/**
 * Charges a JSON-RPC body, has it answered, and writes the answer. Both paths of HTTP answer with it: the one in front of
 * the framework, and the route.
 */
export class RpcExchange implements RpcRequestContext {
  readonly batchMax = HTTP_BATCH_MAX
  readonly work: RpcWork
  readonly #call: RpcHttpCall
  readonly #deps: RpcExchangeDeps
  #quota: QuotaUse | null = null
  #left: AbortController | null = null
  /** The body, once it has arrived. */
  #parsed: ParsedRequest | null = null

  constructor(call: RpcHttpCall, deps: RpcExchangeDeps) {
    this.#call = call
    this.#deps = deps
    this.work = new RpcWork(call.caller, deps.budget, deps.clock)
  }

  get caller(): Caller {
    return this.#call.caller
  }

  get tracks(): boolean {
    return isTracked(this.#call.headers)
  }

  /** Aborts when the client disconnects. Created only for requests that wait. */
  get signal(): AbortSignal {
    if (this.#left === null) {
      const left = new AbortController()
      const { response } = this.#call
      this.#left = left
      response.once('close', () => {
        // An abort costs as much as a lookup; nothing waits after the complete answer.
        if (!response.writableFinished) left.abort(LEFT)
      })
    }
    return this.#left.signal
  }

  /** Charges a body to the quota of its key, and answers it. */
  answer(parsed: ParsedRequest): void {
    this.#parsed = parsed
    try {
      const use = this.#takeQuota(parsed)
      if (!(use instanceof Promise)) return this.#admit(parsed, use)
      use.then((taken) => this.#admit(parsed, taken)).catch((error: unknown) => this.fail(error))
    } catch (error) {
      this.fail(error)
    }
  }

  /** Answers an error; nothing if the client has left, or an answer has begun. */
  fail(thrown: unknown): void {
    const { response, requestId } = this.#call
    if (thrown === LEFT || response.headersSent) return
    const error = serviceErrorOf(thrown)
    this.#call.failed(error)
    const id = this.#parsed === null ? 'null' : idOf(this.#parsed)
    const { status, fields, text } = rpcProblem(error, requestId, id)
    this.#writeHead(status, fields)
    response.end(text)
    this.#call.sent(status)
  }

  #takeQuota(parsed: ParsedRequest): RateUse | Promise<RateUse> {
    const { limits, clock, rpc } = this.#deps
    const { keyId, ratePerMinute } = this.caller
    return limits.take(keyId, ratePerMinute, clock.now(), costOf(parsed, rpc.methods, ratePerMinute))
  }

  #admit(parsed: ParsedRequest, calls: RateUse): void {
    const { caller } = this
    const { budget, clock, rpc } = this.#deps
    const work = calls.allowed ? budget.admit(caller, clock.now()) : budget.look(caller, clock.now())
    this.#quota = { calls, work, units: null }
    if (!calls.allowed) return this.fail(quotaExceeded(caller.ratePerMinute, calls))
    if (!work.allowed) return this.fail(workExceeded(caller, work))
    try {
      const made = rpc.gateway.answer(parsed, this)
      if (!(made instanceof Promise)) return this.#charge(made, calls)
      made
        .then((reply) => this.#charge(reply, calls))
        .catch((error: unknown) => this.#failAdmitted(error, calls))
    } catch (error) {
      this.#failAdmitted(error, calls)
    }
  }

  /** Fails a body that was admitted: its work until then is charged. */
  #failAdmitted(thrown: unknown, calls: RateUse): void {
    const { units, left } = this.work.charge()
    this.#quota = { calls, units, work: left }
    this.fail(thrown)
  }

  #charge(made: RpcReply, calls: RateUse): void {
    const { reply, units, left } = chargedReply(made, this.work)
    this.#quota = { calls, units, work: left }
    const message = messageOf(reply, () => takesGzip(this.#call.headers['accept-encoding']))
    if (!(message instanceof Promise)) return this.#send(message)
    message.then((packed) => this.#send(packed)).catch((error: unknown) => this.fail(error))
  }

  #send({ status, fields, body, packs }: RpcMessage): void {
    const { response } = this.#call
    // A short read is not aborted when its client disconnects. Pieces of a long one still come from the node; sending them
    // ends that read.
    if (response.destroyed && (body === null || Buffer.isBuffer(body))) return
    this.#writeHead(status, fields)
    if (body === null) response.end()
    // The body is sent with the head as one string. In Latin-1 each byte stays unchanged.
    else if (Buffer.isBuffer(body)) response.end(pieceOf(body), 'latin1')
    else
      return void sendPieces(response, body, packs, (piece) => this.#inTurn(piece)).finally(() =>
        this.#call.sent(status)
      )
    this.#call.sent(status)
  }

  /** Runs a piece of an answer that is being sent, however long it waits for its turn. */
  #inTurn<T>(piece: () => Promise<T>): Promise<T> {
    return this.#deps.turns.run(this.caller.tenant, piece, { signal: this.signal, isPatient: true })
  }

  #writeHead(status: number, fields: Fields): void {
    const rate = this.#quota === null ? [] : rateFields(this.caller, this.#quota)
    this.#call.writeHead(status, rate.concat(fields))
  }
}

const pieceOf = (body: Buffer): Buffer | string =>
  body.length > TEXT_BYTES_MAX ? body : body.toString('latin1')

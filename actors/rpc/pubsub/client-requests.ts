import type { Caller } from '../../../src/access/caller.ts'
import { parseJson } from '../../../src/localnet/node/json.ts'
import { RpcError } from '../../../src/localnet/node/rpc-error.ts'
import type { Clock } from '../../../src/ports.ts'
import type { RpcGateway } from '../../../src/rpc/gateway.ts'
import type { MethodTable } from '../../../src/rpc/methods.ts'
import {
  parseRequest,
  unitsOfElement,
  type ParsedRequest,
  type RequestElement
} from '../../../src/rpc/requests.ts'
import {
  errorText,
  SOCKET_BATCH_MAX,
  upstreamDown,
  type RpcError as Fault
} from '../../../src/rpc/rpc-error.ts'
import { rateLimited, workRateLimited } from '../../../src/rpc/pubsub/rate-limited.ts'
import { SUBSCRIPTIONS_PER_SOCKET_MAX } from '../../../src/rpc/pubsub/socket-limits.ts'
import {
  readSubscription,
  readSubscriptionId,
  subscriptionMethod,
  type SubscriptionKind
} from '../../../src/rpc/pubsub/subscription-request.ts'
import { WorkBudget } from '../../../src/access/work-budget.ts'
import { TURNS_AT_ONCE, type TakeTurns } from '../../../src/kernel/work/turns.ts'
import { WORK_PRICES } from '../../../src/kernel/work/work-units.ts'
import { chargedReply } from '../../../src/rpc/charged-reply.ts'
import { RpcWork } from '../../../src/rpc/rpc-work.ts'
import type { WorkTally } from '../../../src/access/work-tally.ts'
import type { RateCounter } from '../../../storage/cluster/coordination.ts'
import { ClientSubscription, type SubscriptionOwner } from './client-subscription.ts'
import { AT_LIMIT, type SubscriptionHub } from './subscription-hub.ts'
import { WaitingMessages } from './waiting-messages.ts'

export interface RequestDeps {
  readonly hub: SubscriptionHub
  /** Answers requests other than subscriptions. */
  readonly gateway: Pick<RpcGateway, 'answer'>
  /** The units that each method costs; absent if each costs one. */
  readonly methods?: Pick<MethodTable, 'unitsOf'>
  readonly limits: Pick<RateCounter, 'take' | 'work'>
  /** Counter of units of work and refusals, for a metric. */
  readonly workTally?: WorkTally | undefined
  /** The turns of tenants, in which waiting messages are begun; absent if each is begun at once. */
  readonly turns?: TakeTurns | undefined
  readonly clock: Clock
  readonly report: (fault: unknown) => void
}

/** The connection whose requests are handled. */
export interface RequestSocket {
  readonly caller: () => Caller
  readonly owner: SubscriptionOwner
  readonly subscriptions: Map<number, ClientSubscription>
  readonly nextId: () => number
  readonly send: (text: Buffer) => void
  readonly pause: (isPaused: boolean) => void
  /** More messages wait than may. */
  readonly flooded: () => void
  /** A message came that costs nothing. */
  readonly free: () => void
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal
}

/** The text of an answer, and the subscription whose id it contains. Null for a notification, which has no answer. */
interface Answer {
  readonly text: Buffer
  readonly opens: ClientSubscription | null
}

/** Handles the messages of one connection: subscriptions here, other requests through the gateway. */
export class ClientRequests {
  readonly #socket: RequestSocket
  readonly #deps: RequestDeps
  readonly #budget: WorkBudget
  readonly #waiting: WaitingMessages

  constructor(socket: RequestSocket, deps: RequestDeps) {
    this.#socket = socket
    this.#deps = deps
    this.#budget = new WorkBudget(deps.limits.work, deps.workTally)
    const { turns = TURNS_AT_ONCE, report } = deps
    const { signal, caller } = socket
    this.#waiting = new WaitingMessages({
      begin: (message) => this.#begin(message),
      inTurn: (work) => turns.run(caller().tenant, work, { signal, isPatient: true }),
      pause: (isPaused) => socket.pause(isPaused),
      flooded: () => socket.flooded(),
      report,
      signal
    })
  }

  /** Whether no messages are read, because the maximum of requests is in progress. */
  get isPaused(): boolean {
    return this.#waiting.isPaused
  }

  receive(message: Buffer): void {
    this.#waiting.receive(message)
  }

  #begin(message: Buffer): void {
    const request = parseRequest(message, SOCKET_BATCH_MAX)
    const elements =
      request.kind === 'batch' ? request.elements : request.kind === 'single' ? [request.element] : []
    if (elements.length === 1 && isPing(elements[0]!)) return this.#socket.free()
    for (const each of elements) if (isFree(each)) this.#socket.free()
    const requests = Math.max(1, elements.length)
    this.#waiting.began(requests)
    const answered =
      request.kind === 'refused' ? this.#refusal(request.refusal.error) : this.#answerAll(request, elements)
    answered
      .catch((fault: unknown) => {
        if (!this.#socket.signal.aborted) this.#deps.report(fault)
        return this.#failed(elements, request.kind === 'batch')
      })
      .then((answer) => {
        if (answer === null || this.#socket.signal.aborted) return
        this.#socket.send(answer.text)
        for (const opened of answer.opens) opened.open()
      })
      .finally(() => this.#waiting.ended(requests))
      .catch(this.#deps.report)
  }

  /** A body that is refused as a whole costs one unit, and has one answer. */
  async #refusal(error: Fault): Promise<Whole> {
    const limited = await this.#charge()
    return { text: Buffer.from(errorText(limited ?? error, 'null')), opens: [] }
  }

  async #answerAll(request: ParsedRequest, elements: readonly RequestElement[]): Promise<Whole | null> {
    const refusals = await Promise.all(
      elements.map(async (each) => (isFree(each) ? null : this.#charge(each)))
    )
    const isForwarded = elements.every((each, at) => refusals[at] === null && isOther(each))
    if (isForwarded) {
      const text = await this.#forward(request)
      return text === null ? null : { text, opens: [] }
    }
    const answers = await Promise.all(elements.map(async (each, at) => this.#answer(each, refusals[at]!)))
    const due = answers.filter((each) => each !== null)
    if (due.length === 0) return null
    const opens = due.flatMap(({ opens }) => opens ?? [])
    return { text: request.kind === 'batch' ? joined(due.map(({ text }) => text)) : due[0]!.text, opens }
  }

  async #answer(element: RequestElement, limited: Fault | null): Promise<Answer | null> {
    const { id } = element
    if (limited !== null) return id === null ? null : failure(limited, id)
    if (element.kind === 'invalid') return failure(element.refusal.error, element.id)
    const own = subscriptionMethod(element.method)
    if (own === null) {
      const text = await this.#forward({ kind: 'single', element })
      return text === null ? null : { text, opens: null }
    }
    try {
      const params: unknown = element.params === null ? undefined : parseJson(element.params)
      if (own.isEnd) return this.#unsubscribe(own.kind, params, id)
      return await this.#subscribe(own.kind, params, id)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      const { code, message, data } = error
      return id === null
        ? null
        : failure({ code, message, ...(data !== undefined && { data: data as Data }) }, id)
    }
  }

  async #subscribe(kind: SubscriptionKind, params: unknown, id: string | null): Promise<Answer | null> {
    const request = readSubscription(kind, params)
    // Without an id the client could neither tell its notifications apart nor end it.
    if (id === null) return null
    const { subscriptions, owner, nextId } = this.#socket
    if (subscriptions.size >= SUBSCRIPTIONS_PER_SOCKET_MAX) return rawFailure(AT_LIMIT, id)
    const decided = Promise.withResolvers<string | null>()
    const subscription = new ClientSubscription(nextId(), request, owner, ({ error }) =>
      decided.resolve(error)
    )
    subscriptions.set(subscription.id, subscription)
    subscription.join(this.#deps.hub)
    const error = await decided.promise
    return error === null
      ? { text: Buffer.from(`{"jsonrpc":"2.0","result":${subscription.id},"id":${id}}`), opens: subscription }
      : rawFailure(error, id)
  }

  #unsubscribe(kind: SubscriptionKind, params: unknown, id: string | null): Answer | null {
    const { subscriptions } = this.#socket
    const subscription = subscriptions.get(readSubscriptionId(params))
    if (subscription?.request.kind !== kind) {
      const error = { code: -32602, message: 'Invalid subscription id.', data: { field: 'params[0]' } }
      return id === null ? null : failure(error, id)
    }
    subscriptions.delete(subscription.id)
    subscription.leave()
    return id === null
      ? null
      : { text: Buffer.from(`{"jsonrpc":"2.0","result":true,"id":${id}}`), opens: null }
  }

  /** Answers a request through the gateway. Null if it needs no answer. */
  async #forward(request: ParsedRequest): Promise<Buffer | null> {
    const { signal } = this.#socket
    const caller = this.#socket.caller()
    const work = new RpcWork(caller, this.#budget, this.#deps.clock)
    const context = { caller, work, batchMax: SOCKET_BATCH_MAX, tracks: false, signal }
    // An answer that fails is charged for what it took until then.
    const made = await Promise.resolve(this.#deps.gateway.answer(request, context)).finally(() =>
      work.charge()
    )
    const { reply } = chargedReply(made, work)
    if (reply.body === null || Buffer.isBuffer(reply.body)) return reply.body
    // A frame names its length first.
    const pieces: Buffer[] = []
    for await (const piece of reply.body) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  /** Takes the units of an element, or one for a whole body, of the key's quota; returns the error if it has too few. */
  async #charge(element: RequestElement | null = null): Promise<Fault | null> {
    const caller = this.#socket.caller()
    const { keyId, ratePerMinute, workPerMinute } = caller
    const { limits, methods, clock } = this.#deps
    const units =
      element === null || methods === undefined ? 1 : unitsOfElement(element, methods, ratePerMinute)
    const use = await limits.take(keyId, ratePerMinute, clock.now(), units)
    if (!use.allowed) return rateLimited(ratePerMinute, use.resetIn)
    const work = this.#budget.admit(caller, clock.now())
    if (!work.allowed) return workRateLimited(workPerMinute, work.resetIn)
    // Other elements are charged by the gateway's answer.
    if (element === null || !isOther(element)) this.#budget.charge(caller, WORK_PRICES.call, clock.now())
    return null
  }

  /** Answers every call with an error after a fault of this service or a broken answer. */
  #failed(elements: readonly RequestElement[], isBatch: boolean): Whole | null {
    const { error } = upstreamDown()
    const texts = elements.flatMap(({ id }) => (id === null ? [] : [Buffer.from(errorText(error, id))]))
    if (texts.length === 0) return null
    return { text: isBatch ? joined(texts) : texts[0]!, opens: [] }
  }
}

/** The text of the answer to a message, and the subscriptions whose ids it contains. */
interface Whole {
  readonly text: Buffer
  readonly opens: readonly ClientSubscription[]
}

type Data = Readonly<Record<string, unknown>>

const isPing = (element: RequestElement): boolean =>
  element.kind === 'call' && element.id === null && element.method === 'ping'

const isOther = (element: RequestElement): boolean =>
  element.kind === 'call' && subscriptionMethod(element.method) === null

/** Ending a subscription costs nothing: otherwise a client at its quota could not end it. */
const isFree = (element: RequestElement): boolean =>
  element.kind === 'call' && subscriptionMethod(element.method)?.isEnd === true

const failure = (error: Fault, id: string): Answer => ({
  text: Buffer.from(errorText(error, id)),
  opens: null
})

const rawFailure = (error: string, id: string): Answer => ({
  text: Buffer.from(`{"jsonrpc":"2.0","error":${error},"id":${id}}`),
  opens: null
})

function joined(texts: readonly Buffer[]): Buffer {
  const pieces = texts.flatMap((text, at) => (at === 0 ? [text] : [Buffer.from(','), text]))
  return Buffer.concat([Buffer.from('['), ...pieces, Buffer.from(']')])
}

import type { WorkCount } from '../access/work-meter.ts'
import { ERRORS, ServiceError } from '../kernel/errors.ts'
import type { Clock } from '../ports.ts'
import { endPieces } from '../node/ended-pieces.ts'
import { callKey } from './answer-cache.ts'
import { planElement, planNodeCall, type ElementPlan } from './element-plan.ts'
import type { ReplyFacts, RpcGateway, RpcReply, RpcRequestContext } from './gateway.ts'
import type { RpcMethod, MethodTable } from './methods.ts'
import { batchBody, errorBody, MadePieces, resultBody, whole, wrapped } from './reply-body.ts'
import type { ParsedRequest, RequestElement, RequestedCall } from './requests.ts'
import {
  ANSWER_BYTES_MAX,
  ANSWER_TOO_LARGE,
  refusedByNode,
  scopeMissing,
  TOOK_TOO_LONG,
  upstreamDown,
  type Refusal
} from './rpc-error.ts'
import { workRateLimited } from './pubsub/rate-limited.ts'
import type { SharedAnswer, SharedReads } from './shared-reads.ts'
import type { SlotFloors } from './slot-floors.ts'
import { AnswerTooLarge, isUnanswered, NoUpstream, type Unanswered, type UpstreamCall } from './upstreams.ts'
import type { RunPiece, TakeTurns } from '../kernel/work/turns.ts'
import type { MirroredAnswer } from './mirrored-accounts.ts'
import type { SendOutcome } from './tracked-sends.ts'

export interface GatewayDeps {
  readonly methods: MethodTable
  /** Null in a process without a node. */
  readonly reads: SharedReads | null
  readonly floors: SlotFloors
  readonly accounts: {
    answer(
      params: unknown,
      signal: AbortSignal,
      runPiece: RunPiece,
      work?: WorkCount
    ): Promise<MirroredAnswer>
  }
  /** Turns for the local computations; absent if the process has one user. */
  readonly turns?: TakeTurns
  /** Null in a process that tracks no transactions. */
  readonly sends: {
    send(tenant: string, params: unknown, signal: AbortSignal): Promise<SendOutcome>
  } | null
  readonly clock: Pick<Clock, 'now'>
  /** Called for each element with its method and outcome. */
  readonly count?: (method: string, outcome: 'result' | 'error' | 'rejected' | 'down') => void
}

/** Maximum milliseconds that a request waits for local computations: as long as most clients wait. */
const HERE_MS = 10_000

/** Longest value of a batch in bytes that is copied into its element: all elements of a batch take 0.5 ms. */
const COPIED_BYTES_MAX = 16 * 1024

/** The genesis of mainnet-beta, which identifies the cluster (src/docs/rpc.md). */
export const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'

/** The answer to an element. */
interface ElementAnswer {
  readonly status: number
  readonly body: Buffer | AsyncIterable<Buffer>
  readonly facts: ReplyFacts
  /** Seconds after which a refused request may be repeated; absent if unknown. */
  readonly retryAfter?: number
}

const LOCAL: ReplyFacts = { cache: 'local', ageMs: null, slot: null }
const NO_FACTS: ReplyFacts = { cache: null, ageMs: null, slot: null }

/** Answers JSON-RPC requests: methods about the service locally, all others through the nodes. */
export class Gateway implements RpcGateway {
  readonly #deps: GatewayDeps

  constructor(deps: GatewayDeps) {
    this.#deps = deps
  }

  answer(request: ParsedRequest, context: RpcRequestContext): RpcReply | Promise<RpcReply> {
    if (request.kind === 'refused') {
      const { status, error } = request.refusal
      return { status, body: errorBody(error, 'null'), facts: LOCAL }
    }
    if (request.kind === 'batch') return this.#batch(request.elements, context)
    const { element } = request
    const answered = this.#single(planElement(element, context.caller, this.#deps), context)
    if (element.kind === 'call' && element.id === null) return unanswered(answered)
    return answered
  }

  async #batch(elements: readonly RequestElement[], context: RpcRequestContext): Promise<RpcReply> {
    const plans = elements.map((element) => planElement(element, context.caller, this.#deps))
    context.work?.count('call', elements.length - 1)
    const answers: ElementAnswer[] = []
    const asked = plans.flatMap((plan, at) =>
      plan.kind === 'node' && plan.upstream.method.isIdempotent ? [{ at, upstream: plan.upstream }] : []
    )
    const others = Promise.all([
      this.#allHere(plans, answers, context),
      ...plans.map(async (plan, at) => {
        if (plan.kind === 'here' || (plan.kind === 'node' && plan.upstream.method.isIdempotent)) return
        answers[at] = await this.#single(plan, context)
      })
    ])
    const upstreams = asked.map(({ upstream }) => upstream)
    const { turns } = this.#deps
    const inTurn: RunPiece | undefined =
      turns && ((piece) => turns.run(context.caller.tenant, piece, { signal: context.signal }))
    const reads = (await this.#deps.reads?.readAll(upstreams, context.signal, inTurn)) ?? []
    await others
    for (const [index, { at, upstream }] of asked.entries()) {
      const plan = plans[at] as Extract<ElementPlan, { kind: 'node' }>
      const read = reads[index]!
      answers[at] = this.#fromNode(plan.call, upstream, read, context, COPIED_BYTES_MAX)
    }
    const isRejected = answers.every(({ status }) => status === 403)
    const bodies: (Buffer | MadePieces)[] = []
    let left = ANSWER_BYTES_MAX
    for (const [at, { body }] of answers.entries()) {
      const element = elements[at]!
      if (element.kind === 'call' && element.id === null && !isRejected) {
        await leave(body)
        continue
      }
      const id = element.id ?? 'null'
      const bytes = await whole(body, left).catch(() => errorBody(upstreamDown().error, id))
      const sent = bytes ?? errorBody(ANSWER_TOO_LARGE.error, id)
      left -= sent.length
      bodies.push(sent)
    }
    if (bodies.length === 0) return { status: 204, body: null, facts: NO_FACTS }
    return { status: isRejected ? 403 : 200, body: batchBody(bodies), facts: NO_FACTS }
  }

  #single(plan: ElementPlan, context: RpcRequestContext): ElementAnswer | Promise<ElementAnswer> {
    if (plan.kind === 'refused') return this.#refused(plan.refusal, plan.id, 'rejected')
    if (plan.kind === 'here') return this.#here(plan.call, plan.method, context)
    const { call, upstream, reads } = plan
    const { sends } = this.#deps
    if (call.method === 'sendTransaction' && context.tracks && sends !== null) {
      const needed = 'tx:send'
      if (!context.caller.scopes.includes(needed))
        return this.#refused(scopeMissing(needed), call.id, 'rejected')
      return sends
        .send(context.caller.tenant, call.paramsValue, context.signal)
        .then((sent) =>
          'error' in sent
            ? this.#refused({ status: 200, error: sent.error }, call.id, 'error')
            : this.#made(call, resultBody(sent.result, call.id ?? 'null'), LOCAL)
        )
    }
    const key = callKey(upstream)
    const kept = reads.kept(upstream, key)
    if (kept !== undefined) return this.#fromNode(call, upstream, kept, context)
    return reads.read(upstream, context, key).then(
      (read) => this.#fromNode(call, upstream, read, context),
      (error: unknown) => {
        if (isUnanswered(error)) return this.#fromNode(call, upstream, error, context)
        throw error
      }
    )
  }

  /** Answers the elements that this process computes, sequentially, within the bytes and the time of one request. */
  async #allHere(
    plans: readonly ElementPlan[],
    answers: ElementAnswer[],
    context: RpcRequestContext
  ): Promise<void> {
    const endsAtMs = this.#deps.clock.now() + HERE_MS
    let left = ANSWER_BYTES_MAX
    let isFirst = true
    for (const [at, plan] of plans.entries()) {
      if (plan.kind !== 'here') continue
      // An admitted body has at least one element computed, whatever its cost.
      const usedUp = isFirst ? null : this.#usedUp(plan.call, context)
      isFirst = false
      if (left < 0) answers[at] = this.#refused(ANSWER_TOO_LARGE, plan.call.id, 'error')
      else answers[at] = usedUp ?? (await this.#here(plan.call, plan.method, context, endsAtMs))
      const { body } = answers[at]
      if (Buffer.isBuffer(body) || body instanceof MadePieces) left -= body.length
    }
  }

  /** Refuses an element of a batch whose other elements have used up the work of the key. */
  #usedUp({ id }: RequestedCall, { caller, work }: RpcRequestContext): ElementAnswer | null {
    const use = work?.usedUp() ?? null
    if (use === null) return null
    return this.#refused(
      { status: 200, error: workRateLimited(caller.workPerMinute, use.resetIn) },
      id,
      'rejected'
    )
  }

  async #here(
    call: RequestedCall,
    method: RpcMethod,
    context: RpcRequestContext,
    endsAtMs = this.#deps.clock.now() + HERE_MS
  ): Promise<ElementAnswer> {
    const id = call.id ?? 'null'
    const { caller, signal, work } = context
    const { turns, clock } = this.#deps
    const runPiece: RunPiece = (piece) => {
      if (clock.now() > endsAtMs)
        throw new ServiceError(ERRORS.DEADLINE_EXCEEDED, TOOK_TOO_LONG.error.message)
      return turns === undefined ? piece() : turns.run(caller.tenant, piece, { signal })
    }
    if (method.name === 'getGenesisHash')
      return this.#made(call, resultBody(`"${MAINNET_GENESIS}"`, id), LOCAL)
    let made: MirroredAnswer
    try {
      made = await this.#deps.accounts.answer(call.paramsValue, signal, runPiece, work)
    } catch (error) {
      if (error instanceof ServiceError && error.kind === ERRORS.DEADLINE_EXCEEDED)
        return this.#refused(TOOK_TOO_LONG, call.id, 'error')
      throw error
    }
    if ('isForNode' in made) return this.#single(planNodeCall(call, method, caller, this.#deps), context)
    if ('refusal' in made) return this.#refused(made.refusal, call.id, 'error')
    const body = resultBody(made.result, id)
    work?.count('kibibyte', body.length / 1024)
    return this.#made(call, body, { ...LOCAL, slot: made.slot })
  }

  #fromNode(
    call: RequestedCall,
    upstream: UpstreamCall,
    read: SharedAnswer | Unanswered,
    { caller, work }: RpcRequestContext,
    copiedMax?: number
  ): ElementAnswer {
    if (read instanceof NoUpstream) {
      const { message, retryAfterMs } = read
      const retryAfter = retryAfterMs === null ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1_000))
      return this.#refused(upstreamDown(message, retryAfter), call.id, 'down')
    }
    if (isUnanswered(read))
      return this.#refused(
        read instanceof AnswerTooLarge ? ANSWER_TOO_LARGE : refusedByNode(read.status),
        call.id,
        'error'
      )
    const { answer, facts } = read
    this.#deps.count?.(call.method, answer.kind)
    if (answer.slot !== null) this.#deps.floors.saw(caller.keyId, upstream.commitment, answer.slot)
    const body = wrapped(answer, call.id ?? 'null', copiedMax)
    // A cached answer costs no more than its call; an answer that is still arriving is counted as it is sent.
    if (facts.cache === 'miss' && (Buffer.isBuffer(body) || body instanceof MadePieces))
      work?.count('kibibyte', body.length / 1024)
    return { status: 200, body, facts }
  }

  #made(call: RequestedCall, body: ElementAnswer['body'], facts: ReplyFacts): ElementAnswer {
    this.#deps.count?.(call.method, 'result')
    return { status: 200, body, facts }
  }

  #refused(refusal: Refusal, id: string | null, outcome: 'error' | 'rejected' | 'down'): ElementAnswer {
    this.#deps.count?.('refused', outcome)
    const { status, error, retryAfter } = refusal
    const body = errorBody(error, id ?? 'null')
    return { status, body, facts: LOCAL, ...(retryAfter !== undefined && { retryAfter }) }
  }
}

/**
 * Drops the answer to a notification. A refusal with its own HTTP status is sent whole, with the id null, so that a
 * client that sends no ids learns the reason.
 */
async function unanswered(answered: ElementAnswer | Promise<ElementAnswer>): Promise<RpcReply> {
  const answer = await answered
  if (answer.status !== 200) return answer
  await leave(answer.body)
  return { status: 204, body: null, facts: answer.facts }
}

/** Closes an unread body. */
async function leave(body: Buffer | AsyncIterable<Buffer>): Promise<void> {
  if (!Buffer.isBuffer(body)) await endPieces(body)
}

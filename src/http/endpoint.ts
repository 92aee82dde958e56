import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { WeightedCall } from '../access/call-weights.ts'
import type { Caller } from '../access/caller.ts'
import { UNCOUNTED, type WorkCount, type WorkMeter } from '../access/work-meter.ts'
import type { WorkKind } from '../work/work-units.ts'
import { ServiceError, type ErrorCode } from '../errors.ts'
import { DEADLINE_MS, WRITE_LIMIT_MS } from './deadline.ts'
import { inTurn, slicesWithoutTurn, whileClientWaits, type SlicesOf } from './in-turn.ts'
import { JsonBytes } from './json-bytes.ts'
import { idempotencyKeyOf, type Intended, type StoredAnswer } from './idempotency.ts'
import { answerKey, type Answer, type Making } from './response-cache.ts'
import { withoutNullFields } from './null-fields.ts'
import { reader } from './parameters.ts'
import type { RouteScope } from './plugins/access.ts'
import type { Rendering } from './rendering.ts'
import { ANSWER_TERMS, sendRendering } from './respond.ts'
import { hasLongList, slicedJson } from './sliced-json.ts'

/**
 * An example call of the documentation, which a test also makes. Values stand for parameters of the path and the
 * query.
 */
export interface Example {
  readonly name: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** The declaration of an endpoint. Validation, handler types and the OpenAPI document all come from it. */
export interface Endpoint<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType
> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With parameters as `{mint}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly scope: RouteScope
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly answer: Answer
  /** Status of a success; 200 by default. */
  readonly status: number
  /** Errors specific to this endpoint; errors that any request can have are not listed. */
  readonly errors: readonly ErrorCode[]
  readonly examples: readonly Example[]
  /** Whether the endpoint also answers while the service drains, like health and the operator's views. */
  readonly answersWhileDraining: boolean
  /** Other statuses with the same body. */
  readonly otherStatuses: readonly number[]
  /** Media type of the answer. */
  readonly mediaType: string
  /**
   * Milliseconds for computing an answer; of an endpoint that changes something, for its checks before the first write.
   */
  readonly deadlineMs: number
  /**
   * The request that shows whether a change took effect, as `GET /v1/webhooks`; an endpoint that changes something has one.
   */
  readonly shownBy: string | null
  /** Whether it accepts an `Idempotency-Key` (`idempotency.ts`). */
  readonly isIdempotent: boolean
  /** The weight of a call that costs more than one unit of the quota; null for all others. */
  readonly weighted: WeightedCall | null
  /** The kinds of work that an answer is charged for, besides the call; the rows of a list count by themselves. */
  readonly work: readonly WorkKind[]
  /**
   * Whether the making of an answer takes one turn of its tenant (`in-turn.ts`); not where it waits for a node, or takes
   * a turn for each of its pieces.
   */
  readonly takesTurn: boolean
}

/** A served endpoint, and whether its answers are cached and have entity tags. */
export interface Served {
  readonly endpoint: Endpoint
  readonly isCached: boolean
}

const NOTHING = z.object({})
const NO_BODY = z.undefined()

/** Declares an endpoint. Omitted schemas accept nothing. */
export function endpoint<
  Answer extends z.ZodType,
  Params extends z.ZodObject = typeof NOTHING,
  Query extends z.ZodObject = typeof NOTHING,
  Body extends z.ZodType = typeof NO_BODY
>(
  definition: Pick<Endpoint, 'path' | 'tag' | 'summary' | 'scope'> & {
    readonly answer: Answer
    readonly params?: Params
    readonly query?: Query
    readonly body?: Body
  } & Partial<
      Pick<
        Endpoint,
        | 'method'
        | 'description'
        | 'status'
        | 'errors'
        | 'examples'
        | 'answersWhileDraining'
        | 'otherStatuses'
        | 'mediaType'
        | 'deadlineMs'
        | 'shownBy'
        | 'isIdempotent'
        | 'weighted'
        | 'work'
        | 'takesTurn'
      >
    >
): Endpoint<Params, Query, Body, Answer> {
  return {
    method: 'GET',
    params: NOTHING as Params,
    query: NOTHING as Query,
    body: NO_BODY as unknown as Body,
    status: 200,
    errors: [],
    examples: [],
    answersWhileDraining: false,
    otherStatuses: [],
    mediaType: 'application/json',
    deadlineMs: (definition.method ?? 'GET') === 'GET' ? DEADLINE_MS : WRITE_LIMIT_MS,
    shownBy: null,
    isIdempotent: false,
    weighted: null,
    work: ['row', 'kibibyte'],
    takesTurn: definition.method === undefined && definition.deadlineMs === undefined,
    ...definition
  }
}

/** The argument of a handler: the validated input, the caller, and the limits of the answer. */
export interface Call<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> extends Making {
  readonly params: z.output<P>
  readonly query: z.output<Q>
  readonly body: z.output<B>
  /** Null if the scope is open. */
  readonly caller: Caller | null
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Counts work beyond the rows and bytes of the answer. */
  readonly work: WorkCount
  /**
   * Executes the request once for each `Idempotency-Key` of the tenant, as `Idempotency.once` does. `content` is what a repeat
   * must equal: usually the body.
   */
  readonly once: <Made>(
    content: unknown,
    prepare: () => Promise<string>,
    make: (intended: Intended) => Promise<Made>
  ) => Promise<Made>
}

/**
 * The argument of a cached endpoint's handler. The answer is shared by all keys of a tenant, so only the tenant is
 * known.
 */
export interface CachedCall<P extends z.ZodObject, Q extends z.ZodObject> extends Making {
  readonly params: z.output<P>
  readonly query: z.output<Q>
  /** Empty if the scope is open. */
  readonly tenant: string
  /** Counts work beyond the rows and bytes of the answer; the request that makes it is charged. */
  readonly work: WorkCount
}

/** Serves an endpoint whose answer is computed for each request, as JSON. */
export function serve<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, A extends z.ZodType>(
  app: FastifyInstance,
  endpoint: Endpoint<P, Q, B, A>,
  handler: (call: Call<P, Q, B>) => Promise<z.input<A> | JsonBytes>
): void {
  const { responseCache } = app
  const { status, deadlineMs } = endpoint
  app.served.push({ endpoint, isCached: false })
  const readParams = reader(endpoint.params)
  const readQuery = reader(endpoint.query)
  const readBody = bodyReader(endpoint.body)
  app.route({
    ...routeOf(endpoint),
    handler: async (request, reply) => {
      const params = readParams(request.params)
      const query = readQuery(request.query)
      const body = readBody(request.body)
      const { caller } = request
      // The handler may set another one after that.
      if (status !== 200) void reply.code(status)
      const { idempotency } = app
      const key = endpoint.isIdempotent ? idempotencyKeyOf(request.headers) : null
      const operation = `${endpoint.method} ${request.url.split('?', 1)[0]!}`
      const keyed =
        key === null || idempotency === null
          ? null
          : idempotency.call({ tenant: caller!.tenant, operation, key, body })
      const once: Call<P, Q, B>['once'] = async (content, prepare, make) =>
        keyed === null ? make({ id: await prepare(), isDone: false }) : keyed.once(content, prepare, make)
      const meter = request.charged?.meter
      const work = async (making: Making): Promise<z.input<A> | JsonBytes> => {
        const counted = meter ?? UNCOUNTED
        const made = await handler({
          ...making,
          params,
          query,
          body,
          caller,
          request,
          reply,
          work: counted,
          once
        })
        countRows(meter, made, query)
        return made
      }
      const changing = <T>(change: (making: Making) => Promise<T>): Promise<T> =>
        responseCache.changing(change, {
          checksMs: deadlineMs,
          slicesOf: slicesWithoutTurn(app, request),
          unknown: (cause) => unknownOutcome(endpoint, request, cause)
        })
      if (endpoint.method === 'GET') {
        const rendered = async (making: Making): Promise<unknown> => {
          const made = await work(making)
          if (!hasLongList(made)) return made
          const text = await slicedJson(made, making.slices)
          void reply.type(JSON_TYPE)
          return text
        }
        const answer = await whileClientWaits(reply, (left) =>
          inTurn(app, endpoint, reply, (slicesOf) =>
            responseCache.within(rendered, { deadlineMs, slicesOf, left })
          )
        )
        return answer instanceof JsonBytes ? reply.type(JSON_TYPE).send(answer.bytes) : reply.send(answer)
      }
      if (keyed === null || idempotency === null) return reply.send(await changing(work))
      const answer = await idempotency.answer(keyed, () =>
        changing(async (making) => (await keyed.answer()) ?? keyed.end(answerOf(await work(making), reply)))
      )
      if (answer.isSecret) void reply.header('cache-control', NO_STORE)
      return reply.code(answer.status).type(JSON_TYPE).send(answer.text)
    }
  })
}

const NO_STORE = 'no-store'
const JSON_TYPE = 'application/json; charset=utf-8'

/** Returns the answer of a handler as it is stored. */
const answerOf = (body: unknown, reply: FastifyReply): StoredAnswer => ({
  status: reply.statusCode,
  isSecret: reply.getHeader('cache-control') === NO_STORE,
  text: JSON.stringify(body)
})

/**
 * Serves an endpoint with cached answers, entity tags and gzip. A repeated URL gets the same bytes for all keys of a
 * tenant, until a block changes a value that the answer depends on. A cache hit is served before the URL is parsed.
 */
export function serveCached<P extends z.ZodObject, Q extends z.ZodObject, A extends z.ZodType>(
  app: FastifyInstance,
  endpoint: Endpoint<P, Q, z.ZodUndefined, A>,
  handler: (call: CachedCall<P, Q>) => Promise<Answer<z.input<A>>>
): void {
  const { responseCache } = app
  const { url, config } = routeOf(endpoint)
  const { deadlineMs } = endpoint
  const route = { path: url, scope: config.scope }
  app.served.push({ endpoint, isCached: true })
  const readParams = reader(endpoint.params)
  const readQuery = reader(endpoint.query)
  app.route({
    ...routeOf(endpoint),
    handler: (request, reply) => {
      const tenant = request.caller?.tenant ?? ''
      const key = answerKey(request.raw.url!, tenant)
      const send = (made: Rendering) =>
        sendRendering(request, reply, made, ANSWER_TERMS, () => responseCache.packed(key, made))
      const meter = request.charged?.meter
      // Bytes that another request made cost nothing.
      meter?.countBytes(0)
      const kept = responseCache.fresh(key)
      if (kept !== null) return send(kept.rendering)
      let isMade = false
      const make = (slicesOf: SlicesOf): Promise<Rendering> =>
        responseCache.make(
          key,
          route,
          async (making) => {
            isMade = true
            const query = readQuery(request.query)
            const made = await handler({
              params: readParams(request.params),
              query,
              tenant,
              work: meter ?? UNCOUNTED,
              ...making
            })
            countRows(meter, made.body, query)
            return made
          },
          { deadlineMs, slicesOf }
        )
      const running = responseCache.running(key)
      if (running !== null) return running.then(send)
      // While it waited for its turn, an equal request may have begun to make the answer. It is waited for without a turn: if
      // all turns of the tenant waited for an answer, that answer would have none.
      const making = inTurn(app, endpoint, reply, async (slicesOf) => {
        const made = responseCache.fresh(key)?.rendering
        if (made !== undefined) return made
        const joined = responseCache.running(key)
        return joined === null ? make(slicesOf) : { joined }
      })
      return making.then((made) => {
        if ('joined' in made) return made.joined.then(send)
        if (isMade) meter?.countBytes(made.length)
        return send(made)
      })
    }
  })
}

/** Counts the rows of a list that was made, and those that its offset passes over: they are read too. */
function countRows(
  meter: WorkMeter | undefined,
  body: unknown,
  { offset }: { readonly offset?: unknown }
): void {
  if (meter?.counts('row') !== true || typeof body !== 'object' || body === null || !('data' in body)) return
  if (Array.isArray(body.data))
    meter.count('row', body.data.length + (typeof offset === 'number' ? offset : 0))
}

/** The error of a request whose outcome cannot be known: it names where to look, and whether a repeat is safe. */
function unknownOutcome(
  { method, shownBy, isIdempotent }: Endpoint,
  { headers }: FastifyRequest,
  cause: unknown
): ServiceError {
  const look = shownBy === null ? '' : `; ${shownBy} shows it`
  const hasKey = headers['idempotency-key'] !== undefined
  const repeat =
    method === 'DELETE' || (isIdempotent && hasKey)
      ? `repeating it${hasKey ? ' with the same Idempotency-Key' : ''} is safe`
      : 'look before you repeat it, since it had no Idempotency-Key'
  const detail = `the store has not confirmed it, so it is unknown whether this request took effect${look}; ${repeat}`
  return new ServiceError('OUTCOME_UNKNOWN', detail, { cause })
}

function routeOf({ method, path, scope, answersWhileDraining, weighted, work }: Endpoint) {
  return {
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { scope, answersWhileDraining, weighted, work }
  }
}

/**
 * Returns a reader of the body; without a declared body it accepts and ignores any. An optional field that is null counts
 * as absent, unless null has a meaning of its own.
 */
function bodyReader<B extends z.ZodType>(schema: B): (body: unknown) => z.output<B> {
  if (schema instanceof z.ZodObject) {
    const [read, withoutNulls] = [reader(schema, 'body'), withoutNullFields(schema)]
    return (body) => read(withoutNulls(body))
  }
  if (schema instanceof z.ZodOptional) {
    const readBody = bodyReader(schema.unwrap() as z.ZodType)
    return (body) => (body === undefined ? undefined : readBody(body)) as z.output<B>
  }
  return (body) => schema.parse(schema instanceof z.ZodUndefined ? undefined : body)
}

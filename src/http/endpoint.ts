import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Scope } from '../access/scopes.ts'
import type { ErrorCode } from '../errors.ts'
import { read } from './parameters.ts'
import type { Caller } from './plugins/access.ts'

/** A call that the documentation shows, and that a test makes. Values stand for parameters of the path and the query. */
export interface Example {
  readonly name: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/**
 * What an endpoint takes and gives. Requests are validated by it, handlers are typed by it, and the OpenAPI document is
 * made from it; nothing else says what the API is.
 */
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
  readonly scope: Scope | 'open' | 'loopback-or-admin'
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly answer: Answer
  /** 200 unless it says otherwise. */
  readonly status: number
  /** The errors of its own; those that any request can meet are not named. */
  readonly errors: readonly ErrorCode[]
  readonly examples: readonly Example[]
  /** Health and the operator's views stay readable while the service drains. */
  readonly answersWhileDraining: boolean
}

const NOTHING = z.object({})
const NO_BODY = z.undefined()

/** Declares an endpoint; what is left out takes nothing. */
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
      Pick<Endpoint, 'method' | 'description' | 'status' | 'errors' | 'examples' | 'answersWhileDraining'>
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
    ...definition
  }
}

/** What a handler is given: the input as its schemas read it, and who asks. */
export interface Call<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> {
  readonly params: z.output<P>
  readonly query: z.output<Q>
  readonly body: z.output<B>
  /** Null where the scope is open. */
  readonly caller: Caller | null
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Serves an endpoint: the handler's answer goes out as JSON. */
export function serve<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, A extends z.ZodType>(
  app: FastifyInstance,
  { method, path, scope, answersWhileDraining, params, query, body, status }: Endpoint<P, Q, B, A>,
  handler: (call: Call<P, Q, B>) => Promise<z.input<A>>
): void {
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { scope, answersWhileDraining },
    handler: async (request, reply) => {
      const call = {
        params: read(params, request.params),
        query: read(query, request.query),
        body: body === (NO_BODY as z.ZodType) ? undefined : body.parse(request.body),
        caller: request.caller,
        request,
        reply
      }
      const answer = await handler(call as Call<P, Q, B>)
      return reply.code(status).send(answer)
    }
  })
}

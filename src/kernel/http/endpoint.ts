import { z } from 'zod'
import type { WeightedCall } from '../../access/call-weights.ts'
import type { WorkKind } from '../work/work-units.ts'
import { DEADLINE_MS, WRITE_LIMIT_MS } from './deadline.ts'
import type { RouteScope } from './plugins/access.ts'
import type { ErrorKind } from '../error-kind.ts'
import { ERRORS } from '../errors.ts'
import { listParameters } from './list/list-parameters.ts'
import { rowFieldsOf } from './list/row-fields.ts'

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
  readonly errors: readonly ErrorKind[]
  readonly examples: readonly Example[]
  /**
   * Whether the answer promises work after it, which processes of another role may do. The product of the endpoint states
   * that work.
   */
  readonly leavesWork: boolean
  /** Whether the endpoint also answers while the service drains, like health and the operator's views. */
  readonly answersWhileDraining: boolean
  /** Other statuses with this body. */
  readonly otherStatuses: readonly number[]
  /** Media type of the answer. */
  readonly mediaType: string
  /**
   * Milliseconds for computing an answer; for an endpoint that changes something, for its checks before the first write.
   */
  readonly deadlineMs: number
  /**
   * The request that shows whether a change took effect, as `GET /v1/webhooks`; an endpoint that changes something has one.
   */
  readonly shownBy: string | null
  /** Whether the endpoint accepts an `Idempotency-Key` (`idempotency.ts`). */
  readonly isIdempotent: boolean
  /** The weight of a call that costs more than one unit of the quota; null for all others. */
  readonly weighted: WeightedCall | null
  /** The kinds of work charged for an answer, besides the call; the rows of a list are counted automatically. */
  readonly work: readonly WorkKind[]
  /**
   * Whether making an answer takes one turn of its tenant (`in-turn.ts`). False if it waits for a node, or takes a turn for
   * each of its pieces.
   */
  readonly takesTurn: boolean
  /** The names of the fields of its rows, which `fields` selects; null if the answer is not a list. */
  readonly rowFields: readonly string[] | null
  /**
   * The columns of its rows as CSV, in their order: every field once. The order never changes, and new columns come last.
   * Null for a list that has no other format than JSON.
   */
  readonly columns: readonly string[] | null
}

/**
 * Every declared endpoint. The routes of all products are loaded in each process, so it knows those that it does not serve.
 */
const declaredPaths: { readonly method: string; readonly path: RegExp }[] = []

/** Tells whether the service has a route at a path, for a method or for any. */
export const isDeclared = (path: string, method?: string): boolean =>
  declaredPaths.some(
    (each) =>
      (method === undefined || each.method === (method === 'HEAD' ? 'GET' : method)) && each.path.test(path)
  )

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
        | 'leavesWork'
        | 'weighted'
        | 'work'
        | 'takesTurn'
        | 'columns'
      >
    >
): Endpoint<Params, Query, Body, Answer> {
  const { method = 'GET', query = NOTHING as unknown as Query, columns = null } = definition
  const rowFields = method === 'GET' ? rowFieldsOf(definition.answer) : null
  const pattern = definition.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')
  declaredPaths.push({ method, path: new RegExp(`^${pattern}$`) })
  return {
    method: 'GET',
    params: NOTHING as Params,
    body: NO_BODY as unknown as Body,
    status: 200,
    examples: [],
    answersWhileDraining: false,
    otherStatuses: [],
    mediaType: 'application/json',
    deadlineMs: (definition.method ?? 'GET') === 'GET' ? DEADLINE_MS : WRITE_LIMIT_MS,
    shownBy: null,
    isIdempotent: false,
    leavesWork: false,
    weighted: null,
    work: ['row', 'kibibyte'],
    takesTurn: definition.method === undefined && definition.deadlineMs === undefined,
    columns,
    ...definition,
    errors:
      definition.leavesWork === true
        ? [...(definition.errors ?? []), ERRORS.ROLE_MISSING]
        : (definition.errors ?? []),
    rowFields,
    // `serve` reads the added parameters; a handler need not know them.
    query: rowFields === null ? query : (query.extend(listParameters(rowFields, columns)) as unknown as Query)
  }
}

/** Returns the route of an endpoint in the framework's form. */
export function routeOf({ method, path, scope, answersWhileDraining, weighted, work, leavesWork }: Endpoint) {
  return {
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { scope, answersWhileDraining, weighted, work, leavesWork }
  }
}

import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { UNWEIGHTED, unitsOf, type WeightedCall } from '../../../access/call-weights.ts'
import { keyState, type Caller } from '../../../access/caller.ts'
import { clientNetwork } from '../../../access/client-network.ts'
import { KeyLookups } from '../../../access/key-lookups.ts'
import { RateWindow } from '../../../access/rate-window.ts'
import { WorkBudget } from '../../../access/work-budget.ts'
import { WorkMeter } from '../../../access/work-meter.ts'
import type { WorkKind } from '../../work/work-units.ts'
import type { Scope } from '../../../access/scopes.ts'
import { ERRORS, ServiceError } from '../../errors.ts'
import type { RateUse } from '../../../../storage/cluster/coordination.ts'
import type { HttpKernel } from '../http-kernel.ts'
import { serviceErrorOf } from '../problem.ts'
import { originFault, productOf } from '../page-origin.ts'
import { chargeCall, chargeWork, rateLimited, type ChargedCall } from './limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; null on a route that needs no key. */
    caller: Caller | null
    /** The call's work; null until it is admitted, and on a route that needs no key. */
    charged: ChargedCall | null
  }
  interface FastifyContextConfig {
    /** Scope of a key that the route needs: `any-key` accepts any scope, `open` needs no key. */
    scope?: RouteScope
    /** Whether the query may carry the key (`KEY_PARAMETERS`), for clients that cannot set headers. */
    keyInQuery?: boolean
    /** Whether a request without a good key is refused with 403, as on the stream, and not with 401. */
    refusesWith403?: boolean
    /** The weight of a call that costs more than one unit of the quota. */
    weighted?: WeightedCall | null
    /** The kinds of work that the route counts, besides the call itself. */
    work?: readonly WorkKind[]
    /** Whether the answer promises work after it, as `leavesWork` of an endpoint. */
    leavesWork?: boolean
    /** Whether the route is the JSON-RPC route, whose handler charges the quota by element. */
    isRpc?: boolean
  }
}

/** The query parameters that may carry the key, if a route reads it there. Node providers use either name. */
export const KEY_PARAMETERS = ['api-key', 'key'] as const

export type RouteScope = Scope | 'any-key' | 'open' | 'loopback-or-admin'

type Deps = Pick<HttpKernel, 'keys' | 'limits' | 'clock' | 'metricsKeyRequired' | 'weights'> & {
  readonly metrics?: Pick<HttpKernel['metrics'], 'work'>
}

/**
 * Maximum requests per minute of one client without a good key. Requests with a good key are neither counted nor
 * refused.
 */
export const FAILURES_PER_MINUTE = 300
/** Maximum clients whose failures are counted in a minute; above it the oldest ones are dropped. */
const FAILING_CLIENTS_MAX = 10_000

/** Access control of every route: key, page origin, quota and scopes. A route without a scope is not served. */
export const access = plugin(
  async (app, { keys, limits, clock, metricsKeyRequired, metrics, weights = UNWEIGHTED }: Deps) => {
    app.decorateRequest('caller', null)
    app.decorateRequest('charged', null)
    const budget = new WorkBudget(limits.work, metrics?.work)
    const identify = identifyCaller(keys, clock)
    const charge = chargeCall(limits, budget)
    // The work of the answer is known before the head is sent.
    app.addHook('onSend', (request, reply, payload, done) => {
      const { charged } = request
      if (charged !== null) {
        request.charged = null
        charged.meter.countPayload(payload)
        chargeWork(budget, charged, reply, () => clock.now())
      }
      done(null, payload)
    })
    app.addHook('onRoute', (route) => {
      const scope = route.config?.scope
      if (scope === undefined) throw new Error(`the route ${route.url} names no scope`)
      if (scope === 'open') return
      const { keyInQuery = false, isRpc = false, weighted = null, work = [] } = route.config ?? {}
      const product = productOf(scope, isRpc)
      const weight = weighted === null ? 1 : weights[weighted]
      // One hook for all checks: separate hooks would cost a request 2 µs more.
      route.onRequest = (request, reply, done) => {
        if (scope === 'loopback-or-admin' && !metricsKeyRequired && isLocal(request)) return done()
        const nowMs = clock.now()
        const admit = (caller: Caller | ServiceError): void => {
          if (caller instanceof ServiceError)
            return done(route.config?.refusesWith403 === true ? refusedStream(caller) : caller)
          request.caller = caller
          if (isRpc) return done(originFault(caller, request.headers, product))
          const charged = (refusal: Error | undefined, calls?: RateUse): void => {
            if (calls !== undefined) request.charged = { caller, calls, meter: new WorkMeter(work) }
            done(refusal ?? originFault(caller, request.headers, product) ?? scopeMissing(caller, scope))
          }
          charge(caller, reply, nowMs, charged, unitsOf(weight, caller.ratePerMinute))
        }
        const caller = identify(request, reply, nowMs, keyInQuery)
        if (caller instanceof Promise) void caller.then(admit)
        else admit(caller)
      }
    })
  },
  { name: 'access', dependencies: ['problems'] }
)

/**
 * Returns a function that finds the caller by API key: `X-API-Key` before `Authorization: Bearer`. Two different keys
 * are refused (src/docs/endpoints.md).
 */
function identifyCaller(keys: Deps['keys'], clock: Deps['clock']) {
  const failures = new RateWindow(FAILING_CLIENTS_MAX)
  const lookups = keys.isShared ? new KeyLookups((key) => keys.lookUp(key), clock) : null
  const counted = (
    found: Caller | ServiceError,
    reply: FastifyReply,
    client: string,
    nowMs: number
  ): Caller | ServiceError => {
    if (!(found instanceof ServiceError)) return found
    const use = failures.take(client, FAILURES_PER_MINUTE, nowMs)
    if (use.allowed) return found
    const detail = `more than ${FAILURES_PER_MINUTE} requests without a good API key in this minute`
    return rateLimited(reply, { detail, policy: 'failures-per-minute', quota: FAILURES_PER_MINUTE, use })
  }
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    nowMs: number,
    keyInQuery: boolean
  ): Caller | ServiceError | Promise<Caller | ServiceError> => {
    const found = findCaller(keys, request, nowMs, keyInQuery)
    if (!(found instanceof ServiceError)) return found
    const client = clientNetwork(request.socket.remoteAddress ?? '')
    // Another process may have made the key a moment ago. A client that only fails gets no look-up.
    const looked =
      found === REFUSALS.unknown && failures.look(client, FAILURES_PER_MINUTE, nowMs).allowed
        ? lookups?.lookUp(keyOf(request, keyInQuery))
        : null
    if (looked === null || looked === undefined) return counted(found, reply, client, nowMs)
    return looked.then(
      (isKnown) =>
        counted(isKnown ? findCaller(keys, request, nowMs, keyInQuery) : found, reply, client, nowMs),
      (error: unknown) => serviceErrorOf(error)
    )
  }
}

/** Returns the only key of a request. */
const keyOf = (request: FastifyRequest, keyInQuery: boolean): string =>
  String(presentedKey(request.headers, keyInQuery ? queryKey(request.query) : ''))

function neededScope(scope: RouteScope): Scope | 'any-key' | 'open' {
  return scope === 'loopback-or-admin' ? 'admin' : scope
}

/** Tells whether a caller has the scope of a route. */
export function mayUse({ scopes }: Caller, scope: RouteScope): boolean {
  const needed = neededScope(scope)
  return needed === 'any-key' || needed === 'open' || scopes.includes(needed)
}

function scopeMissing(caller: Caller, scope: RouteScope): ServiceError | undefined {
  if (mayUse(caller, scope)) return undefined
  return new ServiceError(ERRORS.SCOPE_MISSING, `this key lacks the scope ${neededScope(scope)}`)
}

/** Tells whether a request comes from this machine directly, not through a proxy on it. */
export function isLocal({ socket, headers }: FastifyRequest): boolean {
  const isLoopback = /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '')
  return isLoopback && FORWARDING.every((name) => headers[name] === undefined)
}

/** Header fields that proxies add. */
const FORWARDING = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const

/** Created once, since a flood of requests may get them, and returned instead of thrown. */
const REFUSALS = {
  missing: new ServiceError(ERRORS.KEY_MISSING, 'send an API key in X-API-Key or Authorization: Bearer'),
  missingAlsoInQuery: new ServiceError(
    ERRORS.KEY_MISSING,
    `send an API key in X-API-Key, Authorization: Bearer or the query parameter ${KEY_PARAMETERS.join(' or ')}`
  ),
  notInQuery: new ServiceError(
    ERRORS.KEY_MISSING,
    'send the API key in X-API-Key or Authorization: Bearer; only /v1/rpc, /v1/rpc/ws and /v1/stream read it from the query'
  ),
  several: new ServiceError(ERRORS.KEY_INVALID, 'the request carries more than one key'),
  unknown: new ServiceError(ERRORS.KEY_INVALID, 'this API key is not known'),
  revoked: new ServiceError(ERRORS.KEY_REVOKED, 'this API key was revoked'),
  expired: new ServiceError(ERRORS.KEY_EXPIRED, 'this API key has expired'),
  elsewhere: new ServiceError(ERRORS.IP_REFUSED, 'this API key may not be used from this address')
} as const

/** Returns the caller of a request, or the refusal. */
export function findCaller(
  keys: Deps['keys'],
  request: Pick<FastifyRequest, 'headers' | 'socket'> & { readonly query?: unknown },
  nowMs: number,
  keyInQuery = false
): Caller | ServiceError {
  const key = presentedKey(request.headers, keyInQuery ? queryKey(request.query) : '')
  if (key === '' && keyInQuery) return REFUSALS.missingAlsoInQuery
  if (key === '') return queryKey(request.query) === '' ? REFUSALS.missing : REFUSALS.notInQuery
  if (typeof key !== 'string') return key
  const caller = keys.find(key, request.socket)
  if (caller === null) return REFUSALS.unknown
  const state = keyState(caller.row, nowMs)
  if (state !== 'active') return REFUSALS[state]
  return caller.mayComeFrom(request.socket.remoteAddress) ? caller : REFUSALS.elsewhere
}

/** Returns the caller whose active key a query carries; null if it carries no active key. */
export function callerInQuery(keys: Deps['keys'], query: unknown, nowMs: number): Caller | null {
  const key = queryKey(query)
  const caller = key === null || key === '' ? null : keys.find(key)
  return caller !== null && keyState(caller.row, nowMs) === 'active' ? caller : null
}

/** Returns the only key of a query, which may carry it under both names; empty if absent, null for several. */
function queryKey(query: unknown): string | null {
  if (typeof query !== 'object' || query === null) return ''
  let key = ''
  for (const name of KEY_PARAMETERS) {
    const value = (query as Record<string, unknown>)[name] ?? ''
    if (typeof value !== 'string' || (key !== '' && value !== '' && value !== key)) return null
    if (value !== '') key = value
  }
  return key
}

/**
 * Returns the only key of a request; empty if absent. A repeated header arrives as one joined value, which is refused: a
 * proxy in front may have checked only one of the keys.
 */
function presentedKey(headers: IncomingHttpHeaders, inQuery: string | null): string | ServiceError {
  const header = headers['x-api-key'] ?? ''
  const bearer = headers.authorization === undefined ? '' : bearerOf(headers.authorization)
  if (typeof header !== 'string' || bearer === null || inQuery === null) return REFUSALS.several
  const key = header !== '' ? header : bearer !== '' ? bearer : inQuery
  const differ = (bearer !== '' && bearer !== key) || (inQuery !== '' && inQuery !== key)
  return differ ? REFUSALS.several : key
}

/** Turns a 401 into a 403: a stream is refused with 403 for any problem with the key (src/docs/endpoints.md). */
function refusedStream(refusal: ServiceError): ServiceError {
  return refusal.kind.status === 401 ? new ServiceError(ERRORS.STREAM_KEY_REFUSED, refusal.detail) : refusal
}

/** Returns the token of `Bearer`; empty if absent or of another scheme, null for more than one. */
function bearerOf(authorization: string): string | null {
  const [, token] = /^Bearer +(.*)$/i.exec(authorization) ?? []
  if (token === undefined) return ''
  return /[\s,]/.test(token) ? null : token
}

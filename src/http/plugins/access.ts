import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { keyState, type Caller } from '../../access/caller.ts'
import { clientNetwork } from '../../access/client-network.ts'
import { RateWindow } from '../../access/rate-window.ts'
import type { Scope } from '../../access/scopes.ts'
import { ERRORS, ServiceError } from '../../errors.ts'
import type { AppDeps } from '../deps.ts'
import { originFault } from '../page-origin.ts'
import { admitOrigin } from './cors.ts'
import { chargeCall, rateLimited } from './limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; null where nobody has to say. */
    caller: Caller | null
  }
  interface FastifyContextConfig {
    /** What a key needs for this route: `any-key` needs one of whatever scope, `open` none. */
    scope?: RouteScope
    /** The parameter in which a key may come, for clients that can set no header; who has none is refused with 403. */
    keyInQuery?: string
  }
}

export type RouteScope = Scope | 'any-key' | 'open' | 'loopback-or-admin'

type Deps = Pick<AppDeps, 'keys' | 'limits' | 'clock' | 'metricsKeyRequired'>

/** Requests a minute in which a client may present no good key. Those with a good one are neither counted nor refused. */
export const FAILURES_PER_MINUTE = 300
/** Clients whose failures are counted in a minute; beyond it the first of them are forgotten. */
const FAILING_CLIENTS_MAX = 10_000

/**
 * What stands before every route: who asks, from which page, how often, and whether the key's scopes name the route.
 * A route that names no scope is not served at all.
 */
export const access = plugin(
  async (app, { keys, limits, clock, metricsKeyRequired }: Deps) => {
    app.decorateRequest('caller', null)
    const identify = identifyCaller(keys)
    const charge = chargeCall(limits)
    app.addHook('onRoute', (route) => {
      const scope = route.config?.scope
      if (scope === undefined) throw new Error(`the route ${route.url} names no scope`)
      if (scope === 'open') return
      const keyInQuery = route.config?.keyInQuery
      // One hook for all that is asked: one for each would cost a request 2 µs more.
      route.onRequest = (request, reply, done) => {
        if (scope === 'loopback-or-admin' && !metricsKeyRequired && isLocal(request)) return done()
        const nowMs = clock.now()
        const caller = identify(request, reply, nowMs, keyInQuery)
        if (caller instanceof ServiceError)
          return done(keyInQuery === undefined ? caller : refusedStream(caller))
        request.caller = caller
        admitOrigin(caller, request, reply)
        charge(caller, reply, nowMs, (refusal) =>
          done(refusal ?? originFault(caller, request.headers) ?? scopeMissing(caller, scope))
        )
      }
    })
  },
  { name: 'access', dependencies: ['problems'] }
)

/**
 * Finds the caller by API key: `X-API-Key` before `Authorization: Bearer`; two that differ are refused
 * (spec choices, section 10).
 */
function identifyCaller(keys: Deps['keys']) {
  const failures = new RateWindow(FAILING_CLIENTS_MAX)
  return (
    request: FastifyRequest,
    reply: FastifyReply,
    nowMs: number,
    keyInQuery: string | undefined
  ): Caller | ServiceError => {
    const found = findCaller(keys, request, nowMs, keyInQuery)
    if (!(found instanceof ServiceError)) return found
    const client = clientNetwork(request.socket.remoteAddress ?? '')
    const use = failures.take(client, FAILURES_PER_MINUTE, nowMs)
    if (use.allowed) return found
    const detail = `more than ${FAILURES_PER_MINUTE} requests without a good API key in this minute`
    return rateLimited(reply, { detail, policy: 'failures-per-minute', quota: FAILURES_PER_MINUTE, use })
  }
}

function neededScope(scope: RouteScope): Scope | 'any-key' | 'open' {
  return scope === 'loopback-or-admin' ? 'admin' : scope
}

/** Whether a caller may use a route. */
export function mayUse({ scopes }: Caller, scope: RouteScope): boolean {
  const needed = neededScope(scope)
  return needed === 'any-key' || needed === 'open' || scopes.includes(needed)
}

function scopeMissing(caller: Caller, scope: RouteScope): ServiceError | undefined {
  if (mayUse(caller, scope)) return undefined
  return new ServiceError('SCOPE_MISSING', `this key lacks the scope ${neededScope(scope)}`)
}

/** Whether a request comes from this machine and does not say that a proxy here passed it on for somebody else. */
export function isLocal({ socket, headers }: FastifyRequest): boolean {
  const isLoopback = /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '')
  return isLoopback && FORWARDING.every((name) => headers[name] === undefined)
}

/** Header fields that proxies add. */
const FORWARDING = ['forwarded', 'x-forwarded-for', 'via'] as const

/** Made once, for there may be a flood of them, and given instead of thrown. */
const REFUSALS = {
  missing: new ServiceError('KEY_MISSING', 'send an API key in X-API-Key or Authorization: Bearer'),
  several: new ServiceError('KEY_INVALID', 'the request carries more than one key'),
  unknown: new ServiceError('KEY_INVALID', 'this API key is not known'),
  revoked: new ServiceError('KEY_REVOKED', 'this API key was revoked'),
  expired: new ServiceError('KEY_EXPIRED', 'this API key has expired'),
  elsewhere: new ServiceError('IP_REFUSED', 'this API key may not be used from this address')
} as const

/** Who asks, or why nobody does. */
export function findCaller(
  keys: Deps['keys'],
  request: Pick<FastifyRequest, 'headers' | 'socket'> & { readonly query?: unknown },
  nowMs: number,
  keyInQuery?: string
): Caller | ServiceError {
  const inQuery =
    keyInQuery === undefined
      ? undefined
      : (request.query as Record<string, unknown> | undefined)?.[keyInQuery]
  const key = presentedKey(request.headers, inQuery)
  if (typeof key !== 'string') return key
  const caller = keys.find(key, request.socket)
  if (caller === null) return REFUSALS.unknown
  const state = keyState(caller.row, nowMs)
  if (state !== 'active') return REFUSALS[state]
  return caller.mayComeFrom(request.socket.remoteAddress) ? caller : REFUSALS.elsewhere
}

/**
 * The one key that a request carries. Of a header that comes twice both values arrive as one, which is no key: who
 * stands before this service may have looked at the other one.
 */
function presentedKey(headers: IncomingHttpHeaders, inQuery: unknown = ''): string | ServiceError {
  const header = headers['x-api-key'] ?? ''
  const bearer = headers.authorization === undefined ? '' : bearerOf(headers.authorization)
  if (typeof header !== 'string' || bearer === null || typeof inQuery !== 'string') return REFUSALS.several
  const key = header !== '' ? header : bearer !== '' ? bearer : inQuery
  if (key === '') return REFUSALS.missing
  const differ = (bearer !== '' && bearer !== key) || (inQuery !== '' && inQuery !== key)
  return differ ? REFUSALS.several : key
}

/** A stream is refused with 403, whatever is wrong with the key (spec, Authentication, 5). */
function refusedStream(refusal: ServiceError): ServiceError {
  return ERRORS[refusal.code].status === 401
    ? new ServiceError('STREAM_KEY_REFUSED', refusal.detail)
    : refusal
}

/** The token of `Bearer`; empty where there is none or another scheme, null where there is more than one. */
function bearerOf(authorization: string): string | null {
  const [, token] = /^Bearer +(.*)$/i.exec(authorization) ?? []
  if (token === undefined) return ''
  return /[\s,]/.test(token) ? null : token
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import type { Caller } from '../../access/caller.ts'
import type { AppDeps } from '../deps.ts'
import { RATE_HEADERS } from './limits.ts'

/** What a page may read of a response besides its body. */
const EXPOSED = [...RATE_HEADERS, 'Retry-After', 'X-Request-Id', 'X-Data-Freshness-Seconds', 'ETag'].join(
  ', '
)
/** What a page may send. */
const ALLOWED = {
  'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
  'access-control-allow-headers': 'X-API-Key, Authorization, Content-Type, If-None-Match',
  // How long a browser may remember it: the key is asked for anew by every request anyway.
  'access-control-max-age': '600'
} as const

/**
 * Answers what a browser asks before it lets a page of another origin send a key. That question carries no key, so it
 * is answered if any key that works lists the origin, and else like any method that a route does not have.
 */
export const preflights = plugin(
  async (app, { keys, clock }: Pick<AppDeps, 'keys' | 'clock'>) => {
    app.addHook('onRequest', (request, reply, done) => {
      if (request.method !== 'OPTIONS') return done()
      const origin = askedFor(request)
      if (origin === null || !keys.admitsOrigin(origin, clock.now())) return done()
      void reply
        .code(204)
        .headers({ ...ALLOWED, 'access-control-allow-origin': origin, vary: 'Origin' })
        .send()
    })
  },
  { name: 'preflights', dependencies: ['requests'] }
)

/** Lets a page read the response if the key lists its origin, refusals included. */
export function admitOrigin(caller: Caller, { headers }: FastifyRequest, reply: FastifyReply): void {
  void reply.header('vary', 'Origin')
  const { origin } = headers
  if (origin !== undefined && caller.mayBeUsedBy(origin)) {
    void reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED)
  }
}

/** The origin that a preflight asks for; null when the request is none. */
function askedFor({ headers }: FastifyRequest): string | null {
  return headers['access-control-request-method'] === undefined ? null : (headers.origin ?? null)
}

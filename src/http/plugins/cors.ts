import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import type { Caller } from '../../access/caller.ts'
import type { AppDeps } from '../deps.ts'
import { RPC_FACT_FIELDS } from '../rpc-fields.ts'
import { RATE_HEADERS } from './limits.ts'

/** Response headers that pages of other origins may read. */
const EXPOSED = [
  ...RATE_HEADERS,
  ...RPC_FACT_FIELDS,
  'Retry-After',
  'X-Request-Id',
  'X-Data-Freshness-Seconds',
  'ETag'
].join(', ')
/** Methods and headers that such pages may send. */
const ALLOWED = {
  'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
  'access-control-allow-headers':
    'X-API-Key, Authorization, Content-Type, If-None-Match, Idempotency-Key, Solana-Client, X-Millrace-Track',
  // Seconds for which a browser may cache this: each request needs a key anyway.
  'access-control-max-age': '600'
} as const

/**
 * Answers CORS preflights. A preflight carries no key, so it is accepted if any active key lists its origin; else it
 * is answered like any method that the route does not have.
 */
export const preflights = plugin(
  async (app, { keys, clock }: Pick<AppDeps, 'keys' | 'clock'>) => {
    app.addHook('onRequest', (request, reply, done) => {
      if (request.method !== 'OPTIONS') return done()
      const origin = preflightOrigin(request)
      if (origin === null || !keys.admitsOrigin(origin, clock.now())) return done()
      void reply
        .code(204)
        .headers({ ...ALLOWED, 'access-control-allow-origin': origin, vary: 'Origin' })
        .send()
    })
  },
  { name: 'preflights', dependencies: ['requests'] }
)

/** Lets a page read the response, refusals included, if the key lists its origin. */
export function admitOrigin(caller: Caller, { headers }: FastifyRequest, reply: FastifyReply): void {
  void reply.header('vary', 'Origin')
  const { origin } = headers
  if (origin !== undefined && caller.mayBeUsedBy(origin)) {
    void reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED)
  }
}

/** Returns the origin of a preflight; null for any other request. */
function preflightOrigin({ headers }: FastifyRequest): string | null {
  return headers['access-control-request-method'] === undefined ? null : (headers.origin ?? null)
}

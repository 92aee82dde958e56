import type { FastifyReply } from 'fastify'
import plugin from 'fastify-plugin'
import type { OriginUse } from '../../../access/origin-entry.ts'
import type { HttpKernel } from '../http-kernel.ts'
import { hostFault } from '../host.ts'
import { originRefused, productOf } from '../page-origin.ts'
import { callerInQuery } from './access.ts'
import { RATE_HEADERS } from './limits.ts'
import { setPlainHeaders } from './requests.ts'

/** Response headers that pages of other origins may read; `added` are those of products. */
const exposedHeaders = (added: readonly string[]): string =>
  [...RATE_HEADERS, ...added, 'Retry-After', 'X-Request-Id', 'X-Data-Freshness-Seconds', 'ETag', 'Link'].join(
    ', '
  )
/** Methods and headers that such pages may send. */
const ALLOWED = {
  'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
  'access-control-allow-headers':
    'X-API-Key, Authorization, Content-Type, If-None-Match, Idempotency-Key, Solana-Client, X-Millrace-Track',
  // Seconds for which a browser may cache the preflight: each request needs a key anyway.
  'access-control-max-age': '600'
} as const

/** A path that needs a key, as a preflight sees it. */
interface KeyedPath {
  readonly path: RegExp
  readonly use: OriginUse
  readonly keyInQuery: boolean
}

type Deps = Pick<HttpKernel, 'keys' | 'clock' | 'feed' | 'nodeHead'> & {
  readonly exposed: readonly string[]
}

/**
 * Lets pages of other origins read responses, and answers their preflights.
 *
 * A preflight carries no header with a key. If the query has a known key, its list decides; else the origin is accepted if
 * any active key lists it for this section of the API. Pages of every origin that some active key lists may read refusals,
 * so that a page sees why its key is refused. Other pages get no such fields.
 */
export const cors = plugin(
  async (app, deps: Deps) => {
    const { keys, clock } = deps
    const exposed = exposedHeaders(deps.exposed)
    const paths: KeyedPath[] = []
    app.addHook('onRoute', ({ url, config }) => {
      const { scope = 'open', isRpc, keyInQuery = false } = config ?? {}
      if (scope === 'open') return
      const path = new RegExp(`^${url.replace(/:[^/]+/g, '[^/]+')}$`)
      paths.push({ path, use: productOf(scope, isRpc), keyInQuery })
    })
    app.addHook('onRequest', (request, reply, done) => {
      const { headers, routeOptions, method } = request
      const { origin } = headers
      const { scope, isRpc } = routeOptions.config
      // A route without a key has no list of origins. A request without a route may have had one.
      if (scope === 'open') return done()
      void reply.header('vary', 'Origin')
      if (origin === undefined) return done()
      const nowMs = clock.now()
      if (method === 'OPTIONS' && headers['access-control-request-method'] !== undefined) {
        if (hostFault(request.raw) !== undefined) return done()
        // Set even while the service drains, so that the page can read the refusal.
        setPlainHeaders(request, reply, deps)
        const path = request.url.split('?', 1)[0]!
        const keyed = paths.find((each) => each.path.test(path))
        const use = keyed === undefined ? 'any' : keyed.use
        const caller = keyed?.keyInQuery === true ? callerInQuery(keys, request.query, nowMs) : null
        if (caller !== null && !caller.mayBeUsedBy(origin, use))
          return done(originRefused('the API key in the query does not list the origin', origin, use))
        if (caller === null && !keys.admitsOrigin(origin, nowMs, use))
          return done(originRefused('no API key lists the origin', origin, use))
        return void reply
          .code(204)
          .headers({ ...ALLOWED, 'access-control-allow-origin': origin })
          .send()
      }
      const use = scope === undefined ? 'any' : productOf(scope, isRpc)
      if (keys.admitsOrigin(origin, nowMs, use)) admit(origin, exposed, reply)
      done()
    })
  },
  { name: 'cors', dependencies: ['problems'] }
)

function admit(origin: string, exposed: string, reply: FastifyReply): void {
  void reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', exposed)
}

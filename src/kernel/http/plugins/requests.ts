import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { withoutApiKeys } from '../../../access/api-key.ts'
import { ERRORS, ServiceError } from '../../errors.ts'
import type { HttpKernel } from '../http-kernel.ts'
import { setFields, type Fields } from '../fields.ts'
import { freshnessFields } from '../freshness.ts'
import { hostFault } from '../host.ts'

/** Headers of every response, even to a malformed request. */
export function plainFields(requestId: string): Fields {
  return ['x-request-id', requestId, 'referrer-policy', 'no-referrer', 'x-content-type-options', 'nosniff']
}

/** Headers of every response to a request, errors included. */
export function setPlainHeaders(
  { id }: FastifyRequest,
  reply: FastifyReply,
  deps: Pick<HttpKernel, 'feed' | 'nodeHead' | 'clock'>
): void {
  setFields(reply, plainFields(id))
  setFields(reply, freshnessFields(deps))
}

type Deps = Pick<
  HttpKernel,
  'storage' | 'logger' | 'metrics' | 'draining' | 'leaving' | 'feed' | 'nodeHead' | 'clock'
>

/** Sets common headers, refuses requests while draining, and records each request in the log and the metrics. */
export const requests = plugin(
  async (app, deps: Deps) => {
    const { storage, logger, metrics, draining, leaving = draining } = deps
    // Hooks with callbacks: promises would cost a cached answer a tenth of its time.
    app.addHook('onRequest', (request, reply, done) => {
      setPlainHeaders(request, reply, deps)
      if (draining() && !request.routeOptions.config.answersWhileDraining) {
        return done(
          new ServiceError(ERRORS.SERVICE_DRAINING, 'the service is draining; retry on a new connection')
        )
      }
      done(hostFault(request.raw))
    })
    app.addHook('onSend', (_request, reply, payload, done) => {
      // A balancer that reuses the connection would send its next request to a closed one.
      if (leaving()) void reply.header('connection', 'close')
      done(null, payload)
    })
    app.addHook('onResponse', (request, reply, done) => {
      const route = request.routeOptions.url ?? 'unknown'
      metrics.requestSeconds.observe(route, reply.statusCode, reply.elapsedTime / 1000)
      const { failure } = request
      // The store's watcher logs an outage once; refused requests do not log it again.
      const isOfStore =
        failure?.kind === ERRORS.STORAGE_UNAVAILABLE || failure?.kind === ERRORS.OUTCOME_UNKNOWN
      const isNew = isOfStore && storage.outage === null
      if (failure?.kind === ERRORS.SERVICE_FAILED || isNew)
        logger.error({ ...lineOf(request, reply), err: failure }, 'request failed')
      else if (logger.isLevelEnabled('debug')) logger.debug(lineOf(request, reply), 'request')
      done()
    })
  },
  { name: 'requests', dependencies: ['problems'] }
)

/** Log fields of a request. */
function lineOf(request: FastifyRequest, reply: FastifyReply) {
  return {
    request_id: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'unknown',
    path: withoutApiKeys(request.url.split('?', 1)[0]!),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 1000) / 1000,
    tenant: request.caller?.tenant,
    key_id: request.caller?.keyId,
    code: request.failure?.kind.name
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route answers while the service drains. */
    answersWhileDraining?: boolean
  }
}

import plugin from 'fastify-plugin'
import { withoutApiKeys } from '../../access/api-key.ts'
import { ServiceError } from '../../errors.ts'
import type { AppDeps } from '../app.ts'

/** What every response carries, errors included. */
export function responseHeaders(requestId: string) {
  return {
    'x-request-id': requestId,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff'
  }
}

/** Gives each request its id, refuses new ones while draining, and tells of each in one line and one sample. */
export const requests = plugin(
  async (app, { logger, metrics, draining }: Pick<AppDeps, 'logger' | 'metrics' | 'draining'>) => {
    app.addHook('onRequest', async (request, reply) => {
      void reply.headers(responseHeaders(request.id))
      if (draining() && !request.routeOptions.config.answersWhileDraining) {
        throw new ServiceError('SERVICE_DRAINING', 'the service is draining; come back')
      }
    })
    app.addHook('onSend', async (_request, reply) => {
      if (draining()) void reply.header('connection', 'close')
    })
    app.addHook('onResponse', async (request, reply) => {
      const route = request.routeOptions.url ?? 'unknown'
      metrics.requestSeconds.observe({ route, status: reply.statusCode }, reply.elapsedTime / 1000)
      const { failure } = request
      const line = {
        request_id: request.id,
        method: request.method,
        route,
        path: withoutApiKeys(request.url.split('?', 1)[0]!),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 1000) / 1000,
        tenant: request.caller?.tenant,
        key_id: request.caller?.keyId,
        code: failure?.code
      }
      if (failure?.code === 'SERVICE_FAILED' || failure?.code === 'STORAGE_UNAVAILABLE') {
        logger.error({ ...line, err: failure }, 'request failed')
      } else logger.debug(line, 'request')
    })
  },
  { name: 'requests', dependencies: ['problems'] }
)

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Health and the operator's views stay readable while the service drains. */
    answersWhileDraining?: boolean
  }
}

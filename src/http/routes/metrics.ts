import type { FastifyPluginAsync } from 'fastify'
import type { AppDeps } from '../app.ts'

/** Prometheus metrics: to loopback, or to an admin key. */
export const metricsRoutes: FastifyPluginAsync<Pick<AppDeps, 'metrics'>> = async (app, { metrics }) => {
  const config = { scope: 'loopback-or-admin', answersWhileDraining: true } as const
  app.get('/metrics', { config }, async (_request, reply) => {
    const text = await metrics.registry.metrics()
    return reply.type(metrics.registry.contentType).send(text)
  })
}

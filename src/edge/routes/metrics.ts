import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { EdgeNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'

export const metricsText = endpoint({
  path: '/metrics',
  tag: 'Service',
  summary: 'Metrics for Prometheus',
  scope: 'loopback-or-admin',
  answer: z.string().describe('The text format of Prometheus'),
  mediaType: 'text/plain',
  answersWhileDraining: true,
  examples: [{ name: 'every metric' }]
})

/** Serves Prometheus metrics, to loopback or with an admin key. */
export const metricsRoutes: FastifyPluginAsync<Pick<EdgeNeeds, 'metrics'>> = async (app, { metrics }) => {
  serve(app, metricsText, async ({ reply }) => {
    void reply.type(metrics.registry.contentType)
    return metrics.text()
  })
}

import type { FastifyPluginAsync } from 'fastify'
import { DECODING } from '../../ingest/bodies/decoding.ts'
import { TREE } from '../bodies/tree.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'

export const supervisionTree = endpoint({
  path: '/v1/admin/tree',
  tag: 'Administration',
  summary: 'The running processes',
  description: 'The tree of supervisors and processes. Each has its state, restarts, last fault and gauges.',
  scope: 'admin',
  answer: TREE,
  answersWhileDraining: true,
  examples: [{ name: 'the whole tree' }]
})

export const decodingReport = endpoint({
  path: '/v1/admin/decoding',
  tag: 'Administration',
  summary: 'Decoded events, and candidates that gave no event',
  description:
    'Counts by venue since the service started: events, and candidates that gave no event, by reason.',
  scope: 'admin',
  answer: DECODING,
  answersWhileDraining: true,
  examples: [{ name: 'every venue' }]
})

/** The operator's views of this process. */
export const adminRoutes: FastifyPluginAsync<Pick<AppDeps, 'tree' | 'decoding'>> = async (
  app,
  { tree, decoding }
) => {
  serve(app, supervisionTree, async () => tree())
  serve(app, decodingReport, async () => ({ venues: decoding.body() }))
}

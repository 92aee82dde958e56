import type { FastifyPluginAsync } from 'fastify'
import { DECODING } from '../../api/decoding.ts'
import { TREE } from '../../api/tree.ts'
import type { AppDeps } from '../deps.ts'
import { endpoint, serve } from '../endpoint.ts'

export const supervisionTree = endpoint({
  path: '/v1/admin/tree',
  tag: 'Administration',
  summary: 'The running processes',
  description: 'The tree of supervisors and processes, with their states, restarts, last faults and counts.',
  scope: 'admin',
  answer: TREE,
  answersWhileDraining: true,
  examples: [{ name: 'the whole tree' }]
})

export const decodingReport = endpoint({
  path: '/v1/admin/decoding',
  tag: 'Administration',
  summary: 'What was decoded, and what was not',
  description:
    'Counts since the service started, by venue: events, and candidates that gave none with the reason.',
  scope: 'admin',
  answer: DECODING,
  answersWhileDraining: true,
  examples: [{ name: 'every venue' }]
})

/** The operator's views. */
export const adminRoutes: FastifyPluginAsync<Pick<AppDeps, 'tree' | 'decoding'>> = async (
  app,
  { tree, decoding }
) => {
  serve(app, supervisionTree, async () => tree())
  serve(app, decodingReport, async () => ({ venues: decoding.body() }))
}

import type { FastifyPluginAsync } from 'fastify'
import { tipsAnswer } from '../bodies/bundle.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { tipsBody } from './bundle-bodies.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serve } from '../../kernel/http/serve.ts'

export const getTips = endpoint({
  path: '/v1/tx/tips',
  tag: 'Transactions',
  summary: 'Tip accounts and usual tips',
  description:
    'The accounts that a tip to the block engine may go to, and percentiles of recently landed tips. Use p50 in most cases, p75 or more if you compete for a place.',
  scope: 'tx:send',
  answer: tipsAnswer,
  errors: ['UPSTREAM_ERROR', 'NOT_CONFIGURED'],
  examples: [{ name: 'the tips now' }]
})

export const tipRoutes: FastifyPluginAsync<Pick<AppDeps, 'transactions'>> = async (app, { transactions }) => {
  if (transactions === null) return
  const { engine } = transactions
  serve(app, getTips, async ({ signal }) => {
    if (engine === null) throw new ServiceError('NOT_CONFIGURED', 'no block engine is configured')
    return tipsBody(await engine.tips(signal))
  })
}

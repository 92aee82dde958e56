import type { FastifyPluginAsync } from 'fastify'
import { tipsAnswer } from '../bodies/bundle.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { tipsBody } from './bundle-bodies.ts'
import type { TransactionNeeds } from './needs.ts'
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
  errors: [ERRORS.UPSTREAM_ERROR, ERRORS.NOT_CONFIGURED],
  examples: [{ name: 'the tips now' }]
})

export const tipRoutes: FastifyPluginAsync<Pick<TransactionNeeds, 'transactions'>> = async (
  app,
  { transactions }
) => {
  if (transactions === null) return
  const { engine } = transactions
  serve(app, getTips, async ({ signal }) => {
    if (engine === null) throw new ServiceError(ERRORS.NOT_CONFIGURED, 'no block engine is configured')
    return tipsBody(await engine.tips(signal))
  })
}

import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { listOf } from '../../api/schema.ts'
import { RANKED_WINDOW_NAMES, TRENDING_ITEM, trendingItem } from '../../api/trending.ts'
import { RANKS_MAX } from '../../market/ranking.ts'
import type { AppDeps } from '../deps.ts'
import { endpoint, serveCached } from '../endpoint.ts'
import { loadedRanking } from '../loaded-ranking.ts'
import { oneOf, wholeNumber } from '../parameters.ts'
import { ageLimit } from '../known-mint.ts'
import { Trends } from '../trends.ts'

export const trending = endpoint({
  path: '/v1/trending',
  tag: 'Market',
  summary: 'Tokens by volume',
  description:
    'Tokens ranked by volume in USD in a rolling window of whole minutes, which ends with the minute of the newest indexed block. A volume without a known price counts as 0; equal volumes rank by trades. The list has one page.',
  scope: 'data:read',
  query: z.object({
    window: oneOf(RANKED_WINDOW_NAMES).default('24h').describe('Length of the window'),
    limit: wholeNumber(1, RANKS_MAX, 20).describe('Maximum number of tokens')
  }),
  answer: listOf(TRENDING_ITEM),
  errors: ['INDEX_LOADING'],
  examples: [
    { name: 'the last day' },
    { name: 'the first three of the last hour', query: { window: '1h', limit: '3' } }
  ]
})

type Deps = Pick<AppDeps, 'storage' | 'feed' | 'ranking' | 'clock' | 'cash' | 'accounts'>

export const trendingRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { feed } = deps
  const trends = new Trends(deps)
  const unfollow = trends.follow()
  app.addHook('onClose', async () => unfollow())

  serveCached(app, trending, async ({ query: { window, limit }, tenant, signal }) => {
    const ranking = await loadedRanking(deps, signal)
    const { head } = feed
    const ranks =
      head === null
        ? []
        : await Promise.all(
            ranking.top(window, limit).map(async (ranked, index) => {
              const trend = await trends.of(ranked.mint, window, head)
              return { item: trendingItem(ranked, trend, index + 1, window), known: trend.known }
            })
          )
    const data = ranks.map(({ item }) => item)
    const limits = ageLimit(ranks.map(({ known }) => known))
    return { body: { tenant, data, nextCursor: null }, dependsOn: [], changesWith: 'block', ...limits }
  })
}

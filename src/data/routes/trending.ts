import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { listOf } from '../../kernel/http/schema.ts'
import { RANKED_WINDOW_NAMES, TRENDING_ITEM, trendingItem } from '../bodies/trending.ts'
import { VENUE_IDS } from '../../chain/venue-id.ts'
import { RANKS_MAX } from '../../market/ranking.ts'
import type { DataNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { flag, oneOf, wholeNumber } from '../../kernel/http/parameters.ts'
import { ageLimit } from './known-mint.ts'
import { amountUsd } from './trade-filters.ts'
import { TREND_SORTS, trendChoice } from './trend-choice.ts'
import { Trends } from './trends.ts'
import { ERRORS } from '../../kernel/errors.ts'

/** Maximum tokens of an answer (src/docs/endpoints.md). */
const LIMIT_MAX = 100

export const trending = endpoint({
  path: '/v1/trending',
  tag: 'Market',
  summary: 'Tokens by volume',
  description: `Tokens ranked by volume in USD in a rolling window. The window consists of whole minutes and ends with the minute of the \
newest indexed block. Trades without a known value in USD count as 0; equal volumes rank by trades. The list has one page. \`sort\`, \
\`order\` and the filters apply to the ${RANKS_MAX} tokens with the largest volume in the window.`,
  scope: 'data:read',
  query: z.object({
    window: oneOf(RANKED_WINDOW_NAMES).default('24h').describe('Length of the window'),
    limit: wholeNumber(1, LIMIT_MAX, 20).describe('Maximum number of tokens'),
    sort: oneOf(TREND_SORTS)
      .default('volume_usd')
      .describe('Field to sort by; tokens without a value come last, and equal values are sorted by volume'),
    order: oneOf(['desc', 'asc']).default('desc').describe('`desc`: largest first'),
    min_liquidity_usd: amountUsd
      .optional()
      .describe('Only tokens with at least this liquidity in USD; tokens of unknown liquidity are left out'),
    venue: oneOf(VENUE_IDS)
      .optional()
      .describe('Only tokens that traded on this venue in the window; their figures cover all venues'),
    exclude_cash: flag(false).describe('`true`: leave out wrapped SOL, USDC, USDT and other cash mints')
  }),
  answer: listOf(TRENDING_ITEM),
  errors: [ERRORS.INDEX_LOADING],
  examples: [
    { name: 'the last day' },
    { name: 'the first three of the last hour', query: { window: '1h', limit: '3' } },
    {
      name: 'the largest gains',
      query: { sort: 'price_change_pct', exclude_cash: 'true', limit: '10' }
    }
  ]
})

type Deps = Pick<
  DataNeeds,
  'storage' | 'archive' | 'feed' | 'ranking' | 'index' | 'clock' | 'cash' | 'accounts'
>

export const trendingRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { feed, cash, index } = deps
  const trends = new Trends(deps)
  const unfollow = trends.follow()
  // No block comes with another archive, so answers from before would stay.
  const silence = deps.ranking.onReplaced(() => app.responseCache.forget())
  app.addHook('onClose', async () => {
    unfollow()
    silence()
  })

  serveCached(app, trending, async ({ query, signal, slices }) => {
    const { window, limit } = query
    const ranking = await index.rankings(signal)
    const { head } = feed
    const choice = trendChoice(query, cash)
    const ranked = head === null ? [] : ranking.top(window, choice === null ? limit : RANKS_MAX)
    const candidates = await slices.mapReads(ranked, async (each) => {
      const trend = await trends.of(each.mint, window, head!)
      return { trend, item: trendingItem(each, trend, 0, window) }
    })
    const items = choice === null ? candidates.map(({ item }) => item) : choice(candidates)
    const data = items.slice(0, limit).map((item, index) => ({ ...item, rank: index + 1 }))
    const limits = ageLimit(candidates.flatMap(({ trend: { known, liquidity } }) => [known, liquidity]))
    const maxAgeMs = Math.min(limits.maxAgeMs ?? Infinity, index.maxAgeMs)
    const body = { data, nextCursor: null }
    return { body, dependsOn: [], changesWith: 'block', ...limits, ...(maxAgeMs < Infinity && { maxAgeMs }) }
  })
}

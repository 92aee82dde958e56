import type { FastifyPluginAsync } from 'fastify'
import { STATS, statsBody } from '../bodies/stats.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { loadedRanking } from './loaded-ranking.ts'
import { marketStats } from './market-stats.ts'

export const stats = endpoint({
  path: '/v1/stats',
  tag: 'Market',
  summary: 'The whole market',
  description:
    'Trades, volume, active tokens, traders and launches of all venues: in the last hour, in the last day, and since the index began. Windows consist of whole minutes and end with the minute of the newest indexed block.',
  scope: 'data:read',
  answer: STATS,
  errors: ['INDEX_LOADING'],
  examples: [{ name: 'the whole market' }]
})

type Deps = Pick<AppDeps, 'storage' | 'feed' | 'ranking' | 'venues' | 'clock' | 'sourceKind'>

export const statsRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { storage, feed, venues, sourceKind } = deps
  serveCached(app, stats, async ({ tenant, signal }) => {
    const ranking = await loadedRanking(deps, signal)
    const stats = await marketStats(storage, ranking, feed.head)
    const body = {
      ...statsBody(stats, venues, tenant),
      ...(sourceKind === 'localnet' && { localnet: true as const })
    }
    return { body, dependsOn: [], changesWith: 'block' }
  })
}

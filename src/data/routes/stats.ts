import type { FastifyPluginAsync } from 'fastify'
import { STATS, statsBody } from '../bodies/stats.ts'
import type { DataNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { marketReader } from './market-reader.ts'
import { marketStats } from './market-stats.ts'
import { ERRORS } from '../../kernel/errors.ts'

export const stats = endpoint({
  path: '/v1/stats',
  tag: 'Market',
  summary: 'The whole market',
  description:
    'Trades, volume, active tokens, traders and launches of all venues: in the last hour, in the last day, and since the index began. Windows consist of whole minutes and end with the minute of the newest indexed block. They continue into an imported archive if no block is missing between it and the live blocks; totals do not.',
  scope: 'data:read',
  answer: STATS,
  errors: [ERRORS.INDEX_LOADING],
  examples: [{ name: 'the whole market' }]
})

type Deps = Pick<DataNeeds, 'storage' | 'archive' | 'feed' | 'index' | 'venues' | 'clock' | 'sourceKind'>

export const statsRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { storage, feed, index, venues, sourceKind } = deps
  const marketOf = marketReader(deps)
  serveCached(app, stats, async ({ signal }) => {
    const ranking = await index.rankings(signal)
    const stats = await marketStats(storage, marketOf().windows, ranking, feed.head)
    const body = {
      ...statsBody(stats, venues),
      ...(sourceKind === 'localnet' && { localnet: true as const })
    }
    return {
      body,
      dependsOn: [],
      changesWith: 'block',
      ...(index.maxAgeMs < Infinity && { maxAgeMs: index.maxAgeMs })
    }
  })
}

import type { FastifyPluginAsync } from 'fastify'
import type { AppDeps } from '../app.ts'
import { freshnessSeconds } from '../plugins/freshness.ts'

/** Data older than this is degraded; exactly this old is not (spec choices, section 0, K). */
const FRESHNESS_SECONDS_MAX = 120

type Deps = Pick<AppDeps, 'feed' | 'clock' | 'version' | 'draining'>

export const healthRoutes: FastifyPluginAsync<Deps> = async (app, { feed, clock, version, draining }) => {
  app.get(
    '/v1/health',
    { config: { scope: 'open', answersWhileDraining: true } },
    async (_request, reply) => {
      const { head } = feed
      const seconds = freshnessSeconds(head, clock.now())
      const isFresh = seconds !== null && seconds <= FRESHNESS_SECONDS_MAX
      const status = draining() ? 'draining' : isFresh ? 'ok' : 'degraded'
      if (status !== 'ok') void reply.code(503).header('retry-after', '1')
      return {
        status,
        data_freshness_seconds: seconds,
        slot: head?.slot ?? null,
        block_time: head?.blockTime ?? null,
        version
      }
    }
  )
}

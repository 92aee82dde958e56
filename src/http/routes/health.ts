import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { count, text } from '../../bodies/schema.ts'
import type { AppDeps } from '../app.ts'
import { endpoint, serve } from '../endpoint.ts'
import { freshnessSeconds } from '../plugins/freshness.ts'

/** Data older than this is degraded; exactly this old is not (spec choices, section 0, K). */
const FRESHNESS_SECONDS_MAX = 120

export const health = endpoint({
  path: '/v1/health',
  tag: 'Service',
  summary: 'Is the data fresh?',
  description: `200 while the newest indexed block is at most ${FRESHNESS_SECONDS_MAX} seconds old, else 503 with the same body. Not counted against any quota.`,
  scope: 'open',
  answer: z
    .object({
      status: z
        .enum(['ok', 'degraded', 'draining'])
        .describe('`degraded`: the data is too old, or there is none; `draining`: the service is stopping'),
      data_freshness_seconds: count('Age of the newest indexed block, in seconds')
        .nullable()
        .describe('Age of the newest indexed block, in seconds; null while there is none'),
      slot: count('Its slot').nullable(),
      block_time: count('Its time, in unix seconds').nullable(),
      version: text('The version of the service')
    })
    .meta({ id: 'Health' }),
  otherStatuses: [503],
  answersWhileDraining: true,
  examples: [{ name: 'now' }]
})

type Status = z.input<typeof health.answer>['status']
type Deps = Pick<AppDeps, 'feed' | 'clock' | 'version' | 'draining'>

export const healthRoutes: FastifyPluginAsync<Deps> = async (app, { feed, clock, version, draining }) => {
  serve(app, health, async ({ reply }) => {
    const { head } = feed
    const seconds = freshnessSeconds(head, clock.now())
    const isFresh = seconds !== null && seconds <= FRESHNESS_SECONDS_MAX
    const status: Status = draining() ? 'draining' : isFresh ? 'ok' : 'degraded'
    if (status !== 'ok') void reply.code(503).header('retry-after', '1')
    return {
      status,
      data_freshness_seconds: seconds,
      slot: head?.slot ?? null,
      block_time: head?.blockTime ?? null,
      version
    }
  })
}

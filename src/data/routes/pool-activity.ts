import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { minuteBody, POOL_ACTIVITY, poolActivityBody } from '../bodies/pool-activity.ts'
import { ROWS_OF_ARCHIVE } from '../../ingest/bodies/source.ts'
import type { PoolActivity } from '../../archive/market-stores.ts'
import type { Pubkey } from '../../chain/pubkey.ts'
import type { ActivityMinute } from '../../market/activity-rows.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { EXAMPLE_POOL } from '../../edge/routes/example-values.ts'
import { marketReader } from './market-reader.ts'
import { address, wholeNumber } from '../../kernel/http/parameters.ts'

/** Hours of a pool that one read returns. */
const HOURS_PER_READ = 24

export const poolActivity = endpoint({
  path: '/v1/pools/{pool}/activity',
  tag: 'Pools',
  summary: 'Activity of a pool by the minute',
  description:
    'Event counts and volumes of a pool by minute, newest first. Minutes without an event are left out. ' +
    ROWS_OF_ARCHIVE +
    ' Empty for an unknown pool.',
  scope: 'data:read',
  params: z.object({ pool: address.describe('The pool') }),
  query: z.object({ limit: wholeNumber(1, 1440, 60).describe('Maximum number of minutes') }),
  answer: POOL_ACTIVITY,
  examples: [{ name: 'A pool of SOL', params: { pool: EXAMPLE_POOL }, query: { limit: '10' } }]
})

export const poolActivityRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage' | 'archive'>> = async (
  app,
  deps
) => {
  const marketOf = marketReader(deps)
  serveCached(app, poolActivity, async ({ params: { pool }, query: { limit }, slices }) => {
    const { pools, poolActivity, archiveEnd } = marketOf()
    const [row, minutes] = await Promise.all([pools.get(pool), newestMinutes(poolActivity, pool, limit)])
    const data = await slices.map(minutes, (minute) => minuteBody(minute, row, archiveEnd))
    return { body: { ...poolActivityBody(pool, row), data }, dependsOn: [pool], changesWith: 'tags' }
  })
}

/**
 * Reads the newest minutes of a pool, newest first. Every stored hour has at least one minute, so only few hours are
 * read.
 */
async function newestMinutes(activity: PoolActivity, pool: Pubkey, limit: number): Promise<ActivityMinute[]> {
  const minutes: ActivityMinute[] = []
  let to = Number.MAX_SAFE_INTEGER
  while (minutes.length < limit) {
    const hours = await activity.range(pool, { from: 0, to, limit: HOURS_PER_READ })
    for (const hour of hours.toReversed()) minutes.push(...hour.minutes.toReversed())
    const oldest = hours[0]
    if (oldest === undefined || hours.length < HOURS_PER_READ) break
    to = oldest.hour
  }
  return minutes.slice(0, limit)
}

import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { LAUNCH, LAUNCH_STATUSES, launchBody } from '../../api/launch.ts'
import { listOf } from '../../api/schema.ts'
import type { AppDeps } from '../deps.ts'
import { endpoint, serveCached } from '../endpoint.ts'
import { readPageCursor, writePageCursor } from '../page-cursor.ts'
import { checkPaging, oneOf, paging } from '../parameters.ts'

export const launches = endpoint({
  path: '/v1/launches',
  tag: 'Market',
  summary: 'Token launches',
  description:
    'Launches on all launchpads, newest first. `status` is the current status, so a launch can enter or leave a later page while you read the list.',
  scope: 'data:read',
  query: z.object({
    ...paging(500, 50),
    status: oneOf(LAUNCH_STATUSES).optional().describe('Only launches with this status')
  }),
  answer: listOf(LAUNCH).meta({ id: 'Launches' }),
  errors: ['CURSOR_INVALID'],
  examples: [
    { name: 'The newest', query: { limit: '5' } },
    { name: 'Those that trade', query: { status: 'trading' } }
  ]
})

export const launchRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage'>> = async (app, { storage }) => {
  serveCached(app, launches, async ({ query, tenant }) => {
    const { limit, offset, order, after, status } = query
    checkPaging(query)
    const list = `launches:${status ?? ''}:${order}`
    const rows = await storage.launches.page({
      ...(status === undefined ? {} : { status }),
      ...(after === undefined ? {} : { from: readPageCursor(list, after) }),
      order,
      offset,
      limit: limit + 1
    })
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    const nextCursor = rows.length > limit && last !== undefined ? writePageCursor(list, last.cursor) : null
    return {
      body: { tenant, data: page.map(launchBody), nextCursor },
      dependsOn: ['launches'],
      changesWith: 'tags'
    }
  })
}

import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { LAUNCH, LAUNCH_STATUSES, launchBody } from '../bodies/launch.ts'
import { listOf } from '../../kernel/http/schema.ts'
import { ROWS_OF_ARCHIVE } from '../../ingest/bodies/source.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { launchList } from './launch-list.ts'
import { marketReader } from './market-reader.ts'
import { checkPaging, oneOf, paging } from '../../kernel/http/parameters.ts'

export const launches = endpoint({
  path: '/v1/launches',
  tag: 'Market',
  summary: 'Token launches',
  description: `Launches on all launchpads, newest first. \`status\` is the current status, so a launch can enter or leave a later page while you read the list. ${ROWS_OF_ARCHIVE} A request with \`status\` checks a limited number of archived launches, so a page can be short, or empty, and still have a \`nextCursor\`.`,
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

export const launchRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage' | 'archive'>> = async (app, deps) => {
  const marketOf = marketReader(deps)
  serveCached(app, launches, async ({ query, tenant, slices }) => {
    checkPaging(query)
    const { launches, archiveEnd } = marketOf()
    const { rows, nextCursor, ...validity } = await launchList(launches, query)
    const data = await slices.map(rows, (row) => launchBody(row, archiveEnd))
    return { body: { tenant, data, nextCursor }, ...validity }
  })
}

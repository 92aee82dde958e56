import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { LAUNCH, LAUNCH_COLUMNS, LAUNCH_STATUSES, launchBody } from '../bodies/launch.ts'
import { listOf } from '../../kernel/http/schema.ts'
import { ROWS_OF_ARCHIVE } from '../../ingest/bodies/source.ts'
import type { DataNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { LateRows } from '../../kernel/http/list/late-rows.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { instant } from '../../kernel/http/instant.ts'
import { launchList } from './launch-list.ts'
import { checkRange } from './trade-filters.ts'
import { marketReader } from './market-reader.ts'
import { checkPaging, oneOf, rowPaging } from '../../kernel/http/parameters.ts'
import { ERRORS } from '../../kernel/errors.ts'

export const launches = endpoint({
  path: '/v1/launches',
  tag: 'Market',
  summary: 'Token launches',
  description: `Launches on all launchpads, newest first. \`status\` is the current status, so a launch can enter or leave a later page while you read the list. ${ROWS_OF_ARCHIVE} A request with \`status\` checks a limited number of archived launches, so a page can be short, or empty, and still have a \`nextCursor\`.`,
  scope: 'data:read',
  query: z.object({
    ...rowPaging(500, 50),
    status: oneOf(LAUNCH_STATUSES).optional().describe('Only launches with this status'),
    from: instant
      .optional()
      .describe('Only launches at or after this block time: unix seconds, or ISO 8601 (UTC without a zone)'),
    to: instant
      .optional()
      .describe('Only launches before this block time: unix seconds, or ISO 8601 (UTC without a zone)')
  }),
  answer: listOf(LAUNCH).meta({ id: 'Launches' }),
  columns: LAUNCH_COLUMNS,
  errors: [ERRORS.CURSOR_INVALID],
  examples: [
    { name: 'The newest', query: { limit: '5' } },
    { name: 'Those that trade', query: { status: 'trading' } }
  ]
})

export const launchRoutes: FastifyPluginAsync<Pick<DataNeeds, 'storage' | 'archive'>> = async (app, deps) => {
  const marketOf = marketReader(deps)
  serveCached(app, launches, async ({ query, slices }) => {
    checkPaging(query)
    checkRange(query)
    const { launches, blocks, archiveEnd } = marketOf()
    const { rows, nextCursor, ...validity } = await launchList({ launches, blocks, slices }, query)
    const data = LateRows.of(rows, (row) => launchBody(row, archiveEnd))
    return { body: { data, nextCursor }, ...validity }
  })
}

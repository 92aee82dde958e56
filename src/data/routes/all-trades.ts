import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { listOf } from '../../kernel/http/schema.ts'
import { ROWS_OF_ARCHIVE } from '../../ingest/bodies/source.ts'
import { TRADE } from '../bodies/trade-schema.ts'
import { TRADE_COLUMNS } from '../bodies/trade-columns.ts'
import { tradeRenderer } from '../bodies/trade-fields.ts'
import type { DataNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { instant } from '../../kernel/http/instant.ts'
import { LateRows } from '../../kernel/http/list/late-rows.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { marketReader } from './market-reader.ts'
import { wholeNumber } from '../../kernel/http/parameters.ts'
import { checkRange, TRADE_FILTERS } from './trade-filters.ts'
import { tradesByToken } from './trades-by-token.ts'
import { ERRORS } from '../../kernel/errors.ts'

export const allTrades = endpoint({
  path: '/v1/trades',
  tag: 'Market',
  summary: 'Trades of all tokens',
  description: `The trades of all tokens in a range of times, token by token, and those of a token oldest first. The order of \
tokens is that of the store, and never changes. A trade without a cash side is listed once, under the mint paid in. It is a list \
to export: no index lists all trades by time. A request reads at most 10,000 rows and tokens, for at most one second. So a page \
can be short, or empty, and still have a \`nextCursor\`. ${ROWS_OF_ARCHIVE} A block that is committed while you read the list can \
be missing if \`to\` is in the future.`,
  scope: 'data:read',
  query: z.object({
    limit: wholeNumber(1, 1000, 100).describe('Maximum number of rows'),
    after: z
      .string()
      .optional()
      .describe(
        'The `nextCursor` of the previous page, with the same parameters; or `mint:cursor` of a row, after which the page begins'
      ),
    ...TRADE_FILTERS,
    from: instant.describe(
      'Trades at or after this block time: unix seconds, or ISO 8601 (UTC without a zone)'
    ),
    to: instant.describe('Trades before this block time: unix seconds, or ISO 8601 (UTC without a zone)')
  }),
  answer: listOf(TRADE),
  columns: TRADE_COLUMNS,
  errors: [ERRORS.CURSOR_INVALID],
  examples: [
    { name: 'All since a day', query: { from: '2026-01-01', to: '2100-01-01', limit: '10' } },
    {
      name: 'On one venue',
      query: { from: '2026-01-01', to: '2100-01-01', venue: 'pumpfun', limit: '10' }
    }
  ]
})

export const allTradeRoutes: FastifyPluginAsync<
  Pick<DataNeeds, 'storage' | 'archive' | 'cash' | 'clock'>
> = async (app, deps) => {
  const { cash, clock } = deps
  const marketOf = marketReader(deps)
  serveCached(app, allTrades, async ({ query, fields, slices }) => {
    checkRange(query)
    const { archiveEnd, ...market } = marketOf()
    const { rows, nextCursor } = await tradesByToken(market, query, { clock, slices })
    const { render, isSelected } = tradeRenderer(fields, cash, archiveEnd)
    const data = LateRows.of(rows, render)
    return { body: { data, nextCursor }, dependsOn: [], changesWith: 'block', isSelected }
  })
}

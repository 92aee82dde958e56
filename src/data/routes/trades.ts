import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { listOf } from '../../kernel/http/schema.ts'
import { ROWS_OF_ARCHIVE } from '../../ingest/bodies/source.ts'
import { TRADE } from '../bodies/trade-schema.ts'
import { TRADE_COLUMNS } from '../bodies/trade-columns.ts'
import { tradeRenderer } from '../bodies/trade-fields.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { WSOL } from '../../market/cash.ts'
import type { DataNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { LateRows } from '../../kernel/http/list/late-rows.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { marketReader } from './market-reader.ts'
import { address } from '../../kernel/http/parameters.ts'
import { TRADE_LIST_QUERY, TRADE_LIST_RULES, tradePage } from './trade-list.ts'
import { ERRORS } from '../../kernel/errors.ts'

export const tokenTrades = endpoint({
  path: '/v1/tokens/{mint}/trades',
  tag: 'Tokens',
  summary: 'Trades of a token',
  description: `The trades of a token on all venues, newest first. ${TRADE_LIST_RULES} ${ROWS_OF_ARCHIVE} Empty for an unknown token.`,
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  query: z.object(TRADE_LIST_QUERY),
  answer: listOf(TRADE).meta({ id: 'Trades' }),
  columns: TRADE_COLUMNS,
  errors: [ERRORS.CURSOR_INVALID],
  examples: [
    { name: 'The newest of wrapped SOL', params: { mint: WSOL }, query: { limit: '10' } },
    { name: 'Large buys', params: { mint: WSOL }, query: { side: 'buy', min_usd: '100', limit: '10' } }
  ]
})

export const tradeRoutes: FastifyPluginAsync<
  Pick<DataNeeds, 'storage' | 'archive' | 'cash' | 'clock'>
> = async (app, deps) => {
  const { cash, clock } = deps
  const marketOf = marketReader(deps)
  serveCached(app, tokenTrades, async ({ params: { mint }, query, fields, slices }) => {
    const { trades, blocks, archiveEnd } = marketOf()
    const list = `trades:${pubkeyToBase58(mint)}`
    const { render, isSelected, unused } = tradeRenderer(fields, cash, archiveEnd)
    const { rows, nextCursor } = await tradePage({ blocks, clock, slices }, list, query, (page) =>
      trades.ofMint(mint, { ...page, unused })
    )
    const data = LateRows.of(rows, render)
    return { body: { data, nextCursor }, dependsOn: [mint], changesWith: 'tags', isSelected }
  })
}

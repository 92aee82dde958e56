import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { listOf } from '../../api/schema.ts'
import { TRADE } from '../../api/trade-schema.ts'
import { tradeBody } from '../../api/trade.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import { WSOL } from '../../market/cash.ts'
import type { AppDeps } from '../deps.ts'
import { endpoint, serveCached } from '../endpoint.ts'
import { address } from '../parameters.ts'
import { TRADE_LIST_QUERY, TRADE_LIST_RULES, tradePage } from '../trade-list.ts'

export const tokenTrades = endpoint({
  path: '/v1/tokens/{mint}/trades',
  tag: 'Tokens',
  summary: 'Trades of a token',
  description: `The trades of a token on all venues, newest first. ${TRADE_LIST_RULES} Empty for an unknown token.`,
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  query: z.object(TRADE_LIST_QUERY),
  answer: listOf(TRADE).meta({ id: 'Trades' }),
  errors: ['CURSOR_INVALID'],
  examples: [
    { name: 'The newest of wrapped SOL', params: { mint: WSOL }, query: { limit: '10' } },
    { name: 'Large buys', params: { mint: WSOL }, query: { side: 'buy', min_usd: '100', limit: '10' } }
  ]
})

export const tradeRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage' | 'cash' | 'clock'>> = async (
  app,
  deps
) => {
  serveCached(app, tokenTrades, async ({ params: { mint }, query, tenant }) => {
    const { rows, nextCursor } = await tradePage(deps, `trades:${pubkeyToBase58(mint)}`, query, (page) =>
      deps.storage.trades.ofMint(mint, page)
    )
    const data = rows.map((row) => tradeBody(row, deps.cash))
    return { body: { tenant, data, nextCursor }, dependsOn: [mint], changesWith: 'tags' }
  })
}

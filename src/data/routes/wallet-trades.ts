import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { listOf } from '../../kernel/http/schema.ts'
import { ROWS_OF_ARCHIVE } from '../../ingest/bodies/source.ts'
import { WALLET_TRADE } from '../bodies/trade-schema.ts'
import { WALLET_TRADE_COLUMNS } from '../bodies/trade-columns.ts'
import { walletTradeRenderer } from '../bodies/trade-fields.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import type { DataNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { LateRows } from '../../kernel/http/list/late-rows.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { EXAMPLE_WALLET } from '../../edge/routes/example-values.ts'
import { marketReader } from './market-reader.ts'
import { address } from '../../kernel/http/parameters.ts'
import { TRADE_LIST_QUERY, TRADE_LIST_RULES, tradePage } from './trade-list.ts'
import { ERRORS } from '../../kernel/errors.ts'

export const walletTrades = endpoint({
  path: '/v1/wallets/{wallet}/trades',
  tag: 'Wallets',
  summary: 'Trades of a wallet',
  description: `The trades of a wallet on all venues, newest first. A trade without a cash side is listed once, under the mint paid in. ${TRADE_LIST_RULES} ${ROWS_OF_ARCHIVE} Empty for an unknown wallet.`,
  scope: 'data:read',
  params: z.object({ wallet: address.describe('The wallet') }),
  query: z.object(TRADE_LIST_QUERY),
  answer: listOf(WALLET_TRADE).meta({ id: 'WalletTrades' }),
  columns: WALLET_TRADE_COLUMNS,
  errors: [ERRORS.CURSOR_INVALID],
  examples: [{ name: 'A wallet', params: { wallet: EXAMPLE_WALLET }, query: { limit: '10' } }]
})

export const walletTradeRoutes: FastifyPluginAsync<
  Pick<DataNeeds, 'storage' | 'archive' | 'cash' | 'clock'>
> = async (app, deps) => {
  const { cash, clock } = deps
  const marketOf = marketReader(deps)
  serveCached(app, walletTrades, async ({ params: { wallet }, query, fields, slices }) => {
    const { trades, blocks, archiveEnd } = marketOf()
    const list = `wallet-trades:${pubkeyToBase58(wallet)}`
    const { render, isSelected, unused } = walletTradeRenderer(fields, cash, archiveEnd)
    const { rows, nextCursor } = await tradePage({ blocks, clock, slices }, list, query, (page) =>
      trades.ofWallet(wallet, { ...page, unused })
    )
    const data = LateRows.of(rows, render)
    return { body: { data, nextCursor }, dependsOn: [wallet], changesWith: 'tags', isSelected }
  })
}

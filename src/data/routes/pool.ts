import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { CANDLE_COLUMNS, POOL_CANDLES } from '../bodies/candle.ts'
import { POOL } from '../bodies/pool.ts'
import { listOf } from '../../kernel/http/schema.ts'
import { ROWS_OF_ARCHIVE } from '../../ingest/bodies/source.ts'
import { TRADE } from '../bodies/trade-schema.ts'
import { TRADE_COLUMNS } from '../bodies/trade-columns.ts'
import { tradeRenderer } from '../bodies/trade-fields.ts'
import { pubkeyToBase58, samePubkey } from '../../chain/pubkey.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { DATA_ERRORS } from '../errors.ts'
import { cursorAt, endOfEvents, splitCursor } from '../../market/cursor.ts'
import type { PoolRow } from '../../market/registry-rows.ts'
import type { DataNeeds } from './needs.ts'
import { CANDLE_LIST_QUERY, openCandles, ROW_CANDLE_RULES, SECOND_CANDLE_RULES } from './candle-list.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { LateRows } from '../../kernel/http/list/late-rows.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { EXAMPLE_POOL } from '../../edge/routes/example-values.ts'
import { marketReader } from './market-reader.ts'
import { address } from '../../kernel/http/parameters.ts'
import { TRADE_LIST_QUERY, TRADE_LIST_RULES, tradePage, type Among } from './trade-list.ts'
import { poolBodies } from './token-pools.ts'

export const pool = endpoint({
  path: '/v1/pools/{pool}',
  tag: 'Pools',
  summary: 'A pool',
  description:
    'A pool, curve or market, with the fields of `/v1/tokens/{mint}/pools`. A pool that only an imported archive knows has `live: false`.',
  scope: 'data:read',
  params: z.object({ pool: address.describe('The pool') }),
  answer: POOL,
  errors: [DATA_ERRORS.POOL_NOT_FOUND],
  examples: [{ name: 'A pool of SOL', params: { pool: EXAMPLE_POOL } }]
})

export const poolTrades = endpoint({
  path: '/v1/pools/{pool}/trades',
  tag: 'Pools',
  summary: 'Trades of a pool',
  description: `The trades of a pool's token (\`base_mint\`) in this pool, newest first. The request reads the trades of the token \
and filters them by pool. ${TRADE_LIST_RULES} ${ROWS_OF_ARCHIVE} Empty for an unknown pool.`,
  scope: 'data:read',
  params: z.object({ pool: address.describe('The pool') }),
  query: z.object(TRADE_LIST_QUERY),
  answer: listOf(TRADE),
  columns: TRADE_COLUMNS,
  errors: [ERRORS.CURSOR_INVALID],
  examples: [{ name: 'The newest of a pool of SOL', params: { pool: EXAMPLE_POOL }, query: { limit: '10' } }]
})

export const poolCandles = endpoint({
  path: '/v1/pools/{pool}/candles',
  tag: 'Pools',
  summary: 'Candles of a pool',
  description: `The candles of one pool, oldest first, with the options of \`/v1/tokens/{mint}/candles\`. \`nextCursor\` leads to \
older ones. They are computed from the trades that \`/v1/pools/{pool}/trades\` lists. ${ROW_CANDLE_RULES} ${SECOND_CANDLE_RULES} ${ROWS_OF_ARCHIVE} \
Empty for an unknown pool, and for a pool of two tokens.`,
  scope: 'data:read',
  params: z.object({ pool: address.describe('The pool') }),
  query: z.object(CANDLE_LIST_QUERY),
  answer: POOL_CANDLES,
  columns: CANDLE_COLUMNS,
  errors: [ERRORS.CURSOR_INVALID],
  examples: [
    { name: 'A pool of SOL by the minute', params: { pool: EXAMPLE_POOL }, query: { limit: '30' } },
    { name: 'By the second', params: { pool: EXAMPLE_POOL }, query: { interval: '1s', limit: '30' } }
  ]
})

type Deps = Pick<DataNeeds, 'storage' | 'archive' | 'cash' | 'accounts' | 'clock'>

export const poolRoutes: FastifyPluginAsync<Deps> = async (app, { archive, ...own }) => {
  const { cash, clock } = own
  const marketOf = marketReader({ ...own, archive })
  serveCached(app, pool, async ({ params, head }) => {
    const deps = { ...own, market: marketOf() }
    const row = await deps.market.pools.get(params.pool)
    if (row === null) throw new ServiceError(DATA_ERRORS.POOL_NOT_FOUND, 'no event of this pool is known')
    const curve = await deps.market.curves.get(row.base)
    const { bodies, unnamed, limits } = await poolBodies([row], curve, head, deps)
    const dependsOn = [row.pool, row.base, ...unnamed]
    return { body: bodies[0]!, dependsOn, changesWith: 'minute', ...limits }
  })

  serveCached(app, poolTrades, async ({ params, query, fields, slices }) => {
    const { pools, trades, blocks, archiveEnd } = marketOf()
    const row = await pools.get(params.pool)
    const { render, isSelected, unused } = tradeRenderer(fields, cash, archiveEnd)
    const { rows, nextCursor } = await tradePage(
      { blocks, clock, slices },
      `pool-trades:${pubkeyToBase58(params.pool)}`,
      query,
      async (page) => (row === null ? [] : trades.ofMint(row.base, { ...page, unused })),
      row === null ? undefined : tradesAmong(row)
    )
    const data = LateRows.of(rows, render)
    return { body: { data, nextCursor }, dependsOn: [params.pool], changesWith: 'tags', isSelected }
  })

  serveCached(app, poolCandles, async ({ params, query, head: newest, slices, isExport }) => {
    const market = marketOf()
    const address = pubkeyToBase58(params.pool)
    const list = openCandles(['pool-candles', address], query, market, newest, isExport)
    const row = await market.pools.get(params.pool)
    const cash = row === null || row.quoteListed ? null : row.quote
    const pair = row === null || cash === null ? null : await market.pairs.get({ mint: row.base, cash })
    const of = {
      pool: address,
      mint: row === null ? null : pubkeyToBase58(row.base),
      cash_mint: cash === null ? null : pubkeyToBase58(cash)
    }
    const series = row === null || pair === null ? null : { pair, among: tradesAmong(row) }
    const { data, nextCursor, changesWith } = await list.page(series, slices)
    return { body: { ...of, data, nextCursor }, dependsOn: [params.pool], changesWith }
  })
}

/** Returns the range of a pool's trades within those of its token. */
function tradesAmong({ pool, firstCursor, lastTrade }: PoolRow): Among {
  return {
    matches: (row) => samePubkey(row.pool, pool),
    low: cursorAt(splitCursor(firstCursor).slot, 0),
    high: lastTrade === null ? -1 : endOfEvents(lastTrade.slot)
  }
}

import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { POOL } from '../../api/pool.ts'
import { listOf } from '../../api/schema.ts'
import { TRADE } from '../../api/trade-schema.ts'
import { tradeBody } from '../../api/trade.ts'
import { pubkeyToBase58, samePubkey } from '../../chain/pubkey.ts'
import { ServiceError } from '../../errors.ts'
import { cursorAt, endOfEvents, splitCursor } from '../../market/cursor.ts'
import type { PoolRow } from '../../market/registry-rows.ts'
import type { AppDeps } from '../deps.ts'
import { endpoint, serveCached } from '../endpoint.ts'
import { EXAMPLE_POOL } from '../example-values.ts'
import { address } from '../parameters.ts'
import { TRADE_LIST_QUERY, TRADE_LIST_RULES, tradePage, type Among } from '../trade-list.ts'
import { poolBodies } from './token-pools.ts'

export const pool = endpoint({
  path: '/v1/pools/{pool}',
  tag: 'Pools',
  summary: 'A pool',
  description: 'A pool, curve or market, as `/v1/tokens/{mint}/pools` lists it under its token.',
  scope: 'data:read',
  params: z.object({ pool: address.describe('The pool') }),
  answer: POOL,
  errors: ['POOL_NOT_FOUND'],
  examples: [{ name: 'A pool of SOL', params: { pool: EXAMPLE_POOL } }]
})

export const poolTrades = endpoint({
  path: '/v1/pools/{pool}/trades',
  tag: 'Pools',
  summary: 'Trades of a pool',
  description: `The trades of a pool, newest first: those of its token (\`base_mint\`) that were made there. They are found among \
all trades of the token, as with a filter. ${TRADE_LIST_RULES} Empty for an unknown pool.`,
  scope: 'data:read',
  params: z.object({ pool: address.describe('The pool') }),
  query: z.object(TRADE_LIST_QUERY),
  answer: listOf(TRADE),
  errors: ['CURSOR_INVALID'],
  examples: [{ name: 'The newest of a pool of SOL', params: { pool: EXAMPLE_POOL }, query: { limit: '10' } }]
})

export const poolRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage' | 'cash' | 'clock'>> = async (
  app,
  deps
) => {
  const { storage, cash } = deps
  serveCached(app, pool, async ({ params, head }) => {
    const row = await storage.pools.get(params.pool)
    if (row === null) throw new ServiceError('POOL_NOT_FOUND', 'no event of this pool is known')
    const { bodies, unnamed } = await poolBodies([row], await storage.curves.get(row.base), head, deps)
    return { body: bodies[0]!, dependsOn: [row.pool, row.base, ...unnamed], changesWith: 'minute' }
  })

  serveCached(app, poolTrades, async ({ params, query, tenant }) => {
    const row = await storage.pools.get(params.pool)
    const { rows, nextCursor } = await tradePage(
      deps,
      `pool-trades:${pubkeyToBase58(params.pool)}`,
      query,
      async (page) => (row === null ? [] : storage.trades.ofMint(row.base, page)),
      row === null ? undefined : tradesAmong(row)
    )
    const data = rows.map((trade) => tradeBody(trade, cash))
    return { body: { tenant, data, nextCursor }, dependsOn: [params.pool], changesWith: 'tags' }
  })
}

/** Returns where the trades of a pool are among those of its token. */
function tradesAmong({ pool, firstCursor, lastTrade }: PoolRow): Among {
  return {
    matches: (row) => samePubkey(row.pool, pool),
    low: cursorAt(splitCursor(firstCursor).slot, 0),
    high: lastTrade === null ? -1 : endOfEvents(lastTrade.slot)
  }
}

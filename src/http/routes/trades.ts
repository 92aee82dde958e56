import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { tradeBody } from '../../bodies/trade.ts'
import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import type { AppDeps } from '../app.ts'
import { readPageCursor, writePageCursor } from '../page-cursor.ts'
import { address, checkPaging, paging, read } from '../parameters.ts'

const params = z.object({ mint: address })
const query = z.object(paging(1000, 100))

type Deps = Pick<AppDeps, 'storage' | 'cash'>

export const tradeRoutes: FastifyPluginAsync<Deps> = async (app, { storage, cash }) => {
  app.get('/v1/tokens/:mint/trades', { config: { scope: 'data:read' } }, async (request) => {
    const { mint } = read(params, request.params)
    const { limit, offset, order, after } = read(query, request.query)
    checkPaging({ limit, offset, after })
    const list = `trades:${pubkeyToBase58(mint)}:${order}`
    const rows = await storage.trades.ofMint(mint, {
      ...(after === undefined ? {} : { from: readPageCursor(list, after) }),
      order,
      limit: offset + limit + 1
    })
    const page = rows.slice(offset, offset + limit)
    const last = page.at(-1)
    const more = rows.length > offset + limit
    return {
      tenant: request.caller!.tenant,
      data: page.map((row) => tradeBody(row, cash)),
      nextCursor: more && last !== undefined ? writePageCursor(list, last.cursor) : null
    }
  })
}

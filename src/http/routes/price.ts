import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { priceBody } from '../../bodies/price.ts'
import { windowParts, windowStats, type WindowStats } from '../../market/windows.ts'
import type { Candle, PairRow } from '../../market/rows.ts'
import { ServiceError } from '../../errors.ts'
import type { AppDeps } from '../app.ts'
import { address, read } from '../parameters.ts'

const params = z.object({ mint: address })
const DAY = 86_400

type Deps = Pick<AppDeps, 'storage' | 'cash'>

export const priceRoutes: FastifyPluginAsync<Deps> = async (app, { storage, cash }) => {
  app.get('/v1/tokens/:mint/price', { config: { scope: 'data:read' } }, async (request) => {
    const { mint } = read(params, request.params)
    const [pairs, head] = await Promise.all([storage.pairs.ofMint(mint), storage.blocks.head()])
    const priced = pairs.filter((pair) => pair.last !== null)
    const newest = priced.sort((a, b) => b.last!.cursor - a.last!.cursor)[0]
    if (newest === undefined || head === null) {
      throw new ServiceError('TOKEN_NOT_FOUND', 'no trade that forms a price of this token is known')
    }
    const stats = new Map<PairRow, WindowStats>()
    for (const pair of pairs) stats.set(pair, await dayStats(storage, pair, head.blockTime))
    return priceBody(newest, stats, head.blockTime, cash)
  })
}

/** The 24 hours that end at the indexed head, of one pair. */
async function dayStats(storage: AppDeps['storage'], pair: PairRow, headTime: number): Promise<WindowStats> {
  const parts = windowParts(headTime, DAY)
  const candles: Candle[] = []
  for (const { interval, from, to } of parts) {
    candles.push(...(await storage.candles.range(pair.mint, pair.cash, interval, { from, to, limit: 1000 })))
  }
  const before = await storage.candles.range(pair.mint, pair.cash, '1m', {
    from: 0,
    to: parts[0]!.from,
    limit: 1
  })
  return windowStats(candles, before)
}

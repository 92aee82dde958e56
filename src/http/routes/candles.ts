import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { candleBody, candlePrices } from '../../bodies/candle.ts'
import { intervalSeconds } from '../../market/candles.ts'
import { WSOL } from '../../market/cash.ts'
import { INTERVALS } from '../../market/rows.ts'
import type { AppDeps } from '../app.ts'
import { address, oneOf, read, wholeNumber } from '../parameters.ts'

const params = z.object({ mint: address })
const query = z.object({
  interval: oneOf(INTERVALS).default('1m'),
  cash: address.prefault(WSOL),
  currency: oneOf(['native', 'usd']).default('native'),
  limit: wholeNumber(1, 1000, 300)
})

/** Buckets without a price carry no candle; past so many reads in a row of nothing but those, the answer is what was found. */
const READS_MAX = 8

export const candleRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage'>> = async (app, { storage }) => {
  app.get('/v1/tokens/:mint/candles', { config: { scope: 'data:read' } }, async (request) => {
    const { mint } = read(params, request.params)
    const { interval, cash, currency, limit } = read(query, request.query)
    const pair = await storage.pairs.get(mint, cash)
    const head = await storage.blocks.head()
    if (pair === null || head === null) return { data: [] }
    const { decimals, cashDecimals } = pair
    const seconds = intervalSeconds(interval)
    const view = { currency, decimals, cashDecimals, intervalSeconds: seconds, headTime: head.blockTime }
    const newestFirst: ReturnType<typeof candleBody>[] = []
    let to = Number.MAX_SAFE_INTEGER
    for (let reads = 0; reads < READS_MAX && newestFirst.length < limit; reads++) {
      const candles = await storage.candles.range(mint, cash, interval, { from: 0, to, limit })
      for (const candle of candles.toReversed()) {
        const prices = candlePrices(candle, currency)
        if (prices !== null && newestFirst.length < limit) newestFirst.push(candleBody(candle, prices, view))
      }
      if (candles.length < limit) break
      to = candles[0]!.ts
    }
    return { data: newestFirst.toReversed() }
  })
}

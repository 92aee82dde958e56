import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { candleBody, candlePrices } from '../../bodies/candle.ts'
import { intervalSeconds } from '../../market/candles.ts'
import { WSOL } from '../../market/cash.ts'
import { INTERVALS } from '../../market/rows.ts'
import type { AppDeps } from '../app.ts'
import { address, invalid, oneOf, read, wholeNumber } from '../parameters.ts'

const params = z.object({ mint: address })
const query = z.object({
  interval: oneOf(INTERVALS).default('1m'),
  cash: address.prefault(WSOL),
  currency: oneOf(['native', 'usd']).default('native'),
  limit: wholeNumber(1, 1000, 300)
})

/** Buckets without a price carry no candle, so older ones are read until there are enough, at most so many times. */
const READS_MAX = 8
/** Buckets of each read after the first. */
const BUCKETS_PER_READ = 1000

type Deps = Pick<AppDeps, 'storage' | 'cash'>

export const candleRoutes: FastifyPluginAsync<Deps> = async (app, { storage, cash: cashes }) => {
  app.get('/v1/tokens/:mint/candles', { config: { scope: 'data:read' } }, async (request) => {
    const { mint } = read(params, request.params)
    const { interval, cash, currency, limit } = read(query, request.query)
    if (cashes.of(cash) === undefined) {
      throw invalid('cash', 'must be the mint of wrapped SOL, USDC, USDT or one that the operator has added')
    }
    const pair = await storage.pairs.get(mint, cash)
    const head = await storage.blocks.head()
    if (pair === null || head === null) return { data: [] }
    const { decimals, cashDecimals } = pair
    const seconds = intervalSeconds(interval)
    const view = { currency, decimals, cashDecimals, intervalSeconds: seconds, headTime: head.blockTime }
    const newestFirst: ReturnType<typeof candleBody>[] = []
    let to = Number.MAX_SAFE_INTEGER
    for (let reads = 0; reads < READS_MAX && newestFirst.length < limit; reads++) {
      const asked = reads === 0 ? limit : BUCKETS_PER_READ
      const candles = await storage.candles.range(mint, cash, interval, { from: 0, to, limit: asked })
      for (const candle of candles.toReversed()) {
        const prices = candlePrices(candle, currency)
        if (prices !== null && newestFirst.length < limit) newestFirst.push(candleBody(candle, prices, view))
      }
      if (candles.length < asked) break
      to = candles[0]!.ts
    }
    return { data: newestFirst.toReversed() }
  })
}

import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { PRICE, priceBody, untradedPriceBody } from '../../api/price.ts'
import { ServiceError } from '../../errors.ts'
import { isWrappedSol, WSOL } from '../../market/cash.ts'
import { newestUsd, type PricedPair } from '../../market/latest-price.ts'
import { windowHours, windowOf, windowParts, type ActivityWindow } from '../../market/windows.ts'
import type { Storage } from '../../../storage/port.ts'
import type { AppDeps } from '../deps.ts'
import { endpoint, serveCached } from '../endpoint.ts'
import { ageLimit, knownFacts } from '../known-mint.ts'
import { address } from '../parameters.ts'
import { readPricedToken } from '../valued-token.ts'

const DAY = 86_400
/**
 * More candles than a day has in any of the intervals that windows are read from: 24 hours, and minutes at both ends.
 */
const CANDLES_OF_DAY = 120

export const tokenPrice = endpoint({
  path: '/v1/tokens/{mint}/price',
  tag: 'Tokens',
  summary: 'Latest price of a token',
  description:
    'The price of the newest price-forming trade of any pair, in its cash and in USD, with the change and volume of the 24 hours that end with the minute of the indexed head. Wrapped SOL, USDC and USDT have an answer even without a trade.',
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  answer: PRICE,
  errors: ['TOKEN_NOT_FOUND'],
  examples: [{ name: 'The price of SOL in dollars', params: { mint: WSOL } }]
})

export const priceRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage' | 'cash' | 'accounts'>> = async (
  app,
  { storage, cash, accounts }
) => {
  serveCached(app, tokenPrice, async ({ params: { mint }, head }) => {
    const now = head?.blockTime ?? 0
    const known = knownFacts(accounts, mint)
    const [{ pair, value }, hours] = await Promise.all([
      readPricedToken(storage, mint, known),
      storage.activity.range('mint', mint, windowHours(now, DAY))
    ])
    if (pair === null || head === null) {
      const listed = cash.of(mint)
      if (listed !== undefined) {
        const body = untradedPriceBody(listed, windowOf(hours, now, DAY), value)
        return { body, dependsOn: [mint], changesWith: 'minute', ...ageLimit([known]) }
      }
      throw new ServiceError('TOKEN_NOT_FOUND', 'no trade that forms a price of this token is known')
    }
    const day = windowOf(hours, now, DAY, newestUsd(pair))
    const dayCash = await cashOf(storage, pair, day, now)
    return {
      body: (headTime) => priceBody(pair, day, dayCash, value, cash, headTime),
      dependsOn: [mint],
      changesWith: 'minute',
      ...ageLimit([known])
    }
  })
}

/**
 * Returns a pair's volume of the last day in base units of its cash. A mint's activity counts it for wrapped SOL
 * only.
 */
async function cashOf(
  storage: Storage,
  { mint, cash }: PricedPair,
  day: ActivityWindow,
  now: number
): Promise<bigint> {
  if (isWrappedSol(cash)) return day.volumeCash
  let sum = 0n
  for (const { interval, from, to } of windowParts(now, DAY)) {
    const candles = await storage.candles.range(mint, cash, interval, { from, to, limit: CANDLES_OF_DAY })
    for (const candle of candles) sum += candle.volumeCash
  }
  return sum
}

import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { PRICE, PRICES, priceBody, untradedPriceBody } from '../bodies/price.ts'
import type { MarketStores } from '../../archive/market-stores.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { DATA_ERRORS } from '../errors.ts'
import { isWrappedSol, USDC, WSOL } from '../../market/cash.ts'
import { newestUsd, type PricedPair } from '../../market/latest-price.ts'
import type { SlotRow } from '../../market/rows.ts'
import { changeOf, windowParts, type MintWindow } from '../../market/windows.ts'
import type { WindowStores } from '../../archive/window-stores.ts'
import { addressList } from '../../kernel/http/address-list.ts'
import type { DataNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { ageLimit, knownFacts, type Aged } from './known-mint.ts'
import { marketReader } from './market-reader.ts'
import { address } from '../../kernel/http/parameters.ts'
import { readPricedToken } from './valued-token.ts'

const DAY = 86_400
const WINDOWS = { day: DAY } as const
/**
 * More candles than a day has in any interval from which windows are read: 24 hours, and minutes at both ends.
 */
const CANDLES_OF_DAY = 120
/** Maximum tokens of one request, equal to a metadata request's (src/docs/endpoints.md). */
const MINTS_MAX = 100

export const tokenPrice = endpoint({
  path: '/v1/tokens/{mint}/price',
  tag: 'Tokens',
  summary: 'Latest price of a token',
  description:
    'The price of the newest price-forming trade of any pair, in its cash and in USD. Change and volume are those of the 24 hours that end with the minute of the indexed head. Wrapped SOL, USDC and USDT have an answer even without a trade. A token without a live trade has the price of its newest one in an imported archive.',
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  answer: PRICE,
  errors: [DATA_ERRORS.TOKEN_NOT_FOUND],
  examples: [{ name: 'The price of SOL in dollars', params: { mint: WSOL } }]
})

export const prices = endpoint({
  path: '/v1/prices',
  tag: 'Tokens',
  summary: 'Latest prices of several tokens',
  description:
    'One row per token with the fields of `/v1/tokens/{mint}/price`, in the order of the request. A repeated token has one row. `missing` lists the tokens without a known price.',
  scope: 'data:read',
  query: z.object({
    mints: addressList(MINTS_MAX)
      .describe(`The tokens, separated by commas; at most ${MINTS_MAX}`)
      .meta({ type: 'string' })
  }),
  answer: PRICES,
  examples: [{ name: 'SOL and USDC in dollars', query: { mints: `${WSOL},${USDC}` } }]
})

type Deps = Pick<DataNeeds, 'storage' | 'archive' | 'cash' | 'accounts' | 'mintWindows'>
interface PriceDeps extends Omit<Deps, 'archive'> {
  readonly market: MarketStores
}

/** A token's price, rendered for a block time of the head in Unix seconds, with its inputs. */
interface PriceAt {
  readonly body: (headTime: number) => z.input<typeof PRICE>
  /** Limits of its age. */
  readonly parts: readonly Aged[]
}

export const priceRoutes: FastifyPluginAsync<Deps> = async (app, { archive, ...rest }) => {
  const marketOf = marketReader({ storage: rest.storage, archive })
  const read = () => ({ market: marketOf(), ...rest })
  serveCached(app, tokenPrice, async ({ params: { mint }, head }) => {
    const price = await priceAt(head, mint, read())
    if (price === null) {
      throw new ServiceError(DATA_ERRORS.TOKEN_NOT_FOUND, 'no price-forming trade of this token is known')
    }
    const { body, parts } = price
    return { body, dependsOn: [mint], changesWith: 'minute', ...ageLimit(parts) }
  })

  serveCached(app, prices, async ({ query: { mints }, head, slices }) => {
    const deps = read()
    const prices = await slices.mapReads(mints, (mint) => priceAt(head, mint, deps))
    const known = prices.filter((price) => price !== null)
    const missing = mints.filter((_, index) => prices[index] === null).map(pubkeyToBase58)
    return {
      body: (headTime) => ({ data: known.map(({ body }) => body(headTime)), missing }),
      dependsOn: mints,
      changesWith: 'minute',
      ...ageLimit(known.flatMap(({ parts }) => parts))
    }
  })
}

/** Returns a token's price. Null if the token has no price-forming trade, unless it is a cash mint. */
async function priceAt(
  newest: SlotRow | null,
  mint: Pubkey,
  { market, storage, cash, accounts, mintWindows }: PriceDeps
): Promise<PriceAt | null> {
  const { archiveEnd } = market
  const head = newest ?? archiveEnd
  const now = head?.blockTime ?? 0
  const facts = await knownFacts(accounts, mint)
  const token = await storage.tokens.get(mint)
  const [{ pair, value, liquidity }, { day }] = await Promise.all([
    readPricedToken({ ...market, pools: storage.pools }, mint, token, facts, accounts),
    mintWindows.of(mint, now, WINDOWS, { traders: false, active: token?.activeHours })
  ])
  const parts = [facts, liquidity]
  if (pair === null || head === null) {
    const listed = cash.of(mint)
    return listed === undefined ? null : { body: () => untradedPriceBody(listed, day, value), parts }
  }
  const { volumeMicroUsd, unpriced } = day
  const dayUsd = { volumeMicroUsd, unpriced, changePct: changeOf(day, newestUsd(pair)) }
  const dayCash = await cashOf(market.windows, pair, day, now)
  return {
    body: (headTime) => {
      // Before the first live block, the time of the head is 0.
      const time = Math.max(headTime, archiveEnd?.blockTime ?? 0)
      return priceBody(pair, dayUsd, dayCash, value, cash, time, archiveEnd)
    },
    parts
  }
}

/**
 * Returns a pair's volume of the last day in base units of its cash. A mint's activity has this volume for wrapped SOL
 * only.
 */
async function cashOf(
  { candles: series }: WindowStores,
  { mint, cash }: PricedPair,
  day: MintWindow,
  now: number
): Promise<bigint> {
  if (isWrappedSol(cash)) return day.volumeCash
  let sum = 0n
  for (const { interval, from, to } of windowParts(now, DAY)) {
    const candles = await series.range(mint, cash, interval, { from, to, limit: CANDLES_OF_DAY })
    for (const candle of candles) sum += candle.volumeCash
  }
  return sum
}

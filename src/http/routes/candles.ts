import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { CANDLES, candleBody } from '../../api/candle.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { intervalSeconds } from '../../market/candles.ts'
import { WSOL } from '../../market/cash.ts'
import { INTERVALS, type PairRow } from '../../market/rows.ts'
import type { Storage } from '../../../storage/port.ts'
import type { AppDeps } from '../deps.ts'
import { candlePage, filledPage } from '../candle-page.ts'
import { defaultPair, usualCash } from '../default-pair.ts'
import { endpoint, serveCached } from '../endpoint.ts'
import { instant } from '../instant.ts'
import { isCursorOf, readPageCursor, writePageCursor } from '../page-cursor.ts'
import { address, invalid, oneOf, wholeNumber } from '../parameters.ts'
import { checkRange } from '../trade-filters.ts'

/** Seconds before the head within which an ended bucket may still change, because block times can fall. */
const TIME_FALLS_MAX = 60

export const candles = endpoint({
  path: '/v1/tokens/{mint}/candles',
  tag: 'Tokens',
  summary: 'Candles of a token',
  description: `The newest candles of a token in one cash mint, oldest first; \`nextCursor\` leads to older ones. \
Prices are those of price-forming trades; volumes and counts are of all trades. A time is the start of a bucket; weeks start \
on Mondays at 00:00 UTC. A bucket without a price has no candle unless \`fill=previous\` or \`raw=1\` gives it one; a \
request skips at most 8,000 such buckets. A pair that never traded has no candles. Without \`cash\` the pair is that with \
wrapped SOL (for wrapped SOL itself, with USDC), else the one with the largest volume; \`cash_mint\` names it.`,
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  query: z.object({
    interval: oneOf(INTERVALS).default('1m').describe('Length of a bucket'),
    cash: address
      .optional()
      .describe(
        'The cash of the pair: the mint of wrapped SOL, USDC, USDT, or one added by the operator. Default: wrapped SOL if the token has a pair with it (for wrapped SOL itself USDC), else the cash of the pair with the largest volume'
      ),
    currency: oneOf(['native', 'usd']).default('native').describe('Prices in the cash, or in USD'),
    limit: wholeNumber(1, 1000, 300).describe('Maximum number of candles'),
    from: instant
      .optional()
      .describe('Only buckets that start at or after this: unix seconds, or ISO 8601 (UTC without a zone)'),
    to: instant
      .optional()
      .describe('Only buckets that start before this: unix seconds, or ISO 8601 (UTC without a zone)'),
    fill: oneOf(['none', 'previous'])
      .default('none')
      .describe(
        '`previous`: a bucket without a price repeats the last close before it, up to the bucket of the indexed head'
      ),
    raw: oneOf(['0', '1']).default('0').describe('`1`: prices of all trades, dust and outliers included'),
    after: z.string().optional().describe('The `nextCursor` of the page before')
  }),
  answer: CANDLES,
  errors: ['CURSOR_INVALID'],
  examples: [
    { name: 'SOL in dollars by the hour', params: { mint: WSOL }, query: { interval: '1h', limit: '24' } },
    { name: 'Without holes', params: { mint: WSOL }, query: { fill: 'previous', limit: '60' } }
  ]
})

export const candleRoutes: FastifyPluginAsync<Pick<AppDeps, 'storage' | 'cash'>> = async (
  app,
  { storage, cash: cashes }
) => {
  serveCached(app, candles, async ({ params: { mint }, query, head }) => {
    const { interval, currency, limit, fill } = query
    if (query.cash !== undefined && cashes.of(query.cash) === undefined) {
      throw invalid('cash', 'must be the mint of wrapped SOL, USDC, USDT or one that the operator has added')
    }
    checkRange(query)
    const { from = 0, to = Number.MAX_SAFE_INTEGER } = query
    const listIn = (cash: Pubkey): string =>
      ['candles', ...[mint, cash].map(pubkeyToBase58), interval, currency, query.raw, fill, from, to].join(
        ':'
      )
    const pair = await pairOf(storage, mint, query, listIn)
    const cash = query.cash ?? pair?.cash ?? usualCash(mint)
    const list = listIn(cash)
    const before = query.after === undefined ? to : Math.min(to, readPageCursor(list, query.after))
    const cash_mint = pubkeyToBase58(cash)
    if (pair === null || head === null) {
      return { body: { cash_mint, data: [], nextCursor: null }, dependsOn: [mint], changesWith: 'tags' }
    }
    const asked = {
      mint,
      cash,
      interval,
      prices: { currency, raw: query.raw === '1' },
      from,
      to: before,
      limit
    }
    const page =
      fill === 'previous'
        ? await filledPage(storage.candles, asked, head.blockTime)
        : await candlePage(storage.candles, asked)
    const { decimals, cashDecimals } = pair
    const view = {
      decimals,
      cashDecimals,
      intervalSeconds: intervalSeconds(interval),
      headTime: head.blockTime
    }
    const data = page.candles.map(({ candle, prices }) => candleBody(candle, prices, view))
    const nextCursor = page.older === null ? null : writePageCursor(list, page.older)
    // Ended buckets do not change; the running bucket does, and so does the end of filling.
    const newest = page.candles.at(-1)
    const end = newest === undefined ? -Infinity : newest.candle.ts + view.intervalSeconds
    const isOver = Math.max(end, fill === 'previous' ? before : -Infinity) <= head.blockTime - TIME_FALLS_MAX
    return {
      body: { cash_mint, data, nextCursor },
      dependsOn: [mint],
      changesWith: isOver ? 'tags' : 'minute'
    }
  })
}

/** Returns the requested pair. For a further page without `cash` it is the pair whose list the cursor belongs to. */
async function pairOf(
  storage: Storage,
  mint: Pubkey,
  { cash, after }: { readonly cash?: Pubkey | undefined; readonly after?: string | undefined },
  listIn: (cash: Pubkey) => string
): Promise<PairRow | null> {
  if (cash !== undefined) return storage.pairs.get({ mint, cash })
  if (after === undefined) return defaultPair(storage, mint)
  const pairs = await storage.pairs.ofMint(mint)
  return pairs.find((pair) => isCursorOf(listIn(pair.cash), after)) ?? null
}

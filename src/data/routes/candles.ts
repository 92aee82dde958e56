import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { CANDLE_COLUMNS, CANDLES } from '../bodies/candle.ts'
import { ROWS_OF_ARCHIVE } from '../../ingest/bodies/source.ts'
import type { MarketStores } from '../../archive/market-stores.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { WSOL } from '../../market/cash.ts'
import type { DataNeeds } from './needs.ts'
import type { PairRow } from '../../market/rows.ts'
import {
  CANDLE_LIST_QUERY,
  continuesCandles,
  openCandles,
  ROW_CANDLE_RULES,
  SECOND_CANDLE_RULES,
  type CandleListQuery
} from './candle-list.ts'
import { defaultPair, usualCash } from './default-pair.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { marketReader } from './market-reader.ts'
import { address, invalid } from '../../kernel/http/parameters.ts'
import { ERRORS } from '../../kernel/errors.ts'

export const candles = endpoint({
  path: '/v1/tokens/{mint}/candles',
  tag: 'Tokens',
  summary: 'Candles of a token',
  description: `The newest candles of a token in one cash mint, oldest first. \`nextCursor\` leads to older ones. \
Prices are those of price-forming trades; volumes and counts are of all trades. A time is the start of a bucket; weeks start \
on Mondays at 00:00 UTC. A bucket without a price has no candle unless \`fill=previous\` or \`raw=true\` gives it one. A \
request skips at most 8,000 such buckets. A pair that never traded has no candles. Without \`cash\`, the pair is the token's \
pair with wrapped SOL (for wrapped SOL itself, with USDC). Without such a pair, it is the pair with the largest volume. \
\`cash_mint\` names the cash of the pair. ${SECOND_CANDLE_RULES} ${ROW_CANDLE_RULES} ${ROWS_OF_ARCHIVE}`,
  scope: 'data:read',
  params: z.object({ mint: address.describe('The token') }),
  query: z.object({
    cash: address
      .optional()
      .describe(
        'The cash of the pair: the mint of wrapped SOL, USDC or USDT, or a mint added by the operator. Default: wrapped SOL if the token has such a pair (for wrapped SOL itself: USDC), else the cash of the pair with the largest volume'
      ),
    ...CANDLE_LIST_QUERY
  }),
  answer: CANDLES,
  columns: CANDLE_COLUMNS,
  errors: [ERRORS.CURSOR_INVALID],
  examples: [
    { name: 'SOL in dollars by the hour', params: { mint: WSOL }, query: { interval: '1h', limit: '24' } },
    { name: 'SOL by five seconds', params: { mint: WSOL }, query: { interval: '5s', limit: '24' } },
    { name: 'Without holes', params: { mint: WSOL }, query: { fill: 'previous', limit: '60' } }
  ]
})

export const candleRoutes: FastifyPluginAsync<Pick<DataNeeds, 'storage' | 'archive' | 'cash'>> = async (
  app,
  { storage, archive, cash: cashes }
) => {
  const marketOf = marketReader({ storage, archive })
  serveCached(app, candles, async ({ params: { mint }, query, head: newest, slices, isExport }) => {
    if (query.cash !== undefined && cashes.of(query.cash) === undefined) {
      throw invalid('cash', 'must be the mint of wrapped SOL, USDC, USDT or one that the operator has added')
    }
    const seriesIn = (cash: Pubkey): string[] => ['candles', ...[mint, cash].map(pubkeyToBase58)]
    const market = marketOf()
    const pair = await pairOf(market, mint, query, seriesIn, isExport)
    const cash = query.cash ?? pair?.cash ?? usualCash(mint)
    const list = openCandles(seriesIn(cash), query, market, newest, isExport)
    const { data, nextCursor, changesWith } = await list.page(pair && { pair }, slices)
    return {
      body: { cash_mint: pubkeyToBase58(cash), data, nextCursor },
      dependsOn: [mint],
      changesWith
    }
  })
}

/** Returns the requested pair. For a further page without `cash`, this is the pair to whose list the cursor belongs. */
async function pairOf(
  market: MarketStores,
  mint: Pubkey,
  query: CandleListQuery & { readonly cash?: Pubkey | undefined },
  seriesIn: (cash: Pubkey) => string[],
  isExport: boolean
): Promise<PairRow | null> {
  const { cash, after } = query
  if (cash !== undefined) return market.pairs.get({ mint, cash })
  if (after === undefined) return defaultPair(market, mint)
  const pairs = await market.pairs.ofMint(mint)
  return pairs.find((pair) => continuesCandles(seriesIn(pair.cash), query, isExport)) ?? null
}

import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { listOf } from '../../kernel/http/schema.ts'
import { ROWS_OF_ARCHIVE } from '../../ingest/bodies/source.ts'
import { INTERVALS } from '../../market/rows.ts'
import { PAIR_CANDLE, PAIR_CANDLE_COLUMNS } from '../bodies/candle.ts'
import { CANDLE_LIST_QUERY } from './candle-list.ts'
import { candlesByToken } from './candles-by-token.ts'
import type { DataNeeds } from './needs.ts'
import { endpoint } from '../../kernel/http/endpoint.ts'
import { instant } from '../../kernel/http/instant.ts'
import { serveCached } from '../../kernel/http/serve-cached.ts'
import { marketReader } from './market-reader.ts'
import { oneOf, wholeNumber } from '../../kernel/http/parameters.ts'
import { checkRange } from './trade-filters.ts'
import { ERRORS } from '../../kernel/errors.ts'

export const allCandles = endpoint({
  path: '/v1/candles',
  tag: 'Market',
  summary: 'Candles of all tokens',
  description: `The candles of all pairs of all tokens in a range of times, token by token, and those of a pair oldest first. The \
order of tokens is that of the store, and never changes. It is a list to export. A bucket without a price has no candle unless \
\`raw=true\` gives it one. A request reads at most 2,000 tokens and pairs, for at most one second. So a page can be short, or \
empty, and still have a \`nextCursor\`. ${ROWS_OF_ARCHIVE}`,
  scope: 'data:read',
  query: z.object({
    interval: oneOf(INTERVALS).default('1m').describe('Length of a bucket'),
    currency: CANDLE_LIST_QUERY.currency,
    raw: CANDLE_LIST_QUERY.raw,
    limit: wholeNumber(1, 1000, 300).describe('Maximum number of candles'),
    after: z
      .string()
      .optional()
      .describe(
        'The `nextCursor` of the previous page, with the same parameters; or `mint:cash_mint:time` of a candle, its start in unix seconds, after which the page begins'
      ),
    from: instant.describe(
      'Buckets that start at or after this time: unix seconds, or ISO 8601 (UTC without a zone)'
    ),
    to: instant.describe(
      'Buckets that start before this time: unix seconds, or ISO 8601 (UTC without a zone)'
    )
  }),
  answer: listOf(PAIR_CANDLE).meta({ id: 'PairCandles' }),
  columns: PAIR_CANDLE_COLUMNS,
  errors: [ERRORS.CURSOR_INVALID],
  examples: [
    { name: 'All minutes since a day', query: { from: '2026-01-01', to: '2100-01-01', limit: '30' } },
    {
      name: 'By five minutes',
      query: { from: '2026-01-01', to: '2100-01-01', interval: '5m', limit: '30' }
    }
  ]
})

export const allCandleRoutes: FastifyPluginAsync<Pick<DataNeeds, 'storage' | 'archive' | 'clock'>> = async (
  app,
  deps
) => {
  const marketOf = marketReader(deps)
  serveCached(app, allCandles, async ({ query, head: newest, slices }) => {
    checkRange(query)
    const source = { market: marketOf(), newest, slices }
    const { data, nextCursor } = await candlesByToken(source, query, deps.clock)
    return { body: { data: [...data], nextCursor }, dependsOn: [], changesWith: 'block' }
  })
}

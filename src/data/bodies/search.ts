import { z } from 'zod'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import type { ActivityWindow } from '../../market/windows.ts'
import { NAME_MATCHES } from '../name-text.ts'
import { unpricedInDay, usdOrNull } from './event.ts'
import * as schema from '../../kernel/http/schema.ts'

const HIT_KINDS = ['token', 'pool', 'wallet', 'transaction'] as const

export const SEARCH_HIT = z
  .object({
    kind: z.enum(HIT_KINDS).describe('Kind of the object'),
    address: z
      .string()
      .regex(/^[1-9A-HJ-NP-Za-km-z]{32,88}$/)
      .describe('Address of the mint, pool or wallet, or signature of the transaction; base58'),
    symbol: z.string().nullable().describe('Symbol of the token, or of the base of a pool; null if unknown'),
    name: z.string().nullable().describe('Name of the token, or of the base of a pool; null if unknown'),
    venue: schema.venue('Venue of a pool').nullable().describe('Venue of a pool; null for others'),
    volume_24h_usd: schema
      .usd('Value of its trades')
      .nullable()
      .describe(
        `Value of the trades of a token or pool in the ${schema.DAY}, in USD, of those with a known value; null for wallets and transactions, and if there are trades and none has one`
      ),
    unpriced_trades_24h: schema.unpricedTrades('`volume_24h_usd`'),
    match: z
      .enum([...NAME_MATCHES, 'address', 'signature'])
      .describe(
        'The closest match: the whole symbol or name, the start of either, the start of a word in them, or text inside a word'
      )
  })
  .meta({ id: 'SearchHit', description: 'An object found by a search' })

export const SEARCH = z
  .object({
    tenant: schema.text('Tenant of the key in use'),
    data: z.array(SEARCH_HIT),
    tokens_searched: schema.count('Tokens whose symbols and names are searched'),
    complete: z
      .boolean()
      .describe(
        'Whether symbols and names of all indexed launches are searched. `false` while they are read after a start or a rollback, and if memory has no room for the older ones'
      )
  })
  .meta({ id: 'Search' })

export type SearchHit = z.input<typeof SEARCH_HIT>

/** Renders a hit. `day` is its window of 24 hours; absent for a wallet. */
export function searchHit(
  kind: SearchHit['kind'],
  address: Pubkey,
  fields: Pick<SearchHit, 'match'> &
    Partial<Pick<SearchHit, 'symbol' | 'name' | 'venue'>> & {
      readonly day?: Pick<ActivityWindow, 'volumeMicroUsd' | 'unpriced'>
    }
): SearchHit {
  const { symbol = null, name = null, venue = null, day, match } = fields
  return {
    kind,
    address: pubkeyToBase58(address),
    symbol,
    name,
    venue,
    volume_24h_usd: day === undefined ? null : usdOrNull(day.volumeMicroUsd),
    ...unpricedInDay(day?.unpriced ?? 0),
    match
  }
}

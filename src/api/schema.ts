import { z } from 'zod'
import { VENUE_IDS } from '../chain/venue-id.ts'

/** Parts of the schemas of answers: what a field is, and in words what it means and in which unit. */

/** Said of a localnet, where somebody could take it for mainnet; elsewhere it is left out. */
export const localnetMark = z
  .literal(true)
  .optional()
  .describe('On a localnet alone: its market is simulated, nothing of it is of mainnet')

/** The rolling day, in words. */
export const DAY = '24 hours that end with the minute of the indexed head'

/** A change of a token's price, in words; what `latest-price.ts` says of percentages. */
export const PRICE_CHANGE =
  'Change of the price in USD, in percent of the last price before the window, else of the first in it; 0 without a trade that forms a price in it, null without a price or where that of either end has no value in USD'

/** A price in USD, in words. */
export const PRICE_USD =
  'The same in USD, at the minute of that trade; null where its cash had no price in USD then: SOL has none an hour after it last traded for dollars'

export const text = (meaning: string) => z.string().describe(meaning)

export const address = (meaning: string) =>
  z
    .string()
    .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
    .describe(`${meaning}; base58`)

export const signature = (meaning: string) =>
  z
    .string()
    .regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/)
    .describe(`${meaning}; base58`)

/** An amount in base units, whole whatever its size. */
export const rawAmount = (meaning: string) =>
  z.string().regex(/^\d+$/).describe(`${meaning}, in base units; text, for it may be above 2^53`)

/** An amount with its decimals applied. */
export const amount = (meaning: string) =>
  z.number().min(0).describe(`${meaning}, in human units (decimals applied)`)

export const usd = (meaning: string) => z.number().min(0).describe(`${meaning}, in USD`)

export const price = (meaning: string) => z.number().min(0).describe(meaning)

export const count = (meaning: string) => z.int().min(0).describe(meaning)

export const percent = (meaning: string) => z.number().describe(`${meaning}, in percent`)

/** The clock that a time is of, in words. */
export const CLOCKS = {
  block: 'block time',
  ingest: 'time of ingest, by the clock of the service',
  service: 'by the clock of the service'
} as const
type Clock = keyof typeof CLOCKS

/** What `secondsText` writes. */
export const time = (meaning: string, clock: Clock) =>
  z
    .string()
    .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    .describe(`${meaning}; ${CLOCKS[clock]}, UTC, \`YYYY-MM-DD HH:MM:SS\``)

export const unixMs = (meaning: string, clock: Clock) =>
  z.int().describe(`${meaning}; ${CLOCKS[clock]}, unix milliseconds`)

export const blockTime = (meaning: string) =>
  z.int().min(0).describe(`${meaning}; ${CLOCKS.block}, unix seconds`)

export const venue = (meaning: string) => z.enum(VENUE_IDS).describe(meaning)

/** A field of account state, which events do not carry. */
export const accountState = (meaning: string) =>
  z.null().describe(`${meaning}. Account state is not read yet: always null`)

/** Supply in words: events know it from the launch alone. */
export const SUPPLY =
  'as the launch states it, without what was minted or burnt later; null where no launch is known or it states none'

/** Liquidity in words. */
export const LIQUIDITY =
  'both reserves of a pool at its latest price, of an open bonding curve its cash alone; of pools whose newest trade states its reserves'

export const SAME_MARKET_CAP = 'Market capitalisation in USD, as `/v1/tokens/{mint}` gives it'
export const SAME_LIQUIDITY = 'Liquidity in USD, as `/v1/tokens/{mint}` gives it'

/** The envelope of lists. */
export function listOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    tenant: text('The tenant whose key asked'),
    data: z.array(row),
    nextCursor: z.string().nullable().describe('The `after` of the next page; null when nothing follows')
  })
}

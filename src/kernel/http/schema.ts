import { z } from 'zod'
import { VENUE_IDS } from '../../chain/venue-id.ts'

/** Building blocks of answer schemas: each states a field's meaning and unit. */

/** Marks answers of a localnet that could be mistaken for mainnet's; absent elsewhere. */
export const localnetMark = z
  .literal(true)
  .optional()
  .describe('Present only on a localnet, whose market is simulated; nothing is from mainnet')

/** Description of the rolling day. */
export const DAY = '24 hours that end with the minute of the indexed head'

/** Description of a token's price change, as `latest-price.ts` computes it. */
export const PRICE_CHANGE =
  'Change of the price in USD, in percent of the last price before the window, or else of the first price in it. 0 if the window has no price-forming trade. Null if no price is known, or if the price at either end has no value in USD'

/** Description of a price in USD. */
export const PRICE_USD =
  'The price in USD, at the minute of that trade. Null if the cash had no price in USD then; SOL has no price from one hour after its last trade for dollars'

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

/** Schema of an amount in base units, an integer of any size as text. */
export const rawAmount = (meaning: string) =>
  z.string().regex(/^\d+$/).describe(`${meaning}, in base units; text, because it may exceed 2^53`)

/** Schema of an amount with its decimals applied. */
export const amount = (meaning: string) =>
  z.number().min(0).describe(`${meaning}, in human units (decimals applied)`)

export const usd = (meaning: string) => z.number().min(0).describe(`${meaning}, in USD`)

export const price = (meaning: string) => z.number().min(0).describe(meaning)

export const count = (meaning: string) => z.int().min(0).describe(meaning)

export const percent = (meaning: string) => z.number().describe(`${meaning}, in percent`)

/** Descriptions of the clocks that times belong to. */
export const CLOCKS = {
  block: 'block time',
  ingest: 'time of ingest, by the clock of the service',
  service: 'by the clock of the service'
} as const
type Clock = keyof typeof CLOCKS

/** Schema of a time in the format of `secondsText`. */
export const time = (meaning: string, clock: Clock) =>
  z
    .string()
    .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    .describe(`${meaning}; ${CLOCKS[clock]}, UTC, \`YYYY-MM-DD HH:MM:SS\``)

export const unixMs = (meaning: string, clock: Clock) =>
  z.int().describe(`${meaning}; ${CLOCKS[clock]}, Unix milliseconds`)

export const blockTime = (meaning: string) =>
  z.int().min(0).describe(`${meaning}; ${CLOCKS.block}, Unix seconds`)

export const venue = (meaning: string) => z.enum(VENUE_IDS).describe(meaning)

/** Schema of a field that needs account state, which events do not carry. */
export const accountState = (meaning: string) =>
  z.null().describe(`${meaning}. Account state is not read yet: always null`)

/** Description of supply, which events state only at the launch. */
export const SUPPLY =
  'as its account states it at `supply_slot` or `slot`. Until the account is read, it is the supply of the launch, without later mints and burns. Null if neither is known'

/** Description of an amount of the account side. */
export const SCALED =
  'If the mint scales displayed amounts (`ui_multiplier`), it is multiplied as a node does; the raw amount is not'

/** The factor of displayed amounts. */
export const uiMultiplier = z
  .number()
  .nullable()
  .describe(
    'Factor of displayed amounts at the slot: the multiplier of a ScaledUiAmount mint, or the interest so far. Trades, candles, prices and values in USD never include it. Null for other mints'
  )

/** Description of the slot of a supply. */
export const SUPPLY_SLOT =
  'Slot at which the account of the mint stated the supply; null if the supply is from the launch or unknown'

/** Description of liquidity. */
export const LIQUIDITY =
  'for a pool, both reserves at its latest price; for an open bonding curve, only its cash. Only pools whose newest trade states reserves count'

/** Schema of the number of trades that sums in USD lack; rendered by `unpricedIn`. */
export const unpricedTrades = (sums: string) =>
  count(`Trades without a value in USD, which ${sums} lacks. Absent if it has all trades`).optional()

/** Schema of the number of pools that a token's liquidity lacks; rendered by `unvaluedIn`. */
export const unvaluedPools = count(
  'Pools whose liquidity is unknown, which `liquidity_usd` lacks. Absent if it has all pools, and if it is null'
).optional()

export const SAME_MARKET_CAP = 'Market capitalisation in USD, as in `/v1/tokens/{mint}`'
export const SAME_LIQUIDITY = 'Liquidity in USD, as in `/v1/tokens/{mint}`'

/** Schema of a list's envelope. */
export function listOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    tenant: text('Tenant of the key in use'),
    data: z.array(row),
    nextCursor: z.string().nullable().describe('The `after` of the next page; null on the last page')
  })
}

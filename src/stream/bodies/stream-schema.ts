import { z } from 'zod'
import { EVENT_FIELDS } from '../../data/bodies/event.ts'
import { LAUNCH } from '../../data/bodies/launch.ts'
import * as schema from '../../kernel/http/schema.ts'
import { DECODED_FIELDS, TRADE } from '../../data/bodies/trade-schema.ts'

/**
 * Schemas of the stream's event `data`. Types, the AsyncAPI document and tests are derived from them; events are not
 * validated when they are sent. `cursor` is the position of the event on its channel.
 */

const UNSTATED = 'null if the venue does not state it'
const RECEIVED = { ts_ms: schema.unixMs('Time at which the service received the block', 'ingest') } as const

export const TRADE_EVENT = TRADE.omit({ source: true }).extend(DECODED_FIELDS).extend(RECEIVED).meta({
  id: 'TradeEvent',
  description:
    'A trade with its executed amounts. It has the fields of its REST row, but `ts_ms` is the time of ingest'
})

export const LAUNCH_EVENT = LAUNCH.omit({ status: true, source: true })
  .extend(RECEIVED)
  .meta({ id: 'LaunchEvent', description: 'The creation of a token on a launchpad' })

/** Omitted if equal to the pool's amount, as for most tokens. */
const providerAmount = (token: 'base' | 'quote') =>
  schema
    .rawAmount(`Change of the provider's account of the ${token}`)
    .nullable()
    .optional()
    .describe(
      `Change of the provider's account of the ${token}, in base units, if it differs from \`${token}_amount_raw\` because of a Token-2022 transfer fee. Absent if it is equal; null if the transaction does not show the fee`
    )

export const LIQUIDITY_EVENT = z
  .object({
    kind: z.literal('liquidity').describe('Kind of event'),
    event: z.enum(['add', 'remove']).describe('The event'),
    ...EVENT_FIELDS,
    ...RECEIVED,
    base_mint: schema
      .address('Base token of the pool')
      .nullable()
      .describe('Base token; null if a one-sided change does not name it'),
    quote_mint: schema
      .address('Quote token of the pool')
      .nullable()
      .describe('Quote token; null if a one-sided change does not name it'),
    base_amount: schema.amount('Base that the pool received or paid out'),
    quote_amount: schema.amount('Quote that the pool received or paid out'),
    base_amount_raw: schema.rawAmount('Base that the pool received or paid out'),
    quote_amount_raw: schema.rawAmount('Quote that the pool received or paid out'),
    trader_base_amount_raw: providerAmount('base'),
    trader_quote_amount_raw: providerAmount('quote'),
    lp_amount_raw: schema.rawAmount('Pool tokens minted or burned').nullable(),
    position: schema.address('The position that changed').nullable()
  })
  .meta({ id: 'LiquidityEvent', description: 'Liquidity added to a pool or removed' })

const EVENT_RESERVES = z
  .object({
    real_base_raw: schema.rawAmount('Tokens left for sale').nullable(),
    real_quote_raw: schema.rawAmount('Cash that the curve holds').nullable(),
    virtual_base_raw: schema.rawAmount('Virtual tokens').nullable(),
    virtual_quote_raw: schema.rawAmount('Virtual cash').nullable()
  })
  .meta({ id: 'CurveEventReserves', description: `Reserves after the event; each ${UNSTATED}` })

export const CURVE_EVENT = z
  .object({
    kind: z.literal('curve').describe('Kind of event'),
    event: z.enum(['create', 'complete', 'migrate']).describe('The event'),
    ...EVENT_FIELDS,
    ...RECEIVED,
    base_mint: schema.address('The token'),
    quote_mint: schema.address('Cash of the curve').nullable(),
    curve: schema.address('The bonding curve'),
    progress_pct: schema.percent('Sold share of the tokens for sale').nullable(),
    pool: schema.address('For a migration, the pool that receives the funds; for other steps, the curve'),
    reserves: EVENT_RESERVES.nullable()
  })
  .meta({ id: 'CurveEvent', description: "A step in the life of a launchpad's bonding curve" })

export const POOL_EVENT = z
  .object({
    kind: z.literal('pool').describe('Kind of event'),
    event: z.enum(['create', 'update']).describe('The event'),
    ...EVENT_FIELDS,
    ...RECEIVED,
    base_mint: schema.address('Base token of the pool'),
    quote_mint: schema.address('Quote token of the pool'),
    base_vault: schema.address('Account that holds the base').nullable(),
    quote_vault: schema.address('Account that holds the quote').nullable(),
    fee_bps: z.number().min(0).nullable().describe(`Trading fee in hundredths of a percent; ${UNSTATED}`),
    initial_base_raw: schema.rawAmount('Initial base of the pool').nullable(),
    initial_quote_raw: schema.rawAmount('Initial quote of the pool').nullable()
  })
  .meta({ id: 'PoolEvent', description: 'A pool that was created or changed' })

export const PRICE_TICK = z
  .object({
    mint: schema.address('The token'),
    price: schema.price('Cash per token of the newest price-forming fill'),
    cash_mint: schema.address('The cash: wrapped SOL or a dollar'),
    venue: schema.venue('Venue of the trade'),
    slot: schema.count('Slot of the block'),
    block_time: EVENT_FIELDS.block_time,
    ...RECEIVED,
    cursor: EVENT_FIELDS.cursor
  })
  .meta({ id: 'PriceTick', description: 'The price of a token, at each price-forming trade' })

export const RETRACTION = z
  .object({
    event: z.literal('retract').describe('An event of a lost fork is withdrawn'),
    of: schema.count('Cursor of the retracted event; a replay may have skipped that event'),
    signature: schema.signature('Its transaction'),
    slot: schema.count('Slot of its block'),
    ...RECEIVED,
    cursor: EVENT_FIELDS.cursor
  })
  .meta({
    id: 'Retraction',
    description: 'Retracts an event of a lost fork; occurs mainly if blocks are indexed at `processed`'
  })

/** An event as its builder returns it, without the cursor, which differs by channel. */
type Uncounted<Event extends z.ZodType> = Omit<z.input<Event>, 'cursor'>
export type TradeData = Uncounted<typeof TRADE_EVENT>
export type LaunchData = Uncounted<typeof LAUNCH_EVENT>
export type PriceData = Uncounted<typeof PRICE_TICK>
export type RetractionData = Uncounted<typeof RETRACTION>
export type PoolEventData =
  | Uncounted<typeof LIQUIDITY_EVENT>
  | Uncounted<typeof CURVE_EVENT>
  | Uncounted<typeof POOL_EVENT>

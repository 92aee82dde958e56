import { z } from 'zod'
import { EVENT_FIELDS } from './event.ts'
import { LAUNCH } from './launch.ts'
import * as schema from './schema.ts'
import { TRADE } from './trade-schema.ts'

/**
 * The `data` of the stream's events. Types, the AsyncAPI document and tests come from these; what is sent is not run
 * through them. `cursor` is that of the copy on its channel.
 */

const UNSTATED = 'null where the venue does not state it'
const RECEIVED = { ts_ms: schema.unixMs('When the service received the block', 'ingest') } as const

export const TRADE_EVENT = TRADE.extend(RECEIVED).meta({
  id: 'TradeEvent',
  description:
    'A trade with its executed amounts, as its REST row but for `ts_ms`, which is the time of ingest'
})

export const LAUNCH_EVENT = LAUNCH.omit({ status: true })
  .extend(RECEIVED)
  .meta({ id: 'LaunchEvent', description: 'The creation of a token on a launchpad' })

/** Left out where it is the pool's amount, as it is of most tokens. */
const providerAmount = (token: 'base' | 'quote') =>
  schema
    .rawAmount(`What left or reached the provider's account of the ${token}`)
    .nullable()
    .optional()
    .describe(
      `What left or reached the provider's account of the ${token}, in base units, where a Token-2022 transfer fee makes it another amount than \`${token}_amount_raw\`; left out where it is the same, null where the transaction does not show the fee`
    )

export const LIQUIDITY_EVENT = z
  .object({
    kind: z.literal('liquidity').describe('What kind of event it is'),
    event: z.enum(['add', 'remove']).describe('What happened'),
    ...EVENT_FIELDS,
    ...RECEIVED,
    base_mint: schema
      .address('Base token of the pool')
      .nullable()
      .describe('Base token; null where a one-sided change does not name it'),
    quote_mint: schema
      .address('Quote token of the pool')
      .nullable()
      .describe('Quote token; null where a one-sided change does not name it'),
    base_amount: schema.amount('What the pool received or gave of the base'),
    quote_amount: schema.amount('What the pool received or gave of the quote'),
    base_amount_raw: schema.rawAmount('What the pool received or gave of the base'),
    quote_amount_raw: schema.rawAmount('What the pool received or gave of the quote'),
    trader_base_amount_raw: providerAmount('base'),
    trader_quote_amount_raw: providerAmount('quote'),
    lp_amount_raw: schema.rawAmount('Pool tokens that were made or burned').nullable(),
    position: schema.address('The position that changed').nullable()
  })
  .meta({ id: 'LiquidityEvent', description: 'Liquidity that went into a pool or left it' })

const EVENT_RESERVES = z
  .object({
    real_base_raw: schema.rawAmount('Tokens that are left for sale').nullable(),
    real_quote_raw: schema.rawAmount('Cash that the curve holds').nullable(),
    virtual_base_raw: schema.rawAmount('Virtual tokens').nullable(),
    virtual_quote_raw: schema.rawAmount('Virtual cash').nullable()
  })
  .meta({ id: 'CurveEventReserves', description: `Reserves after the event; each ${UNSTATED}` })

export const CURVE_EVENT = z
  .object({
    kind: z.literal('curve').describe('What kind of event it is'),
    event: z.enum(['create', 'complete', 'migrate']).describe('What happened'),
    ...EVENT_FIELDS,
    ...RECEIVED,
    base_mint: schema.address('The token'),
    quote_mint: schema.address('What the curve takes for it').nullable(),
    curve: schema.address('The bonding curve'),
    progress_pct: schema.percent('Part of the tokens for sale that is sold').nullable(),
    pool: schema.address('Of a migration the pool that it leads to; until then the curve'),
    reserves: EVENT_RESERVES.nullable()
  })
  .meta({ id: 'CurveEvent', description: "A step in the life of a launchpad's bonding curve" })

export const POOL_EVENT = z
  .object({
    kind: z.literal('pool').describe('What kind of event it is'),
    event: z.enum(['create', 'update']).describe('What happened'),
    ...EVENT_FIELDS,
    ...RECEIVED,
    base_mint: schema.address('Base token of the pool'),
    quote_mint: schema.address('Quote token of the pool'),
    base_vault: schema.address('Account that holds the base').nullable(),
    quote_vault: schema.address('Account that holds the quote').nullable(),
    fee_bps: z.number().min(0).nullable().describe(`Trading fee in hundredths of a percent; ${UNSTATED}`),
    initial_base_raw: schema.rawAmount('What the pool began with of the base').nullable(),
    initial_quote_raw: schema.rawAmount('What the pool began with of the quote').nullable()
  })
  .meta({ id: 'PoolEvent', description: 'A pool that was made or has changed' })

export const PRICE_TICK = z
  .object({
    mint: schema.address('The token'),
    price: schema.price('Cash per token of the newest fill that forms a price'),
    cash_mint: schema.address('The cash: wrapped SOL or a dollar'),
    venue: schema.venue('Where it traded'),
    slot: schema.count('Slot of the block'),
    block_time: EVENT_FIELDS.block_time,
    ...RECEIVED,
    cursor: EVENT_FIELDS.cursor
  })
  .meta({ id: 'PriceTick', description: 'The price of a token, at each trade that forms one' })

export const RETRACTION = z
  .object({
    event: z.literal('retract').describe('What happened: an event was of a fork that is lost'),
    of: schema.count('Cursor of the event that is taken back; a replay may not have sent it'),
    signature: schema.signature('Its transaction'),
    slot: schema.count('Slot of its block'),
    ...RECEIVED,
    cursor: EVENT_FIELDS.cursor
  })
  .meta({
    id: 'Retraction',
    description: 'Takes an event back; only where blocks are indexed when they are `processed`'
  })

/** An event as its builder gives it: the cursor follows, on each channel another. */
type Uncounted<Event extends z.ZodType> = Omit<z.input<Event>, 'cursor'>
export type TradeData = Uncounted<typeof TRADE_EVENT>
export type LaunchData = Uncounted<typeof LAUNCH_EVENT>
export type PriceData = Uncounted<typeof PRICE_TICK>
export type RetractionData = Uncounted<typeof RETRACTION>
export type PoolEventData =
  Uncounted<typeof LIQUIDITY_EVENT> | Uncounted<typeof CURVE_EVENT> | Uncounted<typeof POOL_EVENT>

import { z } from 'zod'
import { EVENT_FIELDS } from './event.ts'
import * as schema from '../../kernel/http/schema.ts'
import { sourceMark } from '../../ingest/bodies/source.ts'

const FEE = z
  .object({
    kind: z
      .enum([
        'protocol',
        'platform',
        'creator',
        'share',
        'referral',
        'host',
        'cashback',
        'holder-rewards',
        'trading',
        'lp',
        'transfer'
      ])
      .describe('Receiver of the fee'),
    mint: schema.address('Mint of the fee'),
    amount_raw: schema.rawAmount('The fee')
  })
  .meta({ id: 'Fee', description: 'A fee of a trade, as the venue states it' })

const LEG = z
  .object({
    mint: schema.address('Mint of the transfer'),
    amount_raw: schema.rawAmount('Amount'),
    amount: schema.amount('Amount'),
    decimals: schema.count('Decimals of the mint')
  })
  .meta({ id: 'Leg', description: 'One side of a trade' })

const RESERVES = z
  .object({
    in_raw: schema.rawAmount('Reserve of the mint paid in').nullable(),
    out_raw: schema.rawAmount('Reserve of the mint paid out').nullable(),
    virtual_in_raw: schema.rawAmount("The curve's virtual reserve of the mint paid in").nullable(),
    virtual_out_raw: schema.rawAmount("The curve's virtual reserve of the mint paid out").nullable()
  })
  .meta({
    id: 'TradeReserves',
    description: 'Reserves after a trade; each is null if the venue does not state it'
  })

const NO_CASH = 'null if neither side is cash'

/** Fields that every decoded trade has, and some imported trades lack. */
export const DECODED_FIELDS = {
  pool: EVENT_FIELDS.pool,
  slot: EVENT_FIELDS.slot,
  tx_index: EVENT_FIELDS.tx_index,
  ix_index: EVENT_FIELDS.ix_index,
  user: EVENT_FIELDS.user,
  trader: schema.address(
    "The trader: the swap's authority if it signed, else the signer that owns the accounts, else a signer whose own balance of a traded mint changed. Else it is the owner of the account that paid, who need not sign"
  ),
  fee_payer: EVENT_FIELDS.fee_payer
} as const

const nullIfUnstated = <Schema extends z.ZodType>(schema: Schema) =>
  schema
    .nullable()
    .describe(`${schema.description ?? ''}; null if the file of an imported trade does not state it`)

export const TRADE = z
  .object({
    kind: z.literal('trade').describe('Kind of event'),
    event: z.enum(['buy', 'sell', 'swap']).describe('`swap`: neither side is cash'),
    ...EVENT_FIELDS,
    pool: nullIfUnstated(DECODED_FIELDS.pool),
    slot: nullIfUnstated(DECODED_FIELDS.slot),
    tx_index: nullIfUnstated(DECODED_FIELDS.tx_index),
    ix_index: nullIfUnstated(DECODED_FIELDS.ix_index),
    user: nullIfUnstated(DECODED_FIELDS.user),
    fee_payer: nullIfUnstated(DECODED_FIELDS.fee_payer),
    ts: schema.time('Time of the block', 'block'),
    trader: nullIfUnstated(DECODED_FIELDS.trader),
    mint: schema.address('The token that the trade is listed under'),
    decimals: schema.count('Decimals of the token'),
    is_buy: z
      .literal([0, 1])
      .nullable()
      .describe(`1: the trader spent cash for the token; 0: the reverse; ${NO_CASH}`),
    cash_mint: schema
      .address('The cash: wrapped SOL or a dollar')
      .nullable()
      .describe(`The cash mint; ${NO_CASH}`),
    cash_symbol: z
      .string()
      .nullable()
      .describe(`Symbol of the cash; null for a mint that the operator added, and ${NO_CASH}`),
    cash_amount: schema
      .amount('Executed cash')
      .nullable()
      .describe(`Executed cash, in human units; ${NO_CASH}`),
    cash_amount_raw: schema.rawAmount('Executed cash').nullable(),
    token_amount: schema.amount('Executed tokens'),
    token_amount_raw: schema.rawAmount('Executed tokens'),
    price: schema
      .price('Cash per token')
      .nullable()
      .describe(`Cash per token of this fill, from the raw amounts; null if no token moved, and ${NO_CASH}`),
    amount_usd: schema
      .usd('The cash')
      .nullable()
      .describe('Value of the cash in USD, at the SOL price of that minute; null if that price is unknown'),
    price_usd: schema
      .usd('Price')
      .nullable()
      .describe('Price in USD, at the SOL price of that minute; null if unknown'),
    legs: z
      .array(LEG)
      .length(2)
      .optional()
      .describe('For a trade without a cash side: the amounts paid in and paid out'),
    in_mint: schema.address('Mint that the trader paid'),
    out_mint: schema.address('Mint that the trader received'),
    exec_in: schema.amount('Executed amount paid'),
    exec_out: schema.amount('Executed amount received'),
    in_amount_raw: schema.rawAmount('Executed amount paid'),
    out_amount_raw: schema.rawAmount('Executed amount received'),
    trader_in_raw: schema.rawAmount(
      "Amount that left the trader's accounts for this fill, including all fees"
    ),
    trader_out_raw: schema.rawAmount(
      "Amount that reached the trader's accounts for this fill, after all fees"
    ),
    fees: z.array(FEE).describe('The fees that the venue states'),
    fee_raw: schema.rawAmount('Sum of the fees, if all are in one mint').optional(),
    fee_mint: schema.address('The mint of `fee_raw`').optional(),
    reserves: RESERVES.nullable(),
    exact: z.enum(['in', 'out']).nullable().describe('Side that the trader fixed; null if unknown'),
    price_forming: z
      .boolean()
      .describe(
        'Whether the price counts for candles and the latest price. Prices of dust and outliers do not'
      ),
    route_id: schema
      .text('The instruction that routed the trade, as `signature:ix_index`; fills of one route share it')
      .optional(),
    route_program: schema.address('The program that routed the trade').optional(),
    hop: schema.count('Position of the fill in its route, from 1').optional(),
    hops: schema.count('Number of fills in the route').optional(),
    failed: z
      .literal(false)
      .describe('Always this value: a failed transaction trades nothing and is not listed'),
    source: sourceMark('the trade is')
  })
  .meta({ id: 'Trade', description: 'A trade with its executed amounts' })

export const WALLET_TRADE = TRADE.extend({
  wallet: schema.address('The requested wallet, which is the trader'),
  side: z.enum(['buy', 'sell']).nullable().describe(`Side of the wallet; ${NO_CASH}`)
}).meta({ id: 'WalletTrade', description: 'A trade of a wallet with its executed amounts' })

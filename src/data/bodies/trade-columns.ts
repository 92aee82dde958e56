import type { z } from 'zod'
import type { TRADE } from './trade-schema.ts'

/**
 * Columns of trades as CSV and Parquet. The order is a contract: it never changes, and new columns come last. `fees`, `legs`
 * and `reserves` are JSON.
 */
export const TRADE_COLUMNS = [
  'cursor',
  'ts',
  'ts_ms',
  'block_time',
  'slot',
  'signature',
  'tx_index',
  'ix_index',
  'inner_ix_index',
  'venue',
  'program',
  'pool',
  'kind',
  'event',
  'is_buy',
  'mint',
  'decimals',
  'cash_mint',
  'cash_symbol',
  'cash_amount',
  'cash_amount_raw',
  'token_amount',
  'token_amount_raw',
  'price',
  'price_usd',
  'amount_usd',
  'trader',
  'user',
  'fee_payer',
  'in_mint',
  'out_mint',
  'exec_in',
  'exec_out',
  'in_amount_raw',
  'out_amount_raw',
  'trader_in_raw',
  'trader_out_raw',
  'fee_raw',
  'fee_mint',
  'fees',
  'legs',
  'reserves',
  'exact',
  'price_forming',
  'route_id',
  'route_program',
  'hop',
  'hops',
  'failed',
  'commitment',
  'source'
] as const satisfies readonly (keyof z.input<typeof TRADE>)[]

/** Columns of the trades of a wallet. */
export const WALLET_TRADE_COLUMNS = [...TRADE_COLUMNS, 'wallet', 'side'] as const

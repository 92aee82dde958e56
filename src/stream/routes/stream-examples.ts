import type { z } from 'zod'
import { ledgerEntryEvent, type LEDGER_ENTRY_EVENT } from '../../revenue/bodies/ledger-entry.ts'
import type {
  CURVE_EVENT,
  LAUNCH_EVENT,
  LIQUIDITY_EVENT,
  POOL_EVENT,
  PRICE_TICK,
  TRADE_EVENT
} from '../bodies/stream-schema.ts'
import type { SUBMISSION_CHANGE } from '../../transactions/bodies/submission-change.ts'
import type { WEBHOOK_CHANGE } from '../../webhooks/bodies/webhook-change.ts'
import { WSOL } from '../../market/cash.ts'
import { walletCursor } from '../../market/cursor.ts'

/** Example events of the AsyncAPI document. */

const MINT = '7Zy1A9AadsfUWed4vj9DhaKVExxJcame1g648uMeHju4'
const CURVE = '9G65wd5poz6ZPkZUGiBCCt9usJFL5Jy6DmU54yYrRP8F'
const POOL = '3UcGGBYkngUdA6grfppY7shu4RLaYqKPS96ikpyrnZat'
const USER = 'FrTqvWe21yaaAwMemRVpBYT7HsDjHpyVnxndzkxrb9PY'
const WATCHED = '3zi7ET8HFv7CbfQ87Y9ziuNidLZz7biTeG5jTusE7LUm'

const ORIGIN = {
  slot: 300_000_000,
  block_time: 1_730_000_000,
  ts_ms: 1_730_000_000_450,
  signature: '492ecoUSdvsw4NVRogxp139oVR3uyjs32nzwK2w32zVMQshfX3cJHayTZt29kBbuCwzpgro3v6PvtGsNP8kHtVSb',
  tx_index: 6,
  ix_index: 2,
  inner_ix_index: null,
  commitment: 'confirmed',
  user: USER,
  fee_payer: USER
} as const

const PUMPFUN = {
  venue: 'pumpfun',
  program: '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P',
  pool: CURVE
} as const
const CLMM = {
  venue: 'raydium-clmm',
  program: 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK',
  pool: POOL
} as const
const at = (position: number): number => ORIGIN.slot * 2 ** 20 + position

export const EXAMPLE_POOL = POOL
export const EXAMPLE_MINT = MINT
export const EXAMPLE_USER = USER

export const EXAMPLE_TRADE: z.input<typeof TRADE_EVENT> = {
  kind: 'trade',
  event: 'sell',
  ...PUMPFUN,
  ...ORIGIN,
  cursor: at(8),
  ts: '2024-10-27 03:33:20',
  trader: USER,
  mint: MINT,
  decimals: 6,
  is_buy: 0,
  cash_mint: WSOL,
  cash_symbol: 'SOL',
  cash_amount: 0.5,
  cash_amount_raw: '500000000',
  token_amount: 1_000_000,
  token_amount_raw: '1000000000000',
  price: 5e-7,
  amount_usd: 85,
  price_usd: 0.000085,
  in_mint: MINT,
  out_mint: WSOL,
  exec_in: 1_000_000,
  exec_out: 0.5,
  in_amount_raw: '1000000000000',
  out_amount_raw: '500000000',
  trader_in_raw: '1000000000000',
  trader_out_raw: '495000000',
  fees: [{ kind: 'protocol', mint: WSOL, amount_raw: '5000000' }],
  fee_raw: '5000000',
  fee_mint: WSOL,
  reserves: {
    in_raw: '311741010178185',
    out_raw: '24407993237',
    virtual_in_raw: '591641010178185',
    virtual_out_raw: '54407993237'
  },
  exact: 'in',
  price_forming: true,
  failed: false
}

export const EXAMPLE_WALLET_TRADE = { ...EXAMPLE_TRADE, cursor: walletCursor(EXAMPLE_TRADE.cursor) }

export const EXAMPLE_TICK: z.input<typeof PRICE_TICK> = {
  mint: MINT,
  price: 5e-7,
  cash_mint: WSOL,
  venue: 'pumpfun',
  slot: ORIGIN.slot,
  block_time: ORIGIN.block_time,
  ts_ms: ORIGIN.ts_ms,
  cursor: at(9)
}

export const EXAMPLE_LAUNCH: z.input<typeof LAUNCH_EVENT> = {
  kind: 'launch',
  event: 'create',
  ...PUMPFUN,
  ...ORIGIN,
  cursor: at(0),
  ingested_at: '2024-10-27 03:33:20.450',
  ts: '2024-10-27 03:33:20',
  creator: USER,
  mint: MINT,
  base_mint: MINT,
  quote_mint: WSOL,
  symbol: 'PUFN',
  name: 'Basalt Puffin',
  uri: 'https://coins.example.org/pufn.json',
  decimals: 6,
  supply_raw: '1000000000000000',
  curve: CURVE
}

export const EXAMPLE_CURVE: z.input<typeof CURVE_EVENT> = {
  kind: 'curve',
  event: 'create',
  ...PUMPFUN,
  ...ORIGIN,
  cursor: at(4),
  base_mint: MINT,
  quote_mint: WSOL,
  curve: CURVE,
  progress_pct: 0,
  reserves: {
    real_base_raw: '793100000000000',
    real_quote_raw: '0',
    virtual_base_raw: '1073000000000000',
    virtual_quote_raw: '30000000000'
  }
}

export const EXAMPLE_POOL_EVENT: z.input<typeof POOL_EVENT> = {
  kind: 'pool',
  event: 'create',
  ...CLMM,
  ...ORIGIN,
  cursor: at(22),
  base_mint: MINT,
  quote_mint: WSOL,
  base_vault: '12k1m6wD17ho4Ls5279i9RXTGoQFu8LfKgJYWfiLFpwU',
  quote_vault: '37FC1pEjPaU8NwRCU3R2RHjB3c9sfgAJqAH9TA8tNSTX',
  fee_bps: 25,
  initial_base_raw: null,
  initial_quote_raw: null
}

export const EXAMPLE_LIQUIDITY: z.input<typeof LIQUIDITY_EVENT> = {
  kind: 'liquidity',
  event: 'add',
  ...CLMM,
  ...ORIGIN,
  cursor: at(30),
  base_mint: MINT,
  quote_mint: WSOL,
  base_amount: 2_000_000,
  quote_amount: 1,
  base_amount_raw: '2000000000000',
  quote_amount_raw: '1000000000',
  lp_amount_raw: null,
  position: '37FC1pEjPaU8NwRCU3R2RHjB3c9sfgAJqAH9TA8tNSTX'
}

const CHANGE = {
  webhook_id: 196_744_173_809_221,
  url: 'https://example.com/hook',
  ts_ms: ORIGIN.ts_ms,
  cursor: at(2 ** 20 - 1)
} as const

export const EXAMPLE_DEACTIVATION: z.input<typeof WEBHOOK_CHANGE> = {
  event: 'deactivated',
  ...CHANGE,
  reason: 'consecutive_failures'
}

export const EXAMPLE_DROPS: z.input<typeof WEBHOOK_CHANGE> = { event: 'dropped', ...CHANGE, dropped: 64 }

export const EXAMPLE_SUBMISSION_CHANGE: z.input<typeof SUBMISSION_CHANGE> = {
  event: 'confirmed',
  signature: '492ecoUSdvsw4NVRogxp139oVR3uyjs32nzwK2w32zVMQshfX3cJHayTZt29kBbuCwzpgro3v6PvtGsNP8kHtVSb',
  route: 'node',
  bundle_id: null,
  commitment: 'confirmed',
  slot: ORIGIN.slot,
  err: null,
  rebroadcasts: 1,
  landed_ms: 1_240,
  received_at_ms: ORIGIN.ts_ms - 1_600,
  ts_ms: ORIGIN.ts_ms,
  cursor: at(2 ** 20 - 1)
}

export const EXAMPLE_LEDGER_ENTRY: z.input<typeof LEDGER_ENTRY_EVENT> = {
  ...ledgerEntryEvent(
    'entry',
    {
      address: WATCHED,
      account: WATCHED,
      mint: WSOL,
      isNative: true,
      txIndex: 0,
      index: 0,
      decimals: 9,
      pre: 1_200_000_000n,
      post: 1_204_500_000n,
      valueUsd: 0.765,
      kind: 'fee',
      feeLamports: 5_000n,
      feePayer: USER,
      feeUsd: null,
      counterparty: USER,
      confidence: 'exact',
      signature: ORIGIN.signature,
      slot: ORIGIN.slot,
      ixIndex: ORIGIN.ix_index,
      blockTime: ORIGIN.block_time
    },
    { label: 'Creator fees', role: 'creator', symbol: 'SOL' },
    ORIGIN.ts_ms
  ),
  cursor: at(2 ** 20 - 1)
}

export const EXAMPLE_LEDGER_RETRACTION: z.input<typeof LEDGER_ENTRY_EVENT> = {
  ...EXAMPLE_LEDGER_ENTRY,
  event: 'retracted',
  cursor: at(2 ** 21 - 1)
}

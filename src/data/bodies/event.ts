import { z } from 'zod'
import { encodeBase58 } from '../../chain/base58.ts'
import type { CurveChange, EventKind, LiquidityChange, PoolChange } from '../../chain/events.ts'
import { pubkeyToBase58, type Pubkey } from '../../chain/pubkey.ts'
import { humanAmount } from '../../market/amount.ts'
import { SOL_DECIMALS } from '../../market/cash.ts'
import type { PoolEventRow, RowOrigin } from '../../market/rows.ts'
import * as schema from '../../kernel/http/schema.ts'
import { secondsText } from '../../kernel/http/time.ts'

/** Schemas of the fields that every event has. */
export const EVENT_FIELDS = {
  venue: schema.venue('Venue of the event'),
  program: schema.address("The venue's program"),
  pool: schema.address('The pool, curve or market account'),
  slot: schema.count('Slot of the block'),
  block_time: schema.blockTime('Time of the block'),
  ts_ms: schema.unixMs('Time of the block', 'block'),
  signature: schema.signature('The transaction'),
  tx_index: schema.count('Index of the transaction in its block'),
  ix_index: schema.count('Index of the outer instruction in its transaction'),
  inner_ix_index: schema
    .count('Index among the inner instructions of the outer one')
    .nullable()
    .describe('Index among the inner instructions of the outer one; null for the outer one itself'),
  cursor: schema.count('Position in the order of all events: slot × 2^20 + position in the slot'),
  commitment: z
    .enum(['processed', 'confirmed', 'finalized'])
    .describe('Commitment of the block when it was indexed'),
  user: schema.address('User of the event'),
  fee_payer: schema.address('Payer of the transaction fee')
} as const

/** Renders the fields that every event has (src/docs/stream.md), in snake_case. */
export function eventFields<Kind extends EventKind, Event extends string>(
  row: RowOrigin,
  kind: Kind,
  event: Event
) {
  return {
    kind,
    event,
    venue: row.venue,
    program: pubkeyToBase58(row.program),
    pool: pubkeyToBase58(row.pool),
    slot: row.slot,
    block_time: row.blockTime,
    ts_ms: row.blockTime * 1000,
    signature: encodeBase58(row.signature),
    tx_index: row.txIndex,
    ix_index: row.ixIndex,
    inner_ix_index: row.innerIxIndex,
    cursor: row.cursor,
    commitment: row.commitment,
    user: pubkeyToBase58(row.user),
    fee_payer: pubkeyToBase58(row.feePayer)
  }
}

/** Renders a liquidity, curve or pool event. */
export function poolEventBody(row: PoolEventRow) {
  const { body } = row
  const fields = eventFields(row, body.kind, body.event)
  switch (body.kind) {
    case 'liquidity':
      return { ...fields, ...liquidityFields(body) }
    case 'curve':
      return { ...fields, ...curveFields(body) }
    case 'pool':
      return { ...fields, ...poolFields(body) }
  }
}

export function addressOrNull(key: Pubkey | null): string | null {
  return key === null ? null : pubkeyToBase58(key)
}

export function rawOrNull(amount: bigint | null | undefined): string | null {
  return amount === null || amount === undefined ? null : amount.toString()
}

/** Converts base units to human units; null when either is unknown. */
export function humanOrNull(amount: bigint | null | undefined, decimals: number | null): number | null {
  if (amount === null || amount === undefined || decimals === null) return null
  return humanAmount(amount, decimals)
}

/** Renders the number of trades that a sum in USD lacks; renders nothing if the sum is complete. */
export function unpricedIn(trades: number): { unpriced_trades?: number } {
  return trades > 0 ? { unpriced_trades: trades } : {}
}

/** Renders the number of trades that a sum in USD of the last day lacks. */
export function unpricedInDay(trades: number): { unpriced_trades_24h?: number } {
  return trades > 0 ? { unpriced_trades_24h: trades } : {}
}

/** Renders the number of pools that a token's liquidity lacks; renders nothing if the liquidity is complete. */
export function unvaluedIn({ unvaluedPools }: { readonly unvaluedPools: number }): {
  unvalued_pools?: number
} {
  return unvaluedPools > 0 ? { unvalued_pools: unvaluedPools } : {}
}

/** Converts millionths of a USD to USD. */
export function usdOrNull(microUsd: bigint | null): number | null {
  return microUsd === null ? null : Number(microUsd) / 1e6
}

/** Converts lamports to SOL. */
export function solAmount(lamports: bigint): number {
  return humanAmount(lamports, SOL_DECIMALS)
}

export function timeOrNull(unixSeconds: number | null | undefined): string | null {
  return unixSeconds === null || unixSeconds === undefined ? null : secondsText(unixSeconds)
}

function liquidityFields(body: LiquidityChange) {
  const { baseAmount, quoteAmount, traderBase, traderQuote } = body
  return {
    base_mint: addressOrNull(body.baseMint),
    quote_mint: addressOrNull(body.quoteMint),
    // Unknown decimals occur only with an amount of zero.
    base_amount: humanAmount(baseAmount, body.baseDecimals ?? 0),
    quote_amount: humanAmount(quoteAmount, body.quoteDecimals ?? 0),
    base_amount_raw: baseAmount.toString(),
    quote_amount_raw: quoteAmount.toString(),
    ...(traderBase !== baseAmount && { trader_base_amount_raw: rawOrNull(traderBase) }),
    ...(traderQuote !== quoteAmount && { trader_quote_amount_raw: rawOrNull(traderQuote) }),
    lp_amount_raw: rawOrNull(body.lpAmount),
    position: addressOrNull(body.position)
  }
}

function curveFields(body: CurveChange) {
  const { reserves } = body
  return {
    base_mint: pubkeyToBase58(body.baseMint),
    quote_mint: addressOrNull(body.quoteMint),
    curve: pubkeyToBase58(body.curve),
    progress_pct: body.progressPct,
    // A migration's `pool` is its destination; before that the curve is the pool.
    pool: pubkeyToBase58(body.destination ?? body.pool),
    reserves:
      reserves === null
        ? null
        : {
            real_base_raw: rawOrNull(reserves.realBase),
            real_quote_raw: rawOrNull(reserves.realQuote),
            virtual_base_raw: rawOrNull(reserves.virtualBase),
            virtual_quote_raw: rawOrNull(reserves.virtualQuote)
          }
  }
}

function poolFields(body: PoolChange) {
  return {
    base_mint: pubkeyToBase58(body.baseMint),
    quote_mint: pubkeyToBase58(body.quoteMint),
    base_vault: addressOrNull(body.baseVault),
    quote_vault: addressOrNull(body.quoteVault),
    fee_bps: body.feeBps,
    initial_base_raw: rawOrNull(body.initialBase),
    initial_quote_raw: rawOrNull(body.initialQuote)
  }
}

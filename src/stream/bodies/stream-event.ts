import { pubkeyToBase58 } from '../../chain/pubkey.ts'
import type { CashList } from '../../market/cash.ts'
import type { LaunchRow, PoolEventRow, TradeRow } from '../../market/rows.ts'
import { poolEventBody } from '../../data/bodies/event.ts'
import { launchBody } from '../../data/bodies/launch.ts'
import type { LaunchData, PoolEventData, PriceData, TradeData } from './stream-schema.ts'
import { tradeFields } from '../../data/bodies/trade.ts'

/**
 * Builds the `data` of stream events without the last field, `cursor`, which differs by channel. The documented
 * fields come first (src/docs/stream.md); the others are those of rows. `ts_ms` is the time of ingest, not the
 * block's time as in rows.
 */

export const tradeEvent = (row: TradeRow, receivedAtMs: number, cash: CashList): TradeData =>
  // The stream has decoded trades alone, which lack no fact.
  tradeFields(row, cash, receivedAtMs, undefined) as TradeData

/** Omits the status: an event describes its own block. */
export function launchEvent(row: LaunchRow): LaunchData {
  const body = launchBody(row)
  const { slot, venue, event, base_mint, symbol, name, user, ts_ms, cursor, status, ...others } = body
  return { slot, venue, event, base_mint, symbol, name, user, ts_ms: row.ingestedAtMs, ...others }
}

export function poolEvent(row: PoolEventRow, receivedAtMs: number): PoolEventData {
  const { slot, venue, event, ts_ms, cursor, ...others } = poolEventBody(row)
  // After the reordering, the compiler no longer infers which kind belongs to which event.
  return { slot, venue, event, ts_ms: receivedAtMs, ...others } as PoolEventData
}

/** Builds a price tick from a trade that has a cash side and forms a price. */
export function priceTick(row: TradeRow, receivedAtMs: number): PriceData {
  return {
    mint: pubkeyToBase58(row.mint),
    price: row.price!,
    cash_mint: pubkeyToBase58(row.cashSide === 'in' ? row.inMint : row.outMint),
    venue: row.venue,
    slot: row.slot,
    block_time: row.blockTime,
    ts_ms: receivedAtMs
  }
}

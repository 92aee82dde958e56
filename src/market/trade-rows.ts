import type { Trade } from '../chain/events.ts'
import type { Pubkey } from '../chain/pubkey.ts'
import type { BlockEntry, DecodedBlock } from './block.ts'
import { COPY_OFFSETS } from './cursor.ts'
import type { Side } from './legs.ts'
import type { UnpricedRow } from './pairs.ts'
import type { RowOrigin, TradeRow } from './rows.ts'

/** Returns the place of an event in the chain, as its rows have it. */
export function originOf(block: DecodedBlock, entry: BlockEntry, cursor: number): RowOrigin {
  const { slot, blockTime, commitment } = block
  const { signature, txIndex, feePayer } = entry
  const { ixIndex, innerIxIndex, venue, program, pool, user } = entry.event
  const place = { cursor, slot, blockTime, signature, txIndex, ixIndex, innerIxIndex }
  return { ...place, venue, program, pool, user, feePayer, commitment }
}

/** One row for each mint that a trade is listed under, the event's own first. */
export type TradeRows = readonly [TradeRow, ...TradeRow[]]

/** Returns the row of a trade without its price. Field by field: to spread the three objects takes several times as long. */
export function unpricedRow(
  origin: RowOrigin,
  trade: Trade,
  mint: Pubkey,
  cashSide: Side | null,
  cashUsd: number | null,
  vaults: TradeRow['vaults']
): UnpricedRow {
  const row: { -readonly [Field in keyof TradeRow]: TradeRow[Field] } = {
    cursor: origin.cursor,
    slot: origin.slot,
    blockTime: origin.blockTime,
    signature: origin.signature,
    txIndex: origin.txIndex,
    ixIndex: origin.ixIndex,
    innerIxIndex: origin.innerIxIndex,
    venue: origin.venue,
    program: origin.program,
    pool: origin.pool,
    user: origin.user,
    feePayer: origin.feePayer,
    commitment: origin.commitment,
    inMint: trade.inMint,
    outMint: trade.outMint,
    inDecimals: trade.inDecimals,
    outDecimals: trade.outDecimals,
    inAmount: trade.inAmount,
    outAmount: trade.outAmount,
    traderIn: trade.traderIn,
    traderOut: trade.traderOut,
    fees: trade.fees,
    reserves: trade.reserves,
    exact: trade.exact,
    route: trade.route,
    mint,
    cashSide,
    price: null,
    cashUsd,
    priceForming: false
  }
  if (trade.statedCurve !== undefined) row.statedCurve = trade.statedCurve
  if (trade.unstated !== undefined) row.unstated = trade.unstated
  if (vaults !== undefined) row.vaults = vaults
  return row
}

/** Rows of a trade without a cash side, listed under both mints; no row has a price or a candle. */
export function swapRows(origin: RowOrigin, trade: Trade, vaults: TradeRow['vaults']): TradeRows {
  const rowOf = (mint: Pubkey, offset: number): TradeRow =>
    unpricedRow({ ...origin, cursor: origin.cursor + offset }, trade, mint, null, null, vaults)
  const { tradesIn, tradesOut } = COPY_OFFSETS.swap
  return [rowOf(trade.inMint, tradesIn), rowOf(trade.outMint, tradesOut)]
}

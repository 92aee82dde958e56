import type { z } from 'zod'
import { encodeBase58 } from '../../chain/base58.ts'
import { isUnstated } from '../../chain/events.ts'
import { pubkeyToBase58, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { humanAmount } from '../../market/amount.ts'
import type { CashList } from '../../market/cash.ts'
import { legOf, type Leg } from '../../market/legs.ts'
import type { TradeRow } from '../../market/rows.ts'
import { rawOrNull } from './event.ts'
import { sourceOfSlot, type ArchiveEnd, type SourceMark } from '../../ingest/bodies/source.ts'
import { secondsText } from '../../kernel/http/time.ts'
import type { TRADE, WALLET_TRADE } from './trade-schema.ts'

type TradeBody = z.input<typeof TRADE>

/** Renders a trade as a row, with the fields that every event has. */
export function tradeBody(row: TradeRow, cash: CashList, archiveEnd: ArchiveEnd = null): TradeBody {
  return tradeFields(
    row,
    cash,
    row.blockTime * 1000,
    row.cursor,
    sourceOfSlot(row.slot, archiveEnd)
  ) as TradeBody
}

/** Fields of a trade that only some lists have. */
interface ListFields extends SourceMark {
  readonly wallet?: string
  readonly side?: 'buy' | 'sell' | null
}

/**
 * Renders a trade's fields at a time in Unix milliseconds, in the order of stream events (src/docs/endpoints.md), the cursor
 * and those of a list last. Absent fields are undefined and not written. A single object literal, because V8 writes that
 * fastest.
 */
export function tradeFields(
  row: TradeRow,
  cash: CashList,
  tsMs: number,
  cursor: number | undefined,
  { source, wallet, side }: ListFields = {}
) {
  const { cashSide, cashUsd, price, fees, route } = row
  const inMint = pubkeyToBase58(row.inMint)
  const outMint = pubkeyToBase58(row.outMint)
  const execIn = humanAmount(row.inAmount, row.inDecimals)
  const execOut = humanAmount(row.outAmount, row.outDecimals)
  const inRaw = row.inAmount.toString()
  const outRaw = row.outAmount.toString()
  const isTokenIn = cashSide === null ? samePubkey(row.mint, row.inMint) : cashSide === 'out'
  const cashAmount = cashSide === null ? null : isTokenIn ? execOut : execIn
  const user = isUnstated(row, 'user') ? null : pubkeyToBase58(row.user)
  // A stored page has one object for each address, and most addresses of a row are among these.
  const textOf = (key: Pubkey): string =>
    key === row.outMint ? outMint : key === row.inMint ? inMint : pubkeyToBase58(key)
  const feePayer = row.feePayer === row.user && user !== null ? user : null
  const signature = encodeBase58(row.signature)
  const isOneFeeMint = fees.length > 0 && fees.every((fee) => samePubkey(fee.mint, fees[0]!.mint))
  return {
    venue: row.venue,
    event: cashSide === null ? 'swap' : cashSide === 'in' ? 'buy' : 'sell',
    exec_in: execIn,
    exec_out: execOut,
    slot: isUnstated(row, 'slot') ? null : row.slot,
    ts_ms: tsMs,
    kind: 'trade',
    program: pubkeyToBase58(row.program),
    pool: isUnstated(row, 'pool') ? null : pubkeyToBase58(row.pool),
    block_time: row.blockTime,
    ts: secondsText(row.blockTime),
    signature,
    tx_index: isUnstated(row, 'txIndex') ? null : row.txIndex,
    ix_index: isUnstated(row, 'ixIndex') ? null : row.ixIndex,
    inner_ix_index: row.innerIxIndex,
    commitment: row.commitment,
    user,
    trader: user,
    fee_payer: isUnstated(row, 'feePayer') ? null : (feePayer ?? pubkeyToBase58(row.feePayer)),
    mint: isTokenIn ? inMint : outMint,
    decimals: isTokenIn ? row.inDecimals : row.outDecimals,
    is_buy: cashSide === null ? null : cashSide === 'in' ? 1 : 0,
    cash_mint: cashSide === null ? null : isTokenIn ? outMint : inMint,
    cash_symbol: cashSide === null ? null : (cash.of(isTokenIn ? row.outMint : row.inMint)?.symbol ?? null),
    cash_amount: cashAmount,
    cash_amount_raw: cashSide === null ? null : isTokenIn ? outRaw : inRaw,
    token_amount: isTokenIn ? execIn : execOut,
    token_amount_raw: isTokenIn ? inRaw : outRaw,
    price,
    amount_usd: cashAmount === null || cashUsd === null ? null : cashAmount * cashUsd,
    price_usd: cashUsd === null || price === null ? null : price * cashUsd,
    legs: cashSide === null ? [legBody(legOf(row, 'in')), legBody(legOf(row, 'out'))] : undefined,
    in_mint: inMint,
    out_mint: outMint,
    in_amount_raw: inRaw,
    out_amount_raw: outRaw,
    // Usually equal to the fill, whose text already exists.
    trader_in_raw: row.traderIn === row.inAmount ? inRaw : row.traderIn.toString(),
    trader_out_raw: row.traderOut === row.outAmount ? outRaw : row.traderOut.toString(),
    fees: fees.map((fee) => ({
      kind: fee.kind,
      mint: textOf(fee.mint),
      amount_raw: fee.amount.toString()
    })),
    fee_raw: isOneFeeMint ? fees.reduce((sum, fee) => sum + fee.amount, 0n).toString() : undefined,
    fee_mint: isOneFeeMint ? textOf(fees[0]!.mint) : undefined,
    reserves: reservesBody(row),
    exact: row.exact,
    price_forming: row.priceForming,
    route_id: route === null ? undefined : [signature, route.ixIndex].join(':'),
    route_program: route === null ? undefined : pubkeyToBase58(route.program),
    hop: route?.hop,
    hops: route?.hops,
    failed: false,
    cursor,
    source,
    wallet,
    side
  } as const
}

/** Renders a trade in the list of a wallet. */
export function walletTradeBody(
  row: TradeRow,
  cash: CashList,
  archiveEnd: ArchiveEnd = null
): z.input<typeof WALLET_TRADE> {
  return tradeFields(row, cash, row.blockTime * 1000, row.cursor, {
    ...sourceOfSlot(row.slot, archiveEnd),
    wallet: pubkeyToBase58(row.user),
    side: row.cashSide === null ? null : row.cashSide === 'in' ? 'buy' : 'sell'
  }) as z.input<typeof WALLET_TRADE>
}

function legBody(leg: Leg) {
  return {
    mint: pubkeyToBase58(leg.mint),
    amount_raw: leg.amount.toString(),
    amount: humanAmount(leg.amount, leg.decimals),
    decimals: leg.decimals
  }
}

function reservesBody(row: TradeRow) {
  if (row.reserves === null) return null
  return {
    in_raw: rawOrNull(row.reserves.in),
    out_raw: rawOrNull(row.reserves.out),
    virtual_in_raw: rawOrNull(row.reserves.virtualIn),
    virtual_out_raw: rawOrNull(row.reserves.virtualOut)
  }
}

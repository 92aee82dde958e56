import { encodeBase58 } from '../chain/base58.ts'
import { pubkeyToBase58, samePubkey } from '../chain/pubkey.ts'
import { humanAmount } from '../market/amount.ts'
import type { CashList } from '../market/cash.ts'
import { legOf, otherSide, type Leg } from '../market/legs.ts'
import type { TradeRow } from '../market/rows.ts'
import { eventFields, rawOrNull } from './event.ts'
import { secondsText } from './time.ts'

/** A trade as served: the row of spec choices section 2 with the event's fields of sections 15 and 16. */
export function tradeBody(row: TradeRow, cash: CashList) {
  const event = row.cashSide === null ? 'swap' : row.cashSide === 'in' ? 'buy' : 'sell'
  const user = pubkeyToBase58(row.user)
  return {
    ...eventFields(row, 'trade', event),
    trader: user,
    ...sideFields(row, cash),
    in_mint: pubkeyToBase58(row.inMint),
    out_mint: pubkeyToBase58(row.outMint),
    exec_in: humanAmount(row.inAmount, row.inDecimals),
    exec_out: humanAmount(row.outAmount, row.outDecimals),
    in_amount_raw: row.inAmount.toString(),
    out_amount_raw: row.outAmount.toString(),
    trader_in_raw: row.traderIn.toString(),
    trader_out_raw: row.traderOut.toString(),
    fees: row.fees.map((fee) => ({
      kind: fee.kind,
      mint: pubkeyToBase58(fee.mint),
      amount_raw: fee.amount.toString()
    })),
    ...feeTotal(row),
    reserves: reservesBody(row),
    exact: row.exact,
    price_forming: row.priceForming,
    ...routeFields(row),
    ts: secondsText(row.blockTime),
    failed: false as const
  }
}

function sideFields(row: TradeRow, cash: CashList) {
  if (row.cashSide === null)
    return { ...unpricedFields(row), legs: [legBody(legOf(row, 'in')), legBody(legOf(row, 'out'))] }
  const paid = legOf(row, row.cashSide)
  const token = legOf(row, otherSide(row.cashSide))
  const cashAmount = humanAmount(paid.amount, paid.decimals)
  return {
    mint: pubkeyToBase58(row.mint),
    decimals: token.decimals,
    is_buy: row.cashSide === 'in' ? 1 : 0,
    cash_mint: pubkeyToBase58(paid.mint),
    cash_symbol: cash.of(paid.mint)?.symbol ?? null,
    cash_amount: cashAmount,
    cash_amount_raw: paid.amount.toString(),
    token_amount: humanAmount(token.amount, token.decimals),
    token_amount_raw: token.amount.toString(),
    price: row.price,
    amount_usd: row.cashUsd === null ? null : cashAmount * row.cashUsd,
    price_usd: row.cashUsd === null || row.price === null ? null : row.price * row.cashUsd
  }
}

/** Without a cash side the money fields are null, and `legs` holds both amounts. */
function unpricedFields(row: TradeRow) {
  const own = samePubkey(row.mint, row.inMint) ? legOf(row, 'in') : legOf(row, 'out')
  return {
    mint: pubkeyToBase58(row.mint),
    decimals: own.decimals,
    is_buy: null,
    cash_mint: null,
    cash_symbol: null,
    cash_amount: null,
    cash_amount_raw: null,
    token_amount: humanAmount(own.amount, own.decimals),
    token_amount_raw: own.amount.toString(),
    price: null,
    amount_usd: null,
    price_usd: null
  }
}

function legBody(leg: Leg) {
  return {
    mint: pubkeyToBase58(leg.mint),
    amount_raw: leg.amount.toString(),
    amount: humanAmount(leg.amount, leg.decimals),
    decimals: leg.decimals
  }
}

/** The sum of the fees, where they are all in one mint. */
function feeTotal(row: TradeRow) {
  const [first] = row.fees
  if (first === undefined || row.fees.some((fee) => !samePubkey(fee.mint, first.mint))) return {}
  return {
    fee_raw: row.fees.reduce((sum, fee) => sum + fee.amount, 0n).toString(),
    fee_mint: pubkeyToBase58(first.mint)
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

/** `route_id` names the outer instruction that routed; its legs share it. */
function routeFields(row: TradeRow) {
  if (row.route === null) return {}
  return {
    route_id: `${encodeBase58(row.signature)}:${row.route.ixIndex}`,
    route_program: pubkeyToBase58(row.route.program),
    hop: row.route.hop,
    hops: row.route.hops
  }
}

import type { Emitter } from '../emitter.ts'
import type { Fee } from '../events.ts'
import { readFill } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import { LayoutTable } from '../layout.ts'
import type { Venue } from '../venue.ts'
import {
  BID,
  EVENTS,
  INSTRUCTIONS,
  LOG_TAG,
  initializeMarket,
  placeLimitOrder,
  placeLimitOrderWithFreeFunds,
  swap,
  swapWithFreeFunds
} from './phoenix-layouts.ts'
import { readOrderLog, type OrderLog, type Summary } from './phoenix-order-log.ts'

/**
 * An order book: a take is one trade, however many makers it fills. The log states the trade in lots, whose sizes are only
 * in the market's account. The transfers state it in base units, but include the resting share of a limit order and omit
 * the trader's free funds in the market. A trade is emitted only if both readings agree.
 */
export const phoenix: Venue = {
  id: 'phoenix',
  programs: ['PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY'],
  transport: 'self-call',
  instructions: new LayoutTable(INSTRUCTIONS),
  events: new LayoutTable(EVENTS),
  statedEventOffset: (data) => (data[0] === LOG_TAG ? 1 : -1),
  decode(call, emit) {
    if (call.is(swap)) decodeOrder(call, emit, swap)
    else if (call.is(placeLimitOrder)) decodeOrder(call, emit, placeLimitOrder)
    else if (call.is(swapWithFreeFunds)) decodeFreeFunds(call, emit)
    else if (call.is(placeLimitOrderWithFreeFunds)) decodeFreeFunds(call, emit)
    else if (call.is(initializeMarket)) decodeMarket(call, emit)
  }
}

/** Notes a fill from funds held in the market: no token moves, so the fill is known only in lots. */
function decodeFreeFunds(call: Invocation, emit: Emitter): void {
  const log = readOrderLog(call)
  if (log === null || !log.complete) return emit.missing('event-missing')
  const baseLots = log.summary?.baseLots ?? 0n
  if (baseLots > 0n) emit.missing('no-movements', `filled ${baseLots} lots from funds held in the market`)
}

function decodeOrder(call: Invocation, emit: Emitter, order: typeof swap | typeof placeLimitOrder): void {
  const accounts = order.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const log = readOrderLog(call)
  const isReadable = log !== null && log.complete
  if (!isReadable && order === placeLimitOrder) return emit.missing('event-missing')
  const taken = isReadable ? log.summary : null
  if (isReadable && (taken === null || taken.baseLots === 0n)) return
  const quoteVault = call.account(accounts.quoteVault)
  const fill = readFill(call, {
    vaults: [call.account(accounts.baseVault), quoteVault],
    source: -1,
    destination: -1
  })
  if (fill.kind === 'none') return emit.missing(fill.reason, `${taken?.baseLots ?? 'unknown'} lots filled`)
  const isBid = fill.inVault === quoteVault
  let inAmount = fill.inGross
  const fees: Fee[] = []
  if (isReadable && taken !== null) {
    const lots = lotSizes(log, taken, isBid, fill.inGross, fill.outGross)
    if (lots === null) return emit.missing('readings-contradict', 'transfers do not fit the lots filled')
    inAmount = lots.filledIn
    const mint = isBid ? fill.inMint : fill.outMint
    if (lots.fee > 0n) fees.push({ kind: 'trading', mint, amount: lots.fee })
  }
  const traderAccounts = [call.account(accounts.baseAccount), call.account(accounts.quoteAccount)]
  emit.trade({
    pool: call.key(accounts.market)!,
    user: call.tokens.trader(call.account(accounts.trader), traderAccounts),
    inMint: fill.inMint,
    outMint: fill.outMint,
    inAmount,
    outAmount: fill.outGross,
    vaults: [fill.inVault, fill.outVault],
    fees,
    exact: order === swap ? fixedSide(call) : null
  })
}

function fixedSide(call: Invocation): 'in' | 'out' | null {
  const args = call.args(swap)
  if (args === null) return null
  const paysFixed = args.value.side === BID ? args.value.quoteLots : args.value.baseLots
  return paysFixed > 0n ? 'in' : 'out'
}

/**
 * Returns the fill in base units. The output is the fill alone; the input is the fill plus the amount locked for the
 * resting order, less the trader's free funds. Both must be whole lots of a power-of-ten size, as in every market; with
 * free funds in use that is true only by a rare accident.
 */
function lotSizes(
  log: OrderLog,
  taken: Summary,
  isBid: boolean,
  paidIn: bigint,
  paidOut: bigint
): { filledIn: bigint; fee: bigint } | null {
  const { baseLots, quoteLots, feeQuoteLots } = taken
  const [lotsIn, lotsOut] = isBid ? [quoteLots, baseLots] : [baseLots, quoteLots]
  const locked = lockedLots(log, taken, isBid)
  const sizeOut = lotSize(paidOut, lotsOut, lotsOut)
  const sizeIn = locked === null ? null : lotSize(paidIn, lotsIn + locked.least, lotsIn + locked.most)
  if (sizeIn === null || sizeOut === null) return null
  return { filledIn: lotsIn * sizeIn, fee: feeQuoteLots * (isBid ? sizeIn : sizeOut) }
}

/**
 * Returns the lots locked for the resting share of an order. A resting bid locks quote lots at its price. The worth of a
 * tick follows from the fills, up to the rounding of their sum.
 */
function lockedLots(log: OrderLog, taken: Summary, isBid: boolean): { least: bigint; most: bigint } | null {
  if (log.places.length === 0) return { least: 0n, most: 0n }
  if (!isBid) {
    const placed = log.places.reduce((lots, { baseLots }) => lots + baseLots, 0n)
    return { least: placed, most: placed }
  }
  const filledTicks = log.fills.reduce((sum, each) => sum + each.priceInTicks * each.baseLotsFilled, 0n)
  const placedTicks = log.places.reduce((sum, each) => sum + each.priceInTicks * each.baseLots, 0n)
  const filledLots = taken.quoteLots - taken.feeQuoteLots
  if (filledTicks === 0n || filledLots <= 0n) return null
  return {
    least: (placedTicks * (filledLots - 1n)) / filledTicks,
    most: (placedTicks * filledLots) / filledTicks
  }
}

/**
 * Returns the only power of ten that makes an amount a number of lots within two bounds; null unless exactly one does.
 */
function lotSize(amount: bigint, least: bigint, most: bigint): bigint | null {
  let found: bigint | null = null
  for (let size = 1n; size * least <= amount && size <= amount; size *= 10n) {
    if (size * most < amount || amount % size !== 0n) continue
    if (found !== null) return null
    found = size
  }
  return found
}

function decodeMarket(call: Invocation, emit: Emitter): void {
  const accounts = initializeMarket.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emit.pool({
    pool: call.key(accounts.market)!,
    user: call.tokens.trader(call.account(accounts.creator), []),
    baseMint: call.key(accounts.baseMint)!,
    quoteMint: call.key(accounts.quoteMint)!,
    baseVault: call.key(accounts.baseVault),
    quoteVault: call.key(accounts.quoteVault),
    feeBps: call.args(initializeMarket)?.value.takerFeeBps ?? null
  })
}

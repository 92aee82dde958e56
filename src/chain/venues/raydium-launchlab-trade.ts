import type { Emitter } from '../emitter.ts'
import type { CurveReserves, Fee, TradeReserves } from '../events.ts'
import type { Invocation } from '../invocation.ts'
import type { Pubkey } from '../pubkey.ts'
import type { Movement } from '../token-movement.ts'
import {
  buyExactIn,
  sellExactIn,
  tradeEvent,
  type TRADES,
  type TradeStated
} from './raydium-launchlab-layouts.ts'
import { soleTransfer } from '../sole-transfer.ts'

/** The two transfers of a trade, whose amounts the event states. */
interface Legs {
  readonly paid: Movement
  readonly received: Movement
}

interface CurveTrade {
  readonly event: TradeStated
  readonly authority: number
  readonly baseMint: Pubkey
  readonly quoteMint: Pubkey
  readonly legs: Legs
  /** Whether the instruction names the vaults; otherwise the amounts determine them. */
  readonly isNamed: boolean
  readonly exact: 'in' | 'out' | null
  readonly innerIxIndex: number | null
}

export function decodeTrade(call: Invocation, emit: Emitter, trade: (typeof TRADES)[number]): void {
  const accounts = trade.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const events = call.statedEvents(tradeEvent)
  const event = events[0]?.value
  if (event === undefined) return emit.missing('event-missing')
  const userBase = call.account(accounts.userBaseToken)
  const userQuote = call.account(accounts.userQuoteToken)
  const baseVault = call.account(accounts.baseVault)
  const quoteVault = call.account(accounts.quoteVault)
  const legs =
    event.tradeDirection === 'buy'
      ? findLegs(call, event, [userQuote, quoteVault], [baseVault, userBase])
      : findLegs(call, event, [userBase, baseVault], [quoteVault, userQuote])
  if (legs === null) return emit.missing('readings-contradict', contradiction(event))
  emitTrade(call, emit, {
    event,
    authority: call.account(accounts.payer),
    baseMint: call.key(accounts.baseTokenMint)!,
    quoteMint: call.key(accounts.quoteTokenMint)!,
    legs,
    isNamed: true,
    exact: trade === buyExactIn || trade === sellExactIn ? 'in' : 'out',
    innerIxIndex: call.instruction.innerIndex
  })
}

/** Decodes an unknown instruction that states trades; its transfers determine the mints. */
export function decodeUnknownTrade(call: Invocation, emit: Emitter): void {
  for (const [index, { value: event, innerIndex }] of call.statedEvents(tradeEvent).entries()) {
    const paid = soleTransfer(call, event.amountIn)
    const received = soleTransfer(call, event.amountOut)
    const inMint = paid === null ? null : call.tokens.mintMoved(paid)
    const outMint = received === null ? null : call.tokens.mintMoved(received)
    if (paid === null || received === null || inMint === null || outMint === null) {
      emit.missing('ambiguous-movements', 'of an unknown instruction')
      continue
    }
    const isBuy = event.tradeDirection === 'buy'
    emitTrade(call, emit, {
      event,
      authority: paid.authority,
      baseMint: isBuy ? outMint : inMint,
      quoteMint: isBuy ? inMint : outMint,
      legs: { paid, received },
      isNamed: false,
      exact: event.exactIn === undefined ? null : event.exactIn ? 'in' : 'out',
      innerIxIndex: index === 0 ? call.instruction.innerIndex : innerIndex
    })
  }
}

/**
 * Finds the transfers of the event's amounts between the trader's accounts and the vaults. Null if no transfer matches, so
 * that event and transfers contradict each other. The event may state the input as credited to the vault or as sent.
 */
function findLegs(
  call: Invocation,
  event: TradeStated,
  [payer, inVault]: readonly [number, number],
  [outVault, payee]: readonly [number, number]
): Legs | null {
  const between = (source: number, destination: number): Movement[] =>
    call.movements.filter(
      (movement) =>
        movement.kind === 'transfer' && movement.source === source && movement.destination === destination
    )
  const paid = between(payer, inVault).find((movement) => {
    const credited = call.tokens.credited(movement)
    return (
      movement.amount === event.amountIn ||
      credited === event.amountIn ||
      (credited === null && movement.amount > event.amountIn)
    )
  })
  const received = between(outVault, payee).find(({ amount }) => amount === event.amountOut)
  return paid === undefined || received === undefined ? null : { paid, received }
}

function contradiction({ amountIn, amountOut }: TradeStated): string {
  return `event ${amountIn} → ${amountOut}, and no such transfers`
}

function emitTrade(call: Invocation, emit: Emitter, trade: CurveTrade): void {
  const { event, baseMint, quoteMint, legs } = trade
  if (event.tradeDirection === 'unknown') return emit.missing('ambiguous-movements', 'direction')
  const isBuy = event.tradeDirection === 'buy'
  const base = isBuy ? event.amountOut : event.amountIn
  const quote = isBuy
    ? event.realQuoteAfter - event.realQuoteBefore
    : event.realQuoteBefore - event.realQuoteAfter
  const baseMoved = isBuy
    ? event.realBaseAfter - event.realBaseBefore
    : event.realBaseBefore - event.realBaseAfter
  if (baseMoved !== base) emit.disagreement(`base ${base}, change of the curve's base ${baseMoved}`)
  const received = call.tokens.credited(legs.received)
  if (received === null) return emit.missing('transfer-fee-unknown')
  const fees: Fee[] = []
  const charge = (kind: Fee['kind'], amount: bigint | undefined): void => {
    if (amount !== undefined && amount > 0n) fees.push({ kind, mint: quoteMint, amount })
  }
  charge('protocol', event.protocolFee)
  charge('platform', event.platformFee)
  charge('creator', event.creatorFee)
  charge('share', event.shareFee)
  const withheld = isBuy ? event.amountOut - received : legs.paid.amount - event.amountIn
  if (withheld > 0n) fees.push({ kind: 'transfer', mint: baseMint, amount: withheld })
  const user = call.tokens.trader(trade.authority, [legs.paid.source, legs.received.destination])
  emit.trade({
    pool: event.poolState,
    user,
    inMint: isBuy ? quoteMint : baseMint,
    outMint: isBuy ? baseMint : quoteMint,
    inAmount: isBuy ? quote : base,
    outAmount: isBuy ? base : quote,
    vaults: trade.isNamed ? [legs.paid.destination, legs.received.source] : null,
    traderIn: legs.paid.amount,
    traderOut: received,
    fees,
    reserves: reservesAfter(event, isBuy),
    statedCurve: { forSale: event.totalBaseSell },
    exact: trade.exact,
    innerIxIndex: trade.innerIxIndex
  })
  if (event.poolStatus === 'migrate') {
    emit.curve({
      event: 'complete',
      pool: event.poolState,
      curve: event.poolState,
      user,
      baseMint,
      quoteMint,
      progressPct: 100,
      destination: null,
      reserves: curveReserves(event),
      innerIxIndex: trade.innerIxIndex
    })
  }
}

/**
 * Returns the reserves after a trade. The event counts the base sold; the reserve is the rest of the supply for sale.
 */
function curveReserves(
  event: TradeStated
): Required<Pick<CurveReserves, 'realBase' | 'realQuote'>> & CurveReserves {
  const real = {
    realBase: event.totalBaseSell - event.realBaseAfter,
    realQuote: event.realQuoteAfter
  }
  if (!followsConstantProduct(event)) return real
  return {
    ...real,
    virtualBase: event.virtualBase - event.realBaseAfter,
    virtualQuote: event.virtualQuote + event.realQuoteAfter
  }
}

function reservesAfter(event: TradeStated, isBuy: boolean): TradeReserves {
  const { realBase, realQuote, virtualBase, virtualQuote } = curveReserves(event)
  const real = isBuy ? { in: realQuote, out: realBase } : { in: realBase, out: realQuote }
  if (virtualBase === undefined || virtualQuote === undefined) return real
  return isBuy
    ? { ...real, virtualIn: virtualQuote, virtualOut: virtualBase }
    : { ...real, virtualIn: virtualBase, virtualOut: virtualQuote }
}

/**
 * Tells whether the curve is a constant product. Curves of a fixed or linear price use these fields for other parameters,
 * and the event does not name its curve. The trade shows it: the product stays constant up to one unit of rounding.
 */
function followsConstantProduct(event: TradeStated): boolean {
  const baseBefore = event.virtualBase - event.realBaseBefore
  const quoteBefore = event.virtualQuote + event.realQuoteBefore
  const baseAfter = event.virtualBase - event.realBaseAfter
  const quoteAfter = event.virtualQuote + event.realQuoteAfter
  if (baseAfter <= 0n || quoteAfter <= 0n) return false
  const drift = baseAfter * quoteAfter - baseBefore * quoteBefore
  const unit = baseAfter > quoteAfter ? baseAfter : quoteAfter
  return drift <= 2n * unit && drift >= -2n * unit
}

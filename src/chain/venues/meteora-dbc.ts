import type { Emitter } from '../emitter.ts'
import type { Fee } from '../events.ts'
import type { Invocation } from '../invocation.ts'
import type { Pubkey } from '../pubkey.ts'
import { anchorSelfCall, type Venue } from '../venue.ts'
import {
  COMPLETE_EVENTS,
  LAUNCHES,
  METEORA_DBC_EVENTS,
  METEORA_DBC_INSTRUCTIONS,
  SWAP_2_EVENTS,
  migrateMeteoraDamm,
  migrationDammV2,
  swap,
  swap2,
  swap2WithTransferHook,
  swapEvent
} from './meteora-dbc-layouts.ts'
import { decodeLaunch, decodeMigration } from './meteora-dbc-lifecycle.ts'
import { findLegs, settleSwap, type SettledSwap, type StatedSwap } from './meteora-swap.ts'

export const meteoraDbc: Venue = {
  id: 'meteora-dbc',
  programs: ['dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN'],
  transport: 'self-call',
  instructions: METEORA_DBC_INSTRUCTIONS,
  events: METEORA_DBC_EVENTS,
  statedEventOffset: anchorSelfCall,
  decode(call, emit) {
    if (LAUNCHES.some((launch) => call.is(launch))) decodeLaunch(call, emit)
    else if (call.is(migrateMeteoraDamm) || call.is(migrationDammV2)) decodeMigration(call, emit)
    else decodeSwaps(call, emit)
  }
}

/** A swap as stated by either of its events: the trader's amounts, then the curve's. */
interface CurveSwap extends StatedSwap {
  readonly pool: Pubkey
  /** True when the trader pays in the quote token. */
  readonly buys: boolean
  readonly innerIndex: number | null
  readonly fillIn: bigint
  readonly fillOut: bigint
  readonly feeOnInput: boolean
  readonly tradingFee: bigint
  readonly protocolFee: bigint
  readonly referralFee: bigint
  /** Price after the swap, as the program stores it. */
  readonly sqrtPrice: bigint
  /** Quote tokens in the curve after the swap, and the amount that completes it; null in the older event. */
  readonly quoteReserve: bigint | null
  readonly threshold: bigint | null
}

/** Returns the swaps that a call states, each once: from EvtSwap2 if present, else from the older EvtSwap. */
function statedSwaps(call: Invocation): CurveSwap[] {
  const newer = SWAP_2_EVENTS.flatMap((event) => call.statedEvents(event))
  if (newer.length > 0) {
    return newer.map(({ value, innerIndex }) => {
      const { includedFeeInputAmount, excludedFeeInputAmount } = value.swapResult
      const { quoteReserveAmount, migrationThreshold } = value
      return {
        ...curveSwap(value, innerIndex, includedFeeInputAmount, excludedFeeInputAmount),
        quoteReserve: quoteReserveAmount,
        threshold: migrationThreshold
      }
    })
  }
  return call
    .statedEvents(swapEvent)
    .map(({ value, innerIndex }) =>
      curveSwap(value, innerIndex, value.amountIn, value.swapResult.actualInputAmount)
    )
}

/**
 * Builds a stated swap. The fee is on the input if the curve received less than the trader paid, else on the output.
 */
function curveSwap(
  event: {
    readonly pool: Pubkey
    readonly tradeDirection: number
    readonly swapResult: {
      readonly outputAmount: bigint
      readonly nextSqrtPrice: bigint
      readonly tradingFee: bigint
      readonly protocolFee: bigint
      readonly referralFee: bigint
    }
  },
  innerIndex: number | null,
  paid: bigint,
  received: bigint
): CurveSwap {
  const { outputAmount, nextSqrtPrice, tradingFee, protocolFee, referralFee } = event.swapResult
  const feeOnInput = received < paid
  return {
    pool: event.pool,
    buys: event.tradeDirection === 1,
    innerIndex,
    inGross: paid,
    inNet: paid,
    outGross: outputAmount,
    outNet: outputAmount,
    sideFee: referralFee,
    fillIn: received,
    fillOut: feeOnInput ? outputAmount : outputAmount + tradingFee + protocolFee + referralFee,
    feeOnInput,
    tradingFee,
    protocolFee,
    referralFee,
    sqrtPrice: nextSqrtPrice,
    quoteReserve: null,
    threshold: null
  }
}

function decodeSwaps(call: Invocation, emit: Emitter): void {
  const known = call.is(swap) || call.is(swap2) || call.is(swap2WithTransferHook)
  const accounts = known ? swap.accounts(call.accountCount) : null
  const swaps = statedSwaps(call)
  if (accounts === null) {
    if (known && swaps.length === 0) emit.missing('accounts-unknown', `${call.accountCount} accounts`)
    return decodeUnknownSwaps(call, emit, swaps)
  }
  const stated = swaps[0]
  if (stated === undefined) return emit.missing('event-missing', 'EvtSwap')
  const baseMint = call.key(accounts.baseMint)!
  const quoteMint = call.key(accounts.quoteMint)!
  const baseVault = call.account(accounts.baseVault)
  const quoteVault = call.account(accounts.quoteVault)
  const source = call.account(accounts.inputTokenAccount)
  const destination = call.account(accounts.outputTokenAccount)
  const [inVault, outVault] = stated.buys ? [quoteVault, baseVault] : [baseVault, quoteVault]
  const user = call.tokens.trader(call.account(accounts.payer), [source, destination])
  const settled = settleSwap(call, emit, { inVault, outVault, source, destination }, stated)
  if (settled !== null) {
    emit.trade({
      user,
      ...tradeOf(stated, settled, stated.buys ? [quoteMint, baseMint] : [baseMint, quoteMint]),
      vaults: [inVault, outVault],
      exact: exactSide(call)
    })
  }
  decodeComplete(call, emit, { user, baseMint, quoteMint })
}

function exactSide(call: Invocation): 'in' | 'out' | null {
  if (call.is(swap)) return 'in'
  const mode = call.args(call.is(swap2) ? swap2 : swap2WithTransferHook)?.value.swapMode
  return mode === undefined ? null : mode === 2 ? 'out' : 'in'
}

/** Decodes swaps stated by an unknown instruction, or by an instruction with unknown accounts. */
function decodeUnknownSwaps(call: Invocation, emit: Emitter, swaps: readonly CurveSwap[]): void {
  for (const [position, stated] of swaps.entries()) {
    const legs = findLegs(call, emit, stated)
    if (legs === null) continue
    const { inMint, outMint, settled } = legs
    const user = call.tokens.trader(legs.in.authority, [legs.in.source, legs.out.destination])
    emit.trade({
      user,
      ...tradeOf(stated, settled, [inMint, outMint]),
      vaults: null,
      ...(position > 0 && { innerIxIndex: stated.innerIndex })
    })
    const [quoteMint, baseMint] = stated.buys ? [inMint, outMint] : [outMint, inMint]
    if (position === swaps.length - 1) decodeComplete(call, emit, { user, baseMint, quoteMint })
  }
}

/** Builds a trade. The fill has the amounts that the curve received and paid; the totals are the trader's own. */
function tradeOf(stated: CurveSwap, settled: SettledSwap, [inMint, outMint]: readonly [Pubkey, Pubkey]) {
  const { quoteReserve, sqrtPrice, threshold } = stated
  const mint = stated.feeOnInput ? inMint : outMint
  const fees: Fee[] = [
    { kind: 'trading', mint, amount: stated.tradingFee },
    { kind: 'protocol', mint, amount: stated.protocolFee },
    { kind: 'referral', mint, amount: stated.referralFee }
  ]
  return {
    pool: stated.pool,
    inMint,
    outMint,
    inAmount: stated.fillIn,
    outAmount: stated.fillOut,
    traderIn: settled.inGross,
    traderOut: settled.outNet,
    fees: fees.filter(({ amount }) => amount > 0n),
    reserves: quoteReserve === null ? null : stated.buys ? { in: quoteReserve } : { out: quoteReserve },
    statedCurve: { ...(threshold !== null && { targetQuote: threshold }), sqrtPrice }
  }
}

/** Emits the completion of a curve, by the trade that reached its threshold. */
function decodeComplete(
  call: Invocation,
  emit: Emitter,
  about: { readonly user: Pubkey; readonly baseMint: Pubkey; readonly quoteMint: Pubkey }
): void {
  for (const { value } of COMPLETE_EVENTS.flatMap((event) => call.statedEvents(event))) {
    emit.curve({
      ...about,
      event: 'complete',
      pool: value.pool,
      curve: value.pool,
      progressPct: 100,
      destination: null,
      reserves: { realBase: value.baseReserve, realQuote: value.quoteReserve }
    })
  }
}

import type { Emitter } from '../emitter.ts'
import type { Fee, TradeReserves } from '../events.ts'
import { readFill } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import type { Pubkey } from '../pubkey.ts'
import { anchorSelfCall, type Venue } from '../venue.ts'
import {
  METEORA_DAMM_V2_EVENTS,
  initializePoolEvent,
  swap2Event,
  swapEvent
} from './meteora-damm-v2-events.ts'
import {
  CREATES,
  METEORA_DAMM_V2_INSTRUCTIONS,
  REMOVES,
  addLiquidity,
  swap,
  swap2
} from './meteora-damm-v2-instructions.ts'
import { decodeLiquidity } from './meteora-damm-v2-liquidity.ts'
import { vaultAmounts } from './meteora-liquidity.ts'
import {
  amountsOf,
  feeRows,
  findLegs,
  settleSwap,
  type SettledSwap,
  type StatedSwap
} from './meteora-swap.ts'

export const meteoraDammV2: Venue = {
  id: 'meteora-damm-v2',
  programs: ['cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG'],
  transport: 'self-call',
  instructions: METEORA_DAMM_V2_INSTRUCTIONS,
  events: METEORA_DAMM_V2_EVENTS,
  statedEventOffset: anchorSelfCall,
  decode(call, emit) {
    if (call.is(swap) || call.is(swap2)) decodeSwap(call, emit)
    else if (call.is(addLiquidity) || REMOVES.some((remove) => call.is(remove))) decodeLiquidity(call, emit)
    else if (CREATES.some((create) => call.is(create))) decodeCreate(call, emit)
    else decodeUnknownSwap(call, emit)
  }
}

/** A swap as stated by either of its events. */
interface DammSwap extends StatedSwap {
  readonly pool: Pubkey
  readonly aToB: boolean
  readonly innerIndex: number | null
  readonly fees: (inMint: Pubkey, outMint: Pubkey) => Fee[]
  readonly reserves: TradeReserves | null
}

/** Returns the swaps that a call states, each once: from EvtSwap2 if present, else from the older EvtSwap. */
function statedSwaps(call: Invocation): DammSwap[] {
  const newer = call.statedEvents(swap2Event).map(({ value, innerIndex }): DammSwap => {
    const { swapResult: result } = value
    const aToB = value.tradeDirection === 0
    const { reserveAAmount: reserveA, reserveBAmount: reserveB } = value
    return {
      pool: value.pool,
      aToB,
      innerIndex,
      inGross: value.includedTransferFeeAmountIn,
      inNet: result.includedFeeInputAmount,
      outGross: value.includedTransferFeeAmountOut,
      outNet: value.excludedTransferFeeAmountOut,
      sideFee: result.referralFee,
      fees: (inMint, outMint) => {
        const mint = result.excludedFeeInputAmount < result.includedFeeInputAmount ? inMint : outMint
        return [
          { kind: 'lp', mint, amount: result.claimingFee + result.compoundingFee },
          { kind: 'protocol', mint, amount: result.protocolFee },
          { kind: 'referral', mint, amount: result.referralFee }
        ]
      },
      reserves: aToB ? { in: reserveA, out: reserveB } : { in: reserveB, out: reserveA }
    }
  })
  if (newer.length > 0) return newer
  return call.statedEvents(swapEvent).map(({ value, innerIndex }): DammSwap => {
    const { swapResult: result } = value
    return {
      pool: value.pool,
      aToB: value.tradeDirection === 0,
      innerIndex,
      inGross: value.params.amountIn,
      inNet: value.actualAmountIn,
      outGross: result.outputAmount,
      outNet: null,
      sideFee: result.referralFee,
      // The event does not state from which side its fees were taken.
      fees: () => [],
      reserves: null
    }
  })
}

function decodeSwap(call: Invocation, emit: Emitter): void {
  const accounts = swap.accounts(call.accountCount)
  const stated = statedSwaps(call)[0]
  if (accounts === null) return decodeUnknownSwap(call, emit)
  const a = { vault: call.account(accounts.tokenAVault), mint: call.key(accounts.tokenAMint)! }
  const b = { vault: call.account(accounts.tokenBVault), mint: call.key(accounts.tokenBMint)! }
  const source = call.account(accounts.inputTokenAccount)
  const destination = call.account(accounts.outputTokenAccount)
  let aToB = stated?.aToB
  let settled: SettledSwap
  if (stated === undefined) {
    const fill = readFill(call, { vaults: [a.vault, b.vault], source, destination })
    if (fill.kind === 'none') return emit.missing(fill.reason)
    aToB = fill.inVault === a.vault
    settled = fill
  } else {
    const [inVault, outVault] = stated.aToB ? [a.vault, b.vault] : [b.vault, a.vault]
    const reading = settleSwap(call, emit, { inVault, outVault, source, destination }, stated)
    if (reading === null) return
    settled = reading
  }
  const [input, output] = aToB === true ? [a, b] : [b, a]
  const [inMint, outMint] = [input.mint, output.mint]
  emit.trade({
    pool: call.key(accounts.pool)!,
    user: call.tokens.trader(call.account(accounts.payer), [source, destination]),
    inMint,
    outMint,
    ...amountsOf(settled),
    vaults: [input.vault, output.vault],
    fees: feeRows(stated?.fees(inMint, outMint) ?? [], settled, inMint, outMint),
    reserves: stated?.reserves ?? null,
    exact: exactSide(call)
  })
}

function exactSide(call: Invocation): 'in' | 'out' | null {
  if (call.is(swap)) return 'in'
  const mode = call.args(swap2)?.value.swapMode
  return mode === undefined ? null : mode === 2 ? 'out' : 'in'
}

/** Decodes swaps stated by an unknown instruction, or by an instruction with unknown accounts. */
function decodeUnknownSwap(call: Invocation, emit: Emitter): void {
  const swaps = statedSwaps(call)
  if (swaps.length === 0 && (call.is(swap) || call.is(swap2))) {
    return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  }
  for (const [position, stated] of swaps.entries()) {
    const legs = findLegs(call, emit, stated)
    if (legs === null) continue
    const { inMint, outMint, settled } = legs
    emit.trade({
      pool: stated.pool,
      user: call.tokens.trader(legs.in.authority, [legs.in.source, legs.out.destination]),
      inMint,
      outMint,
      ...amountsOf(settled),
      vaults: null,
      fees: feeRows(stated.fees(inMint, outMint), settled, inMint, outMint),
      reserves: stated.reserves,
      ...(position > 0 && { innerIxIndex: stated.innerIndex })
    })
  }
}

function decodeCreate(call: Invocation, emit: Emitter): void {
  const accounts = CREATES.find((create) => call.is(create))?.accounts(call.accountCount)
  if (accounts == null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const stated = call.statedEvents(initializePoolEvent)[0]
  if (stated === undefined) return emit.missing('event-missing', 'EvtInitializePool')
  const { value } = stated
  const moved = vaultAmounts(call, [call.account(accounts.tokenAVault), call.account(accounts.tokenBVault)])
  // The totals include a transfer fee, and one unit if the pool starts without a token.
  const asStated =
    moved === null ||
    ((moved[0] === value.tokenAAmount || moved[0] === value.totalAmountA) &&
      (moved[1] === value.tokenBAmount || moved[1] === value.totalAmountB))
  if (!asStated) {
    emit.disagreement(`event ${value.tokenAAmount}, ${value.tokenBAmount}, transfers ${moved.join(', ')}`)
  }
  emit.pool({
    pool: value.pool,
    user: call.tokens.trader(call.account(accounts.payer), []),
    baseMint: value.tokenAMint,
    quoteMint: value.tokenBMint,
    baseVault: call.key(accounts.tokenAVault),
    quoteVault: call.key(accounts.tokenBVault),
    // The initial fee, in units of 1e-9; a scheduler may lower it.
    feeBps: Number(value.poolFees.cliffFeeNumerator) / 100_000,
    initialBase: moved?.[0] ?? value.tokenAAmount,
    initialQuote: moved?.[1] ?? value.tokenBAmount
  })
}

import type { Emitter } from '../emitter.ts'
import type { Fee } from '../events.ts'
import { readFill } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import type { InstructionLayout } from '../layout.ts'
import type { Pubkey } from '../pubkey.ts'
import { anchorSelfCall, type Venue } from '../venue.ts'
import { METEORA_DLMM_EVENTS, swap2Event, swapEvent } from './meteora-dlmm-events.ts'
import {
  ADDS,
  CUSTOMIZABLE_PAIRS,
  EXACT_IN_SWAPS,
  EXACT_OUT_SWAPS,
  METEORA_DLMM_INSTRUCTIONS,
  ONE_SIDED_ADDS,
  OTHER_PAIRS,
  REMOVES,
  rebalanceLiquidity
} from './meteora-dlmm-instructions.ts'
import { decodeCreate, decodeOneSidedAdd, decodeTwoSided } from './meteora-dlmm-liquidity.ts'
import { decodeRebalance } from './meteora-dlmm-rebalance.ts'
import {
  amountsOf,
  feeRows,
  findLegs,
  settleSwap,
  type SettledSwap,
  type StatedSwap
} from './meteora-swap.ts'

type Decode = (call: Invocation, emit: Emitter) => void

const SWAPS = new Map<InstructionLayout, 'in' | 'out'>([
  ...EXACT_IN_SWAPS.map((swap) => [swap, 'in'] as const),
  ...EXACT_OUT_SWAPS.map((swap) => [swap, 'out'] as const)
])

const DECODERS = new Map<InstructionLayout, Decode>([
  ...[...SWAPS.keys()].map((swap) => [swap, decodeSwap] as const),
  ...[...ADDS, ...REMOVES].map((change) => [change, decodeTwoSided] as const),
  ...ONE_SIDED_ADDS.map((add) => [add, decodeOneSidedAdd] as const),
  [rebalanceLiquidity, decodeRebalance],
  ...[...CUSTOMIZABLE_PAIRS, ...OTHER_PAIRS].map((pair) => [pair, decodeCreate] as const)
])

export const meteoraDlmm: Venue = {
  id: 'meteora-dlmm',
  programs: ['LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'],
  transport: 'self-call',
  instructions: METEORA_DLMM_INSTRUCTIONS,
  events: METEORA_DLMM_EVENTS,
  statedEventOffset: anchorSelfCall,
  decode(call, emit) {
    const decode = call.layout === undefined ? undefined : DECODERS.get(call.layout)
    if (decode !== undefined) decode(call, emit)
    else decodeUnknownSwap(call, emit)
  }
}

/** A swap as stated by either of its events. */
interface DlmmSwap extends StatedSwap {
  readonly lbPair: Pubkey
  readonly from: Pubkey
  readonly swapForY: boolean
  readonly innerIndex: number | null
  readonly fees: (tokenX: Pubkey, tokenY: Pubkey) => Fee[]
}

/** Returns the swaps that a call states, each once: from Swap2Evt if present, else from the older Swap. */
function statedSwaps(call: Invocation): DlmmSwap[] {
  const newer = call.statedEvents(swap2Event).map(({ value, innerIndex }) => ({
    ...grossAmounts(value),
    innerIndex,
    fees: (tokenX: Pubkey, tokenY: Pubkey): Fee[] => {
      const mint = value.feesOnTokenX ? tokenX : tokenY
      return [
        { kind: 'lp', mint, amount: value.mmFee + value.limitOrderFee },
        { kind: 'protocol', mint, amount: value.protocolFee },
        { kind: 'host', mint, amount: value.hostFee }
      ]
    }
  }))
  if (newer.length > 0) return newer
  return call.statedEvents(swapEvent).map(({ value, innerIndex }) => ({
    ...grossAmounts(value),
    innerIndex,
    // Before Swap2Evt every fee was on the input, and `fee` is the sum of all.
    fees: (tokenX: Pubkey, tokenY: Pubkey): Fee[] => {
      const mint = value.swapForY ? tokenX : tokenY
      return [
        { kind: 'lp', mint, amount: value.fee - value.protocolFee - value.hostFee },
        { kind: 'protocol', mint, amount: value.protocolFee },
        { kind: 'host', mint, amount: value.hostFee }
      ]
    }
  }))
}

/** Reads the amounts of either event: the debits of the trader and of the vault, both before a Token-2022 fee. */
function grossAmounts(value: {
  lbPair: Pubkey
  from: Pubkey
  swapForY: boolean
  amountIn: bigint
  amountOut: bigint
  hostFee: bigint
}): Omit<DlmmSwap, 'innerIndex' | 'fees'> {
  const { lbPair, from, swapForY, amountIn, amountOut, hostFee } = value
  return {
    lbPair,
    from,
    swapForY,
    inGross: amountIn,
    inNet: null,
    outGross: amountOut,
    outNet: null,
    sideFee: hostFee
  }
}

function decodeSwap(call: Invocation, emit: Emitter): void {
  const accounts = EXACT_IN_SWAPS[0].accounts(call.accountCount)
  if (accounts === null) return decodeUnknownSwap(call, emit)
  const stated = statedSwaps(call)[0]
  const tokenX = call.key(accounts.tokenXMint)!
  const tokenY = call.key(accounts.tokenYMint)!
  const reserveX = call.account(accounts.reserveX)
  const reserveY = call.account(accounts.reserveY)
  const source = call.account(accounts.userTokenIn)
  const destination = call.account(accounts.userTokenOut)
  let swapForY = stated?.swapForY
  let settled: SettledSwap
  if (stated === undefined) {
    const fill = readFill(call, { vaults: [reserveX, reserveY], source, destination })
    if (fill.kind === 'none') return emit.missing(fill.reason)
    swapForY = fill.inVault === reserveX
    settled = fill
  } else {
    const [inVault, outVault] = stated.swapForY ? [reserveX, reserveY] : [reserveY, reserveX]
    const reading = settleSwap(call, emit, { inVault, outVault, source, destination }, stated)
    if (reading === null) return
    settled = reading
  }
  const [inMint, outMint] = swapForY === true ? [tokenX, tokenY] : [tokenY, tokenX]
  emit.trade({
    pool: call.key(accounts.lbPair)!,
    user: call.tokens.trader(call.account(accounts.user), [source, destination]),
    inMint,
    outMint,
    ...amountsOf(settled),
    vaults: swapForY === true ? [reserveX, reserveY] : [reserveY, reserveX],
    fees: feeRows(stated?.fees(tokenX, tokenY) ?? [], settled, inMint, outMint),
    exact: SWAPS.get(call.layout!) ?? null
  })
}

/** Decodes swaps stated by an unknown instruction, or by an instruction with unknown accounts. */
function decodeUnknownSwap(call: Invocation, emit: Emitter): void {
  const swaps = statedSwaps(call)
  if (swaps.length === 0 && call.layout !== undefined && SWAPS.has(call.layout)) {
    return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  }
  for (const [position, swap] of swaps.entries()) {
    const legs = findLegs(call, emit, swap)
    if (legs === null) continue
    const { inMint, outMint, settled } = legs
    const [tokenX, tokenY] = swap.swapForY ? [inMint, outMint] : [outMint, inMint]
    emit.trade({
      pool: swap.lbPair,
      user: call.tokens.trader(call.indexOf(swap.from), [legs.in.source, legs.out.destination]),
      inMint,
      outMint,
      ...amountsOf(settled),
      vaults: null,
      fees: feeRows(swap.fees(tokenX, tokenY), settled, inMint, outMint),
      ...(position > 0 && { innerIxIndex: swap.innerIndex })
    })
  }
}

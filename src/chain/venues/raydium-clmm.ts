import type { Emitter } from '../emitter.ts'
import type { Fee } from '../events.ts'
import type { Fill, StatedFill } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import { LayoutTable, type InstructionLayout, type Layout } from '../layout.ts'
import { samePubkey } from '../pubkey.ts'
import { noSelfCall, type Venue } from '../venue.ts'
import {
  OTHER_EVENTS,
  createPersonalPositionEvent,
  decreaseLiquidityEvent,
  increaseLiquidityEvent,
  swapEvent,
  type SwapStated
} from './raydium-clmm-events.ts'
import {
  CREATIONS,
  DECREASES,
  HOP,
  INCREASES,
  OPENINGS,
  SWAPS,
  UPKEEP,
  swapRouterBaseIn
} from './raydium-clmm-instructions.ts'
import { emitLiquidity, type Pair, type StatedLiquidity } from './raydium-liquidity.ts'
import { emitSwap, swapByAmounts, type Swap } from './raydium-swap.ts'

export const raydiumClmm: Venue = {
  id: 'raydium-clmm',
  programs: ['CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'],
  transport: 'log',
  instructions: new LayoutTable<InstructionLayout>([
    ...SWAPS,
    swapRouterBaseIn,
    ...CREATIONS,
    ...OPENINGS,
    ...INCREASES,
    ...DECREASES,
    ...UPKEEP
  ]),
  events: new LayoutTable<Layout<unknown>>([
    swapEvent,
    createPersonalPositionEvent,
    increaseLiquidityEvent,
    decreaseLiquidityEvent,
    ...OTHER_EVENTS
  ]),
  statedEventOffset: noSelfCall,
  decode(call, emit) {
    const swap = SWAPS.find((candidate) => call.is(candidate))
    if (swap !== undefined) return decodeSwap(call, emit, swap)
    if (call.is(swapRouterBaseIn)) return decodeRouter(call, emit)
    const opening = OPENINGS.find((candidate) => call.is(candidate))
    if (opening !== undefined) return decodeLiquidity(call, emit, 'add', opening, statedOpening(call))
    const increase = INCREASES.find((candidate) => call.is(candidate))
    if (increase !== undefined) return decodeLiquidity(call, emit, 'add', increase, statedIncrease(call))
    const decrease = DECREASES.find((candidate) => call.is(candidate))
    if (decrease !== undefined) return decodeDecrease(call, emit, decrease)
    const creation = CREATIONS.find((candidate) => call.is(candidate))
    if (creation !== undefined) return decodeCreation(call, emit, creation)
    if (call.layout === undefined) decodeUnknown(call, emit)
  }
}

function decodeSwap(call: Invocation, emit: Emitter, swap: (typeof SWAPS)[number]): void {
  const accounts = swap.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const isBaseInput = call.args(swap)?.value.isBaseInput
  const hop: Swap = {
    pool: call.key(accounts.poolState)!,
    authority: call.account(accounts.payer),
    source: call.account(accounts.inputTokenAccount),
    destination: call.account(accounts.outputTokenAccount),
    vaults: [call.account(accounts.inputVault), call.account(accounts.outputVault)],
    exact: isBaseInput === undefined ? null : isBaseInput ? 'in' : 'out',
    isNamed: true
  }
  emitSwap(call, emit, hop, call.loggedEvents(swapEvent)[0]?.value ?? null, SWAP_EVENT)
}

/**
 * Decodes a routed swap. Every hop has its own accounts, then a number of tick arrays that follows only from the
 * accounts' types. A hop is recognized by two transfers: an account paid the hop's input vault, and its output vault paid
 * the account listed before the vaults.
 */
function decodeRouter(call: Invocation, emit: Emitter): void {
  const accounts = swapRouterBaseIn.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const events = call.loggedEvents(swapEvent).map(({ value }) => value)
  let source = call.account(accounts.inputTokenAccount)
  let hops = 0
  // Each hop's configuration precedes its pool.
  for (let at = accounts.firstHop + 1; at + HOP.outputVaultMint < call.accountCount; at++) {
    const pool = call.key(at + HOP.poolState)!
    const destination = call.account(at + HOP.outputTokenAccount)
    const vaults = [call.account(at + HOP.inputVault), call.account(at + HOP.outputVault)] as const
    if (!paid(call, source, vaults[0]) || !paid(call, vaults[1], destination)) continue
    const authority = call.account(accounts.payer)
    const hop = { pool, authority, source, destination, vaults, isNamed: true, further: hops > 0 }
    const event = events.find(({ poolState }) => samePubkey(poolState, pool)) ?? null
    emitSwap(call, emit, { ...hop, exact: 'in' }, event, SWAP_EVENT)
    hops++
    source = destination
    at += HOP.outputVaultMint
  }
  if (hops === 0) emit.missing('no-movements')
  else if (events.length > hops) emit.missing('ambiguous-movements', `${hops} hops, ${events.length} events`)
}

function paid(call: Invocation, source: number, destination: number): boolean {
  return call.movements.some(
    (movement) =>
      movement.kind === 'transfer' && movement.source === source && movement.destination === destination
  )
}

/** Decodes an unknown instruction that logs trades; its transfers determine the accounts. */
function decodeUnknown(call: Invocation, emit: Emitter): void {
  for (const [index, { value: event }] of call.loggedEvents(swapEvent).entries()) {
    const found = swapByAmounts(call, emit, statedFill(event))
    if (found === null) continue
    const { poolState: pool, sender } = event
    const hop = { ...found, pool, authority: call.indexOf(sender), exact: null, further: index > 0 }
    emitSwap(call, emit, hop, event, SWAP_EVENT)
  }
}

/** Returns the event's amounts: its input is the credit of the vault, its output the credit of the trader. */
function statedFill(event: SwapStated): StatedFill {
  const [input, inputFee, output, outputFee] = event.zeroForOne
    ? [event.amount0, event.transferFee0, event.amount1, event.transferFee1]
    : [event.amount1, event.transferFee1, event.amount0, event.transferFee0]
  return { inGross: input + inputFee, inNet: input, outGross: output + outputFee, outNet: output }
}

function tradingFees(event: SwapStated, { inMint, outMint }: Fill): Fee[] {
  const [mint0, mint1] = event.zeroForOne ? [inMint, outMint] : [outMint, inMint]
  const fees: Fee[] = []
  if (event.tradeFee0) fees.push({ kind: 'trading', mint: mint0, amount: event.tradeFee0 })
  if (event.tradeFee1) fees.push({ kind: 'trading', mint: mint1, amount: event.tradeFee1 })
  return fees
}

const SWAP_EVENT = { amounts: statedFill, fees: tradingFees }

type PositionLayout = (typeof OPENINGS | typeof INCREASES | typeof DECREASES)[number]

function decodeLiquidity(
  call: Invocation,
  emit: Emitter,
  event: 'add' | 'remove',
  layout: PositionLayout,
  stated: StatedLiquidity | null
): void {
  const accounts = layout.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emitLiquidity(
    call,
    emit,
    {
      event,
      pool: call.key(accounts.poolState)!,
      owner: call.account(accounts.owner),
      vaults: [call.account(accounts.tokenVault0), call.account(accounts.tokenVault1)],
      lpMint: -1,
      position: call.key(accounts.personalPosition),
      mayBeEmpty: event === 'remove' || OPENINGS.some((opening) => opening === layout)
    },
    stated
  )
}

function statedOpening(call: Invocation): StatedLiquidity | null {
  const opened = call.loggedEvents(createPersonalPositionEvent)[0]?.value
  if (opened === undefined) return null
  return deposited(
    [opened.depositAmount0, opened.depositAmount1],
    [opened.depositAmount0TransferFee, opened.depositAmount1TransferFee]
  )
}

function statedIncrease(call: Invocation): StatedLiquidity | null {
  const increased = call.loggedEvents(increaseLiquidityEvent)[0]?.value
  if (increased === undefined) return null
  return deposited(
    [increased.amount0, increased.amount1],
    [increased.amount0TransferFee, increased.amount1TransferFee]
  )
}

function deposited(amounts: Pair, transferFees: Pair): StatedLiquidity {
  return { amounts, moved: amounts, transferFees }
}

/**
 * Emits a decrease. Fees that the position earned leave the vaults in the transfers of its liquidity, and only the event
 * separates them: if the event is missing, the amounts are unknown. A decrease by zero liquidity is a claim of fees.
 */
function decodeDecrease(call: Invocation, emit: Emitter, layout: (typeof DECREASES)[number]): void {
  const decreased = call.loggedEvents(decreaseLiquidityEvent)[0]?.value
  if (decreased === undefined) {
    if (call.args(layout)?.value.liquidity === 0n) return
    return emit.missing('event-missing', 'fees are not told from liquidity')
  }
  const { decreaseAmount0, decreaseAmount1, feeAmount0, feeAmount1, transferFee0, transferFee1 } = decreased
  decodeLiquidity(call, emit, 'remove', layout, {
    amounts: [decreaseAmount0, decreaseAmount1],
    moved: [decreaseAmount0 + feeAmount0, decreaseAmount1 + feeAmount1],
    transferFees: [transferFee0, transferFee1]
  })
}

function decodeCreation(call: Invocation, emit: Emitter, layout: (typeof CREATIONS)[number]): void {
  const accounts = layout.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emit.pool({
    pool: call.key(accounts.poolState)!,
    user: call.tokens.trader(call.account(accounts.poolCreator), []),
    baseMint: call.key(accounts.tokenMint0)!,
    quoteMint: call.key(accounts.tokenMint1)!,
    baseVault: call.key(accounts.tokenVault0),
    quoteVault: call.key(accounts.tokenVault1)
  })
}

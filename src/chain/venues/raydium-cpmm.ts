import type { Emitter } from '../emitter.ts'
import type { Fee } from '../events.ts'
import type { Fill, StatedFill } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import { LayoutTable, type InstructionLayout, type Layout } from '../layout.ts'
import { noSelfCall, type Venue } from '../venue.ts'
import {
  UPKEEP,
  cpmmInitialize,
  cpmmInitializeWithPermission,
  deposit,
  lpChangeEvent,
  swapBaseInput,
  swapBaseOutput,
  swapEvent,
  withdraw,
  type SwapStated
} from './raydium-cpmm-layouts.ts'
import { depositedAmounts, emitLiquidity, type StatedLiquidity } from './raydium-liquidity.ts'
import { emitSwap, swapByAmounts, type Swap } from './raydium-swap.ts'

export const raydiumCpmm: Venue = {
  id: 'raydium-cpmm',
  programs: ['CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'],
  transport: 'log',
  instructions: new LayoutTable<InstructionLayout>([
    swapBaseInput,
    swapBaseOutput,
    cpmmInitialize,
    cpmmInitializeWithPermission,
    deposit,
    withdraw,
    ...UPKEEP
  ]),
  events: new LayoutTable<Layout<unknown>>([swapEvent, lpChangeEvent]),
  statedEventOffset: noSelfCall,
  decode(call, emit) {
    if (call.is(swapBaseInput)) decodeSwap(call, emit, 'in')
    else if (call.is(swapBaseOutput)) decodeSwap(call, emit, 'out')
    else if (call.is(deposit)) decodeLiquidity(call, emit, 'add')
    else if (call.is(withdraw)) decodeLiquidity(call, emit, 'remove')
    else if (call.is(cpmmInitialize)) decodeInitialize(call, emit, cpmmInitialize)
    else if (call.is(cpmmInitializeWithPermission)) decodeInitialize(call, emit, cpmmInitializeWithPermission)
    else if (call.layout === undefined) decodeUnknown(call, emit)
  }
}

function decodeSwap(call: Invocation, emit: Emitter, exact: 'in' | 'out'): void {
  const accounts = swapBaseInput.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const swap: Swap = {
    pool: call.key(accounts.poolState)!,
    authority: call.account(accounts.payer),
    vaults: [call.account(accounts.inputVault), call.account(accounts.outputVault)],
    source: call.account(accounts.inputTokenAccount),
    destination: call.account(accounts.outputTokenAccount),
    exact,
    isNamed: true
  }
  emitSwap(call, emit, swap, call.loggedEvents(swapEvent)[0]?.value ?? null, SWAP_EVENT)
}

/** Decodes an unknown instruction that logs trades; its transfers determine the accounts. */
function decodeUnknown(call: Invocation, emit: Emitter): void {
  for (const { value: event } of call.loggedEvents(swapEvent)) {
    const found = swapByAmounts(call, emit, statedFill(event))
    if (found === null) continue
    const { poolId: pool, baseInput } = event
    const swap: Swap = { ...found, pool, authority: found.payer, exact: baseInput ? 'in' : 'out' }
    emitSwap(call, emit, swap, event, SWAP_EVENT)
  }
}

/** Returns the event's amounts: its input is the credit of the vault, its output the debit of the vault. */
function statedFill(event: SwapStated): StatedFill {
  return {
    inGross: event.inputAmount + event.inputTransferFee,
    inNet: event.inputAmount,
    outGross: event.outputAmount,
    outNet: event.outputAmount - event.outputTransferFee
  }
}

function statedFees(event: SwapStated, { inMint, outMint }: Fill): Fee[] {
  const fees: Fee[] = []
  if (event.tradeFee) fees.push({ kind: 'trading', mint: inMint, amount: event.tradeFee })
  if (event.creatorFee) {
    const mint = event.creatorFeeOnInput === true ? inMint : outMint
    fees.push({ kind: 'creator', mint, amount: event.creatorFee })
  }
  return fees
}

const SWAP_EVENT = { amounts: statedFill, fees: statedFees }

function decodeLiquidity(call: Invocation, emit: Emitter, event: 'add' | 'remove'): void {
  const accounts = deposit.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emitLiquidity(
    call,
    emit,
    {
      event,
      pool: call.key(accounts.poolState)!,
      owner: call.account(accounts.owner),
      vaults: [call.account(accounts.token0Vault), call.account(accounts.token1Vault)],
      lpMint: call.account(accounts.lpMint),
      position: null
    },
    statedLiquidity(call, event)
  )
}

/**
 * Returns the stated amounts of a change on the vaults' side. A deposit states the credits of the vaults. A
 * withdrawal states the credits of its owner, so the transfer fee is added.
 */
function statedLiquidity(call: Invocation, event: 'add' | 'remove'): StatedLiquidity | null {
  const change = call.loggedEvents(lpChangeEvent)[0]?.value
  if (change === undefined) return null
  const transferFees = [change.token0TransferFee, change.token1TransferFee] as const
  const amounts =
    event === 'add'
      ? ([change.token0Amount, change.token1Amount] as const)
      : ([change.token0Amount + transferFees[0], change.token1Amount + transferFees[1]] as const)
  return { amounts, moved: amounts, transferFees }
}

/** Emits the creation of a pool. Its first deposit belongs to the creation and is not a separate liquidity event. */
function decodeInitialize(
  call: Invocation,
  emit: Emitter,
  layout: typeof cpmmInitialize | typeof cpmmInitializeWithPermission
): void {
  const accounts = layout.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const moved = depositedAmounts(call, [
    call.account(accounts.token0Vault),
    call.account(accounts.token1Vault)
  ])
  emit.pool({
    pool: call.key(accounts.poolState)!,
    user: call.tokens.trader(call.account(accounts.creator), []),
    baseMint: call.key(accounts.token0Mint)!,
    quoteMint: call.key(accounts.token1Mint)!,
    baseVault: call.key(accounts.token0Vault),
    quoteVault: call.key(accounts.token1Vault),
    initialBase: moved?.[0] ?? null,
    initialQuote: moved?.[1] ?? null
  })
}

import type { Emitter } from '../emitter.ts'
import type { Fee } from '../events.ts'
import { type StatedFill, fillAmounts, settleFill, transferFees } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import { LayoutTable, type InstructionLayout, type Layout } from '../layout.ts'
import type { Pubkey } from '../pubkey.ts'
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
import { soleTransfer } from '../sole-transfer.ts'

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
  emitSwap(call, emit, {
    pool: call.key(accounts.poolState)!,
    authority: call.account(accounts.payer),
    vaults: [call.account(accounts.inputVault), call.account(accounts.outputVault)],
    source: call.account(accounts.inputTokenAccount),
    destination: call.account(accounts.outputTokenAccount),
    exact,
    isNamed: true,
    event: call.loggedEvents(swapEvent)[0]?.value ?? null
  })
}

/** Decodes an unknown instruction that logs trades; its transfers determine the accounts. */
function decodeUnknown(call: Invocation, emit: Emitter): void {
  for (const { value: event } of call.loggedEvents(swapEvent)) {
    const stated = statedFill(event)
    const paid = soleTransfer(call, stated.inGross)
    const received = soleTransfer(call, stated.outGross)
    if (paid === null || received === null) emit.missing('ambiguous-movements', 'of an unknown instruction')
    else {
      emitSwap(call, emit, {
        pool: event.poolId,
        authority: paid.authority,
        vaults: [paid.destination, received.source],
        source: paid.source,
        destination: received.destination,
        exact: event.baseInput ? 'in' : 'out',
        isNamed: false,
        event
      })
    }
  }
}

interface Swap {
  readonly pool: Pubkey
  readonly authority: number
  readonly vaults: readonly [number, number]
  readonly source: number
  readonly destination: number
  readonly exact: 'in' | 'out'
  /** Whether the instruction names the vaults; otherwise the amounts determine them. */
  readonly isNamed: boolean
  readonly event: SwapStated | null
}

function emitSwap(call: Invocation, emit: Emitter, swap: Swap): void {
  const { event, source, destination } = swap
  const stated = event === null ? null : statedFill(event)
  const fill = settleFill(call, emit, { vaults: swap.vaults, source, destination, stated })
  if (fill === null) return
  emit.trade({
    pool: swap.pool,
    user: call.tokens.trader(swap.authority, [source, destination]),
    ...fillAmounts(fill),
    ...(!swap.isNamed && { vaults: null }),
    fees: [...statedFees(event, fill.inMint, fill.outMint), ...transferFees(fill)],
    exact: swap.exact
  })
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

function statedFees(event: SwapStated | null, inMint: Pubkey, outMint: Pubkey): Fee[] {
  const fees: Fee[] = []
  if (event?.tradeFee) fees.push({ kind: 'trading', mint: inMint, amount: event.tradeFee })
  if (event?.creatorFee) {
    const mint = event.creatorFeeOnInput === true ? inMint : outMint
    fees.push({ kind: 'creator', mint, amount: event.creatorFee })
  }
  return fees
}

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
    event: 'create',
    pool: call.key(accounts.poolState)!,
    user: call.tokens.trader(call.account(accounts.creator), []),
    baseMint: call.key(accounts.token0Mint)!,
    quoteMint: call.key(accounts.token1Mint)!,
    baseVault: call.key(accounts.token0Vault),
    quoteVault: call.key(accounts.token1Vault),
    feeBps: null,
    initialBase: moved?.[0] ?? null,
    initialQuote: moved?.[1] ?? null
  })
}

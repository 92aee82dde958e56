import type { Emitter } from '../emitter.ts'
import { fillAmounts, readFill } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import { u64, u8 } from '../codec.ts'
import { LayoutTable, instruction, layout, type InstructionLayout, type Layout } from '../layout.ts'
import { noSelfCall, type Venue } from '../venue.ts'
import { emitLiquidity } from './raydium-liquidity.ts'

// Source: raydium-sdk-v2, version-5 pools; Raydium's published account lists for calls from other programs. The
// program's source is closed. Discriminators are one byte; tokens are classic SPL only.

/** Returns the positions of a swap's accounts; the trader's three are last. */
function swapAccounts(
  count: number
): Readonly<Record<'amm' | 'source' | 'destination' | 'owner', number>> | null {
  return count < 8 ? null : { amm: 1, source: count - 3, destination: count - 2, owner: count - 1 }
}

const swapBaseIn = instruction('swapBaseIn', '09', { amountIn: u64, minimumAmountOut: u64 }, swapAccounts)
const swapBaseOut = instruction('swapBaseOut', '0b', { maxAmountIn: u64, amountOut: u64 }, swapAccounts)

const initialize = instruction(
  'initialize',
  '00',
  { nonce: u8, openTime: u64 },
  { amm: 1, lpMint: 4, coinMint: 5, pcMint: 6, coinVault: 7, pcVault: 8 }
)
const preInitialize = instruction('preInitialize', '0a', { nonce: u8 }, {})

const PROVIDER_ACCOUNTS = { amm: 1, lpMint: 5, coinVault: 6, pcVault: 7 }
const deposit = instruction('deposit', '03', { maxCoin: u64, maxPc: u64, baseSide: u64 }, PROVIDER_ACCOUNTS)
const withdraw = instruction('withdraw', '04', { amount: u64 }, PROVIDER_ACCOUNTS)

/** A router's log line that names this program. Amounts come from transfers, so nothing depends on it. */
const swapEvent = layout('SwapEvent', '40c6cde8260871e2', { dex: u8, amountIn: u64, amountOut: u64 })

export const raydiumStable: Venue = {
  id: 'raydium-stable',
  programs: ['5quBtoiQqxF9Jv6KYKctB59NT3gtJD2Y65kdnB1Uev3h'],
  transport: 'none',
  instructions: new LayoutTable<InstructionLayout>([
    swapBaseIn,
    swapBaseOut,
    initialize,
    preInitialize,
    deposit,
    withdraw
  ]),
  events: new LayoutTable<Layout<unknown>>([swapEvent]),
  statedEventOffset: noSelfCall,
  decode(call, emit) {
    if (call.is(swapBaseIn)) decodeSwap(call, emit, 'in')
    else if (call.is(swapBaseOut)) decodeSwap(call, emit, 'out')
    else if (call.is(deposit)) decodeLiquidity(call, emit, 'add')
    else if (call.is(withdraw)) decodeLiquidity(call, emit, 'remove')
    else if (call.is(initialize)) decodeInitialize(call, emit)
  }
}

function decodeSwap(call: Invocation, emit: Emitter, exact: 'in' | 'out'): void {
  const accounts = swapAccounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const source = call.account(accounts.source)
  const destination = call.account(accounts.destination)
  const vaults = vaultsThatMoved(call, source, destination)
  if (vaults === null) return emit.missing('no-movements')
  const fill = readFill(call, { vaults, source, destination })
  if (fill.kind === 'none') return emit.missing(fill.reason)
  emit.trade({
    pool: call.key(accounts.amm)!,
    user: call.tokens.trader(call.account(accounts.owner), [source, destination]),
    ...fillAmounts(fill),
    exact
  })
}

/** Finds the vaults by the trader's transfers, because published account lists place them differently. */
function vaultsThatMoved(
  call: Invocation,
  source: number,
  destination: number
): readonly [number, number] | null {
  let into = -1
  let outOf = -1
  for (const movement of call.movements) {
    if (movement.kind !== 'transfer' || movement.amount === 0n) continue
    if (movement.source === source) into = movement.destination
    else if (movement.destination === destination) outOf = movement.source
  }
  return into < 0 || outOf < 0 ? null : [into, outOf]
}

function decodeLiquidity(call: Invocation, emit: Emitter, event: 'add' | 'remove'): void {
  const accounts = deposit.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const vaults = [call.account(accounts.coinVault), call.account(accounts.pcVault)] as const
  emitLiquidity(call, emit, {
    event,
    pool: call.key(accounts.amm)!,
    owner: ownerOf(call, vaults),
    vaults,
    lpMint: call.account(accounts.lpMint),
    position: null
  })
}

/**
 * Returns the provider: the signer that authorized the deposit or the burning of the shares. If no signer did, returns the
 * authority of the accounts that paid the shares or the deposit.
 */
function ownerOf(call: Invocation, vaults: readonly number[]): number {
  const { signerCount } = call.transaction
  const paid = call.movements.filter(
    ({ kind, source, authority }) => kind !== 'mint' && authority >= 0 && !vaults.includes(source)
  )
  return (paid.find(({ authority }) => authority < signerCount) ?? paid[0])?.authority ?? -1
}

function decodeInitialize(call: Invocation, emit: Emitter): void {
  const accounts = initialize.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emit.pool({
    pool: call.key(accounts.amm)!,
    user: call.tokens.trader(-1, []),
    baseMint: call.key(accounts.coinMint)!,
    quoteMint: call.key(accounts.pcMint)!,
    baseVault: call.key(accounts.coinVault),
    quoteVault: call.key(accounts.pcVault)
  })
}

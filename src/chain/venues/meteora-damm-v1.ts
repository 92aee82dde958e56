import type { Emitter } from '../emitter.ts'
import type { Fee } from '../events.ts'
import { readFill, type Fill } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import type { Pubkey } from '../pubkey.ts'
import { noSelfCall, type Venue } from '../venue.ts'
import {
  ADDS,
  INITIALIZES,
  METEORA_DAMM_V1_EVENTS,
  METEORA_DAMM_V1_INSTRUCTIONS,
  REMOVES,
  initializePermissionedPool,
  swap,
  swapEvent
} from './meteora-damm-v1-layouts.ts'
import { decodeCreate, decodeLiquidity, decodePermissionedCreate } from './meteora-damm-v1-pool.ts'

// Many pools share a vault for their tokens, so tokens move below the calls of the vault program.

export const meteoraDammV1: Venue = {
  id: 'meteora-damm-v1',
  programs: ['Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB'],
  transport: 'log',
  instructions: METEORA_DAMM_V1_INSTRUCTIONS,
  events: METEORA_DAMM_V1_EVENTS,
  statedEventOffset: noSelfCall,
  decode(call, emit) {
    if (call.is(swap)) decodeSwap(call, emit)
    else if ([...ADDS, ...REMOVES].some((change) => call.is(change))) decodeLiquidity(call, emit)
    else if (call.is(initializePermissionedPool)) decodePermissionedCreate(call, emit)
    else if (INITIALIZES.some((initialize) => call.is(initialize))) decodeCreate(call, emit)
  }
}

function decodeSwap(call: Invocation, emit: Emitter): void {
  const accounts = swap.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const vaultA = call.account(accounts.aTokenVault)
  const source = call.account(accounts.userSourceToken)
  const destination = call.account(accounts.userDestinationToken)
  const fill = readFill(call, { vaults: [vaultA, call.account(accounts.bTokenVault)], source, destination })
  if (fill.kind === 'none') return emit.missing(fill.reason)
  const aside = paidAside(call, fill, source)
  const inAmount = fill.inNet + aside
  const stated = call.loggedEvents(swapEvent)[0]?.value
  if (stated !== undefined) {
    const [inLp, outLp] =
      fill.inVault === vaultA
        ? [accounts.aVaultLpMint, accounts.bVaultLpMint]
        : [accounts.bVaultLpMint, accounts.aVaultLpMint]
    const inSlack = shareRounding(call, 'mint', call.account(inLp), fill.inGross)
    const outSlack = shareRounding(call, 'burn', call.account(outLp), fill.outGross)
    if (!within(stated.inAmount, inAmount, inSlack) || !within(stated.outAmount, fill.outGross, outSlack)) {
      emit.disagreement(
        `event ${stated.inAmount} → ${stated.outAmount}, transfers ${inAmount} → ${fill.outGross}`
      )
    }
  }
  emit.trade({
    pool: call.key(accounts.pool)!,
    user: call.tokens.trader(call.account(accounts.user), [source, destination]),
    inMint: fill.inMint,
    outMint: fill.outMint,
    inAmount,
    outAmount: fill.outGross,
    vaults: [fill.inVault, fill.outVault],
    traderIn: fill.inGross + aside,
    traderOut: fill.outNet,
    fees: stated === undefined ? transferredFee(fill.inMint, aside) : statedFees(fill.inMint, stated),
    exact: 'in'
  })
}

/** Sums the protocol's fee and a host's share of it, which the trader pays directly, not through the vault. */
function paidAside(call: Invocation, fill: Fill, source: number): bigint {
  let aside = 0n
  for (const { kind, source: from, destination: to, amount } of call.movements) {
    if (kind === 'transfer' && from === source && to !== fill.inVault && to !== source) aside += amount
  }
  return aside
}

/**
 * Returns the allowed difference between event and transfers. The event compares the worth of the pool's vault shares
 * before and after, both rounded. One share is worth the moved amount divided by the shares minted or burned. Locked
 * profit of the vault adds up to 6 millionths in recorded swaps; a ten-thousandth is allowed.
 */
function shareRounding(call: Invocation, kind: 'mint' | 'burn', lpMint: number, moved: bigint): bigint {
  const shares =
    call.movements.find((movement) => movement.kind === kind && movement.mint === lpMint)?.amount ?? 0n
  return shares === 0n ? moved : 2n * (moved / shares + 1n) + moved / 10_000n
}

function within(stated: bigint, transferred: bigint, slack: bigint): boolean {
  const difference = stated > transferred ? stated - transferred : transferred - stated
  return difference <= slack
}

function transferredFee(mint: Pubkey, amount: bigint): readonly Fee[] {
  return amount > 0n ? [{ kind: 'protocol', mint, amount }] : []
}

function statedFees(
  mint: Pubkey,
  stated: { readonly tradeFee: bigint; readonly protocolFee: bigint; readonly hostFee: bigint }
): readonly Fee[] {
  const fees: Fee[] = [
    { kind: 'lp', mint, amount: stated.tradeFee },
    { kind: 'protocol', mint, amount: stated.protocolFee },
    { kind: 'host', mint, amount: stated.hostFee }
  ]
  return fees.filter(({ amount }) => amount > 0n)
}

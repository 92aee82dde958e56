import type { Emitter } from '../emitter.ts'
import { vaultChange } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import {
  ADDS,
  INITIALIZES,
  REMOVES,
  initializeCustomizable,
  initializePermissionedPool,
  initializeWithFeeTier
} from './meteora-damm-v1-layouts.ts'
import { emitLiquidity, movedPair } from './meteora-liquidity.ts'

/**
 * Emits liquidity from the amounts that the pool's shared vaults received or paid in the call. The events are not read:
 * they repeat the amounts rounded to shares.
 */
export function decodeLiquidity(call: Invocation, emit: Emitter): void {
  const add = ADDS.find((candidate) => call.is(candidate))
  const accounts = (add ?? REMOVES.find((candidate) => call.is(candidate)))?.accounts(call.accountCount)
  if (accounts == null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const event = add === undefined ? 'remove' : 'add'
  const vaults = [call.account(accounts.aTokenVault), call.account(accounts.bTokenVault)] as const
  const mintA = call.tokens.mintOf(vaults[0])
  const mintB = call.tokens.mintOf(vaults[1])
  if (mintA === null || mintB === null) return emit.missing('mint-unknown')
  emitLiquidity(emit, {
    event,
    pool: call.key(accounts.pool)!,
    user: call.tokens.trader(call.account(accounts.user), []),
    mints: [mintA, mintB],
    stated: null,
    moved: movedPair(call, event, vaults),
    lpAmount: sharesMoved(call, call.account(accounts.lpMint))
  })
}

function sharesMoved(call: Invocation, lpMint: number): bigint | null {
  const moved = call.movements.find(
    ({ kind, mint }) => (kind === 'mint' || kind === 'burn') && mint === lpMint
  )
  return moved?.amount ?? null
}

/** Emits the creation of a pool that anyone may create; it takes its first tokens at once. */
export function decodeCreate(call: Invocation, emit: Emitter): void {
  const accounts = INITIALIZES.find((candidate) => call.is(candidate))?.accounts(call.accountCount)
  if (accounts == null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emit.pool({
    pool: call.key(accounts.pool)!,
    user: call.tokens.trader(call.account(accounts.payer), []),
    baseMint: call.key(accounts.tokenAMint)!,
    quoteMint: call.key(accounts.tokenBMint)!,
    baseVault: call.key(accounts.aTokenVault),
    quoteVault: call.key(accounts.bTokenVault),
    feeBps: feeBps(call),
    initialBase: vaultChange(call, call.account(accounts.aTokenVault)),
    initialQuote: vaultChange(call, call.account(accounts.bTokenVault))
  })
}

/** Emits the creation of the operator's pool: it starts empty, and its instruction does not name the token vaults. */
export function decodePermissionedCreate(call: Invocation, emit: Emitter): void {
  const accounts = initializePermissionedPool.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emit.pool({
    pool: call.key(accounts.pool)!,
    user: call.tokens.trader(call.account(accounts.payer), []),
    baseMint: call.key(accounts.tokenAMint)!,
    quoteMint: call.key(accounts.tokenBMint)!
  })
}

/**
 * Returns the fee in basis points. A fee tier states the fee in that unit, a customizable pool in units of 1e-5. Null for
 * other pools, whose fee is stored in an account.
 */
function feeBps(call: Invocation): number | null {
  if (call.is(initializeWithFeeTier)) {
    const args = call.args(initializeWithFeeTier)
    return args === null ? null : Number(args.value.tradeFeeBps)
  }
  if (call.is(initializeCustomizable)) {
    const args = call.args(initializeCustomizable)
    return args === null ? null : args.value.tradeFeeNumerator / 10
  }
  return null
}

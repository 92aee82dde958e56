import type { Emitter } from '../emitter.ts'
import type { Invocation } from '../invocation.ts'
import { movedSides, sameSides, type Sides, type SidesPair } from '../liquidity-sides.ts'
import { addLiquidityEvent, lbPairCreateEvent, removeLiquidityEvent } from './meteora-dlmm-events.ts'
import {
  ADDS,
  CUSTOMIZABLE_PAIRS,
  ONE_SIDED_ADDS,
  OTHER_PAIRS,
  REMOVES
} from './meteora-dlmm-instructions.ts'
import { emitLiquidity, movedPair } from './meteora-liquidity.ts'

/** Emits an add or removal of both tokens; either amount may be zero. */
export function decodeTwoSided(call: Invocation, emit: Emitter): void {
  const add = ADDS.find((candidate) => call.is(candidate))
  const accounts = (add ?? REMOVES.find((candidate) => call.is(candidate)))?.accounts(call.accountCount)
  if (accounts == null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const event = add === undefined ? 'remove' : 'add'
  const stated = call.statedEvents(event === 'add' ? addLiquidityEvent : removeLiquidityEvent)[0]
  emitLiquidity(emit, {
    event,
    pool: call.key(accounts.lbPair)!,
    user: call.tokens.trader(call.account(accounts.sender), []),
    mints: [call.key(accounts.tokenXMint)!, call.key(accounts.tokenYMint)!],
    stated: stated === undefined ? null : statedSides(event, stated.value.amounts),
    moved: movedPair(call, event, [call.account(accounts.reserveX), call.account(accounts.reserveY)]),
    position: call.key(accounts.position)
  })
}

/** Emits an add of one token. The instruction names only that token; the event states its side of the pair. */
export function decodeOneSidedAdd(call: Invocation, emit: Emitter): void {
  const add = ONE_SIDED_ADDS.find((candidate) => call.is(candidate))
  const accounts = add?.accounts(call.accountCount)
  if (accounts == null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const stated = call.statedEvents(addLiquidityEvent)[0]
  if (stated === undefined) return emit.missing('event-missing', 'AddLiquidity')
  const { amounts } = stated.value
  const [x, y] = [amounts[0] ?? 0n, amounts[1] ?? 0n]
  if (x > 0n && y > 0n) return emit.missing('readings-contradict', 'a one-sided add of two tokens')
  const mint = call.key(accounts.tokenMint)!
  const moved = movedSides(call, 'add', call.account(accounts.reserve))
  emitLiquidity(emit, {
    event: 'add',
    pool: call.key(accounts.lbPair)!,
    user: call.tokens.trader(call.account(accounts.sender), [call.account(accounts.userToken)]),
    mints: x > 0n ? [mint, null] : [null, mint],
    stated: statedSides('add', amounts),
    moved: x > 0n ? [moved, sameSides(0n)] : [sameSides(0n), moved],
    position: call.key(accounts.position)
  })
}

/** Emits the creation of a pair; it starts empty, and separate adds fill it. */
export function decodeCreate(call: Invocation, emit: Emitter): void {
  const customizable = CUSTOMIZABLE_PAIRS.find((candidate) => call.is(candidate))
  const accounts = (customizable ?? OTHER_PAIRS.find((candidate) => call.is(candidate)))?.accounts(
    call.accountCount
  )
  if (accounts == null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  if (call.statedEvents(lbPairCreateEvent).length === 0) return emit.missing('event-missing', 'LbPairCreate')
  const params = customizable === undefined ? undefined : call.args(customizable)?.value.params
  emit.pool({
    pool: call.key(accounts.lbPair)!,
    user: call.tokens.trader(call.account(accounts.funder), []),
    baseMint: call.key(accounts.tokenXMint)!,
    quoteMint: call.key(accounts.tokenYMint)!,
    baseVault: call.key(accounts.reserveX),
    quoteVault: call.key(accounts.reserveY),
    // The base fee is factor × step × 10^power in units of 1e-8; a variable fee is added to it.
    feeBps:
      params === undefined
        ? null
        : (params.baseFactor * params.binStep * 10 ** params.baseFeePowerFactor) / 10_000
  })
}

/** Returns the stated sides: an add states the debits of its sender, a removal the debits of the vaults. */
function statedSides(event: 'add' | 'remove', amounts: readonly bigint[]): SidesPair {
  const sidesOf = (amount = 0n): Sides =>
    event === 'add' ? { vault: null, trader: amount } : { vault: amount, trader: null }
  return [sidesOf(amounts[0]), sidesOf(amounts[1])]
}

import type { Emitter } from '../emitter.ts'
import type { Invocation } from '../invocation.ts'
import type { SidesPair } from '../liquidity-sides.ts'
import { addLiquidityEvent, liquidityChangeEvent, removeLiquidityEvent } from './meteora-damm-v2-events.ts'
import { REMOVES, addLiquidity } from './meteora-damm-v2-instructions.ts'
import { emitLiquidity, movedPair } from './meteora-liquidity.ts'

/** Emits a change of a position's liquidity. */
export function decodeLiquidity(call: Invocation, emit: Emitter): void {
  const event = call.is(addLiquidity) ? 'add' : 'remove'
  const accounts = (event === 'add' ? addLiquidity : REMOVES[0]).accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emitLiquidity(emit, {
    event,
    pool: call.key(accounts.pool)!,
    user: call.tokens.trader(call.account(accounts.owner), []),
    mints: [call.key(accounts.tokenAMint)!, call.key(accounts.tokenBMint)!],
    stated: statedSides(call, event),
    moved: movedPair(call, event, [call.account(accounts.tokenAVault), call.account(accounts.tokenBVault)]),
    position: call.key(accounts.position)
  })
}

/**
 * Returns the amounts that the event of the program's version states; null if the call states no event. An add states the
 * vaults' amounts, without and with the transfer fee. A removal states the credits of its owner and the debits of the
 * vaults; before 0.1.6 only the debits.
 */
function statedSides(call: Invocation, event: 'add' | 'remove'): SidesPair | null {
  const changed = call.statedEvents(liquidityChangeEvent)[0]?.value
  if (changed !== undefined) {
    const { tokenAAmount, tokenBAmount } = changed
    const { transferFeeIncludedTokenAAmount: grossA, transferFeeIncludedTokenBAmount: grossB } = changed
    return event === 'add'
      ? [
          { vault: tokenAAmount, trader: grossA },
          { vault: tokenBAmount, trader: grossB }
        ]
      : [
          { vault: grossA, trader: tokenAAmount },
          { vault: grossB, trader: tokenBAmount }
        ]
  }
  if (event === 'add') {
    const added = call.statedEvents(addLiquidityEvent)[0]?.value
    if (added === undefined) return null
    return [
      { vault: added.tokenAAmount, trader: added.totalAmountA },
      { vault: added.tokenBAmount, trader: added.totalAmountB }
    ]
  }
  const removed = call.statedEvents(removeLiquidityEvent)[0]?.value
  if (removed === undefined) return null
  return [
    { vault: removed.tokenAAmount, trader: null },
    { vault: removed.tokenBAmount, trader: null }
  ]
}

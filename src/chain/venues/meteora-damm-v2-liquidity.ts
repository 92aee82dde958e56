import type { Emitter } from '../emitter.ts'
import type { Invocation } from '../invocation.ts'
import { addLiquidityEvent, liquidityChangeEvent, removeLiquidityEvent } from './meteora-damm-v2-events.ts'
import { REMOVES, addLiquidity } from './meteora-damm-v2-instructions.ts'
import { emitLiquidity, vaultAmounts, type Amounts } from './meteora-liquidity.ts'

/** An add or removal of a position's liquidity. */
export function decodeLiquidity(call: Invocation, emit: Emitter): void {
  const event = call.is(addLiquidity) ? 'add' : 'remove'
  const accounts = (event === 'add' ? addLiquidity : REMOVES[0]).accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  emitLiquidity(emit, {
    event,
    pool: call.key(accounts.pool)!,
    user: call.tokens.trader(call.account(accounts.owner), []),
    mints: [call.key(accounts.tokenAMint)!, call.key(accounts.tokenBMint)!],
    stated: statedAmounts(call, event),
    moved: vaultAmounts(call, event, [
      call.account(accounts.tokenAVault),
      call.account(accounts.tokenBVault)
    ]),
    position: call.key(accounts.position)
  })
}

/** What the vaults received or gave, by the event of the program's version; null without one. */
function statedAmounts(call: Invocation, event: 'add' | 'remove'): Amounts | null {
  const older = event === 'add' ? addLiquidityEvent : removeLiquidityEvent
  const value = (call.statedEvents(liquidityChangeEvent)[0] ?? call.statedEvents(older)[0])?.value
  return value === undefined ? null : [value.tokenAAmount, value.tokenBAmount]
}

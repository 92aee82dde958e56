import type { Emitter } from '../emitter.ts'
import type { Invocation } from '../invocation.ts'
import type { Pubkey } from '../pubkey.ts'

/** Amounts of a pool's first and second token, in base units. */
export type Pair = readonly [bigint, bigint]

export interface LiquidityAccounts {
  readonly event: 'add' | 'remove'
  readonly pool: Pubkey
  /** Key indexes of the provider and of the pool's vaults, first token first. */
  readonly owner: number
  readonly vaults: readonly [number, number]
  /** Key index of the mint of the pool's shares, -1 where a position holds them. */
  readonly lpMint: number
  readonly position: Pubkey | null
  /** Whether the instruction may move nothing, as the opening of an empty position does. */
  readonly mayBeEmpty?: boolean
}

/** What an event states: the liquidity itself, and what crossed the vaults for it, claimed fees included. */
export interface StatedLiquidity {
  readonly amounts: Pair
  readonly moved: Pair
}

/**
 * Emits liquidity that came into a pool's vaults or left them. Only one direction is counted: what an order book
 * settles into the vaults during a withdrawal is none of the provider's.
 */
export function emitLiquidity(
  call: Invocation,
  emit: Emitter,
  accounts: LiquidityAccounts,
  stated: StatedLiquidity | null = null
): void {
  const { event, vaults } = accounts
  const moved = movedLiquidity(call, event, vaults)
  if (stated !== null && moved !== null && !samePair(stated.moved, moved)) {
    return emit.missing('readings-contradict', `event ${String(stated.moved)}, transfers ${String(moved)}`)
  }
  const amounts = stated?.amounts ?? moved
  if (amounts === null) return emit.missing('transfer-fee-unknown')
  if (amounts[0] === 0n && amounts[1] === 0n) {
    if (accounts.mayBeEmpty !== true) emit.missing('no-movements')
    return
  }
  const baseMint = call.tokens.mintOf(vaults[0])
  const quoteMint = call.tokens.mintOf(vaults[1])
  if (baseMint === null || quoteMint === null) return emit.missing('mint-unknown')
  emit.liquidity({
    event,
    pool: accounts.pool,
    user: call.tokens.trader(accounts.owner, []),
    baseMint,
    quoteMint,
    baseAmount: amounts[0],
    quoteAmount: amounts[1],
    lpAmount: sharesMoved(call, accounts),
    position: accounts.position
  })
}

/** What came into (add) or left (remove) two vaults; null when a transfer fee is unknown. */
export function movedLiquidity(
  call: Invocation,
  event: 'add' | 'remove',
  vaults: readonly [number, number]
): Pair | null {
  const moved: [bigint, bigint] = [0n, 0n]
  for (const movement of call.movements) {
    if (movement.kind !== 'transfer') continue
    const side = vaults.indexOf(event === 'add' ? movement.destination : movement.source)
    if (side < 0) continue
    const amount = event === 'add' ? call.tokens.credited(movement) : movement.amount
    if (amount === null) return null
    moved[side as 0 | 1] += amount
  }
  return moved
}

function sharesMoved(call: Invocation, { event, lpMint }: LiquidityAccounts): bigint | null {
  if (lpMint < 0) return null
  const kind = event === 'add' ? 'mint' : 'burn'
  return call.movements.find((movement) => movement.kind === kind && movement.mint === lpMint)?.amount ?? null
}

function samePair(left: Pair, right: Pair): boolean {
  return left[0] === right[0] && left[1] === right[1]
}

import type { Emitter } from '../emitter.ts'
import type { Invocation } from '../invocation.ts'
import { sidesText, type Sides, type SidesPair } from '../liquidity-sides.ts'
import type { Pubkey } from '../pubkey.ts'

/** Amounts of a pool's first and second token, in base units. */
export type Pair = readonly [bigint, bigint]

export interface LiquidityAccounts {
  readonly event: 'add' | 'remove'
  readonly pool: Pubkey
  /** Key indexes of the provider and of the pool's vaults, first token first. */
  readonly owner: number
  readonly vaults: readonly [number, number]
  /** Key index of the mint of the pool's shares, -1 if a position holds them. */
  readonly lpMint: number
  readonly position: Pubkey | null
  /** Whether the instruction may move nothing, as when it opens an empty position. */
  readonly mayBeEmpty?: boolean
}

/** Amounts in base units that an event states, on the vaults' side. */
export interface StatedLiquidity {
  /** The liquidity itself. */
  readonly amounts: Pair
  /** Amounts that crossed the vaults, claimed fees included. */
  readonly moved: Pair
  /** Token-2022 transfer fees on the amounts that crossed the vaults. */
  readonly transferFees: Pair
}

/**
 * Emits liquidity that entered or left a pool's vaults. Counts one direction only: an order book may settle other
 * amounts into the vaults during a withdrawal.
 */
export function emitLiquidity(
  call: Invocation,
  emit: Emitter,
  accounts: LiquidityAccounts,
  stated: StatedLiquidity | null = null
): void {
  const { event, vaults } = accounts
  const moved = movedSides(call, event, vaults)
  if (stated !== null && !(agrees(stated.moved[0], moved[0]) && agrees(stated.moved[1], moved[1]))) {
    const transfers = moved.map(sidesText).join(',')
    return emit.missing('readings-contradict', `event ${String(stated.moved)}, transfers ${transfers}`)
  }
  const base = sidesOf(event, stated, moved, 0)
  const quote = sidesOf(event, stated, moved, 1)
  if (base.vault === null || quote.vault === null) return emit.missing('transfer-fee-unknown')
  if (base.vault === 0n && quote.vault === 0n) {
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
    baseAmount: base.vault,
    quoteAmount: quote.vault,
    traderBase: base.trader,
    traderQuote: quote.trader,
    lpAmount: sharesMoved(call, accounts),
    position: accounts.position
  })
}

/** Returns the amounts, in base units, that a call moved into two vaults; null if a transfer fee is unknown. */
export function depositedAmounts(call: Invocation, vaults: readonly [number, number]): Pair | null {
  const [first, second] = movedSides(call, 'add', vaults)
  return first.vault === null || second.vault === null ? null : [first.vault, second.vault]
}

/** Sums the transfers into (add) or out of (remove) two vaults, counted on both sides. */
function movedSides(call: Invocation, event: 'add' | 'remove', vaults: readonly [number, number]): SidesPair {
  const gross: [bigint, bigint] = [0n, 0n]
  const credited: [bigint | null, bigint | null] = [0n, 0n]
  for (const movement of call.movements) {
    if (movement.kind !== 'transfer') continue
    const vault = event === 'add' ? movement.destination : movement.source
    if (!vaults.includes(vault)) continue
    const token = vault === vaults[0] ? 0 : 1
    const [sum, more] = [credited[token], call.tokens.credited(movement)]
    gross[token] += movement.amount
    credited[token] = sum === null || more === null ? null : sum + more
  }
  const sides = (token: 0 | 1): Sides =>
    event === 'add'
      ? { vault: credited[token], trader: gross[token] }
      : { vault: gross[token], trader: credited[token] }
  return [sides(0), sides(1)]
}

/**
 * Returns the sides of one token: the event separates liquidity from claimed fees, the transfers show the transfer fee.
 */
function sidesOf(
  event: 'add' | 'remove',
  stated: StatedLiquidity | null,
  moved: SidesPair,
  token: 0 | 1
): Sides {
  const { vault, trader } = moved[token]
  if (stated === null) return { vault, trader }
  const amount = stated.amounts[token]
  const isAlone = stated.moved[token] === amount
  if (isAlone && trader !== null) return { vault: amount, trader }
  const statedFee = stated.transferFees[token]
  const fee = vault === null || trader === null ? (event === 'add' ? statedFee : -statedFee) : trader - vault
  // The share of a transfer fee that fell on the claimed fees is unknown.
  return { vault: amount, trader: isAlone || fee === 0n ? amount + fee : null }
}

function agrees(stated: bigint, { vault }: Sides): boolean {
  return vault === null || vault === stated
}

function sharesMoved(call: Invocation, { event, lpMint }: LiquidityAccounts): bigint | null {
  if (lpMint < 0) return null
  const kind = event === 'add' ? 'mint' : 'burn'
  return call.movements.find((movement) => movement.kind === kind && movement.mint === lpMint)?.amount ?? null
}

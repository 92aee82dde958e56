import type { Emitter } from '../emitter.ts'
import { vaultChange } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import { movedSides, settleSides, sidesText, type SidesPair } from '../liquidity-sides.ts'
import type { Pubkey } from '../pubkey.ts'

/** Amounts of a pool's first and second token, in base units. */
export type Amounts = readonly [bigint, bigint]

export interface LiquidityReading {
  readonly event: 'add' | 'remove'
  readonly pool: Pubkey
  readonly user: Pubkey
  /** Null for a token that the transaction does not name; its amount is then zero. */
  readonly mints: readonly [Pubkey | null, Pubkey | null]
  /** Amounts that the event states; null if the call states no event. */
  readonly stated: SidesPair | null
  /** Amounts that the transfers show. */
  readonly moved: SidesPair
  readonly lpAmount?: bigint | null
  readonly position?: Pubkey | null
  readonly innerIxIndex?: number | null
}

/**
 * Emits liquidity as its event states it, or from the transfers if no event is stated. A vault may also have paid amounts
 * owed from before, so a difference is noted and the event wins. A change that moved nothing is not emitted.
 */
export function emitLiquidity(emit: Emitter, reading: LiquidityReading): void {
  const { stated, moved, mints, innerIxIndex } = reading
  const base = settleSides(stated?.[0] ?? null, moved[0])
  const quote = settleSides(stated?.[1] ?? null, moved[1])
  if (stated !== null && !(base.agrees && quote.agrees)) emit.disagreement(differenceText(stated, moved))
  if (base.vault === null || quote.vault === null) return emit.missing('transfer-fee-unknown')
  if (base.vault === 0n && quote.vault === 0n) return
  emit.liquidity({
    event: reading.event,
    pool: reading.pool,
    user: reading.user,
    baseMint: mints[0],
    quoteMint: mints[1],
    baseAmount: base.vault,
    quoteAmount: quote.vault,
    traderBase: base.trader,
    traderQuote: quote.trader,
    lpAmount: reading.lpAmount ?? null,
    position: reading.position ?? null,
    ...(innerIxIndex !== undefined && { innerIxIndex })
  })
}

/** Describes two readings of a pool's tokens that differ. */
export function differenceText(stated: SidesPair, moved: SidesPair): string {
  return `event ${stated.map(sidesText).join(', ')}, transfers ${moved.map(sidesText).join(', ')}`
}

/**
 * Returns the net amounts, in base units, that a call moved into (add) or out of (remove) two vaults, counted on both
 * sides.
 */
export function movedPair(
  call: Invocation,
  event: 'add' | 'remove',
  vaults: readonly [number, number]
): SidesPair {
  return [movedSides(call, event, vaults[0]), movedSides(call, event, vaults[1])]
}

/** Returns the net amounts, in base units, that a call moved into two vaults; null if a transfer fee is unknown. */
export function vaultAmounts(call: Invocation, vaults: readonly [number, number]): Amounts | null {
  const first = vaultChange(call, vaults[0])
  const second = vaultChange(call, vaults[1])
  return first === null || second === null ? null : [first, second]
}

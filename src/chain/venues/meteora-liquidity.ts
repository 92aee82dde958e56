import type { Emitter } from '../emitter.ts'
import { vaultChange } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import type { Pubkey } from '../pubkey.ts'

/** Amounts of a pool's first and second token, in base units. */
export type Amounts = readonly [bigint, bigint]

export interface LiquidityReading {
  readonly event: 'add' | 'remove'
  readonly pool: Pubkey
  readonly user: Pubkey
  /** Null for a token that the transaction does not name; its amount is zero then. */
  readonly mints: readonly [Pubkey | null, Pubkey | null]
  /** What the event states, and what the vaults show; null where there is no such reading. */
  readonly stated: Amounts | null
  readonly moved: Amounts | null
  readonly lpAmount?: bigint | null
  readonly position?: Pubkey | null
  readonly innerIxIndex?: number | null
}

/**
 * Emits liquidity as its event states it, or as the vaults show it where there is no event. A vault may also have paid
 * what was owed before, so a difference is noted and the event holds. What moved nothing is no event.
 */
export function emitLiquidity(emit: Emitter, reading: LiquidityReading): void {
  const { stated, moved, mints, innerIxIndex } = reading
  if (stated !== null && moved !== null && (stated[0] !== moved[0] || stated[1] !== moved[1])) {
    emit.disagreement(`event ${stated.join(', ')}, transfers ${moved.join(', ')}`)
  }
  const amounts = stated ?? moved
  if (amounts === null) return emit.missing('transfer-fee-unknown')
  if (amounts[0] === 0n && amounts[1] === 0n) return
  emit.liquidity({
    event: reading.event,
    pool: reading.pool,
    user: reading.user,
    baseMint: mints[0],
    quoteMint: mints[1],
    baseAmount: amounts[0],
    quoteAmount: amounts[1],
    lpAmount: reading.lpAmount ?? null,
    position: reading.position ?? null,
    ...(innerIxIndex !== undefined && { innerIxIndex })
  })
}

/** What a call moved into (add) or out of (remove) two vaults, net; null when a transfer fee is unknown. */
export function vaultAmounts(
  call: Invocation,
  event: 'add' | 'remove',
  vaults: readonly [number, number]
): Amounts | null {
  const first = vaultChange(call, vaults[0])
  const second = vaultChange(call, vaults[1])
  if (first === null || second === null) return null
  return event === 'add' ? [first, second] : [-first, -second]
}

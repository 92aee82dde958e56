import { traderChange, vaultChange } from './fill.ts'
import type { Invocation } from './invocation.ts'

/**
 * One amount of liquidity, as counted by the pool's vault and by the provider's account. They differ only by a
 * Token-2022 transfer fee. Null if the transaction does not show the fee, or an event does not state that side.
 */
export interface Sides {
  readonly vault: bigint | null
  readonly trader: bigint | null
}

/** The sides of a pool's first and second token. */
export type SidesPair = readonly [Sides, Sides]

/** Returns sides with one amount for both. */
export function sameSides(amount: bigint): Sides {
  return { vault: amount, trader: amount }
}

/**
 * Returns the net amounts, in base units, that a call moved into (add) or out of (remove) a vault, counted on both
 * sides.
 */
export function movedSides(call: Invocation, event: 'add' | 'remove', vault: number): Sides {
  const [received, paid] = [vaultChange(call, vault), traderChange(call, vault)]
  return event === 'add' ? { vault: received, trader: paid } : negated({ vault: received, trader: paid })
}

function negated({ vault, trader }: Sides): Sides {
  return { vault: vault === null ? null : -vault, trader: trader === null ? null : -trader }
}

/**
 * Combines two readings of one token: the event's amounts win, and the transfers supply the side that the event omits.
 * `agrees` is false if the readings differ by more than the transfer fee.
 */
export function settleSides(stated: Sides | null, moved: Sides): Sides & { readonly agrees: boolean } {
  if (stated === null) return { ...moved, agrees: true }
  const only = stated.vault === null || stated.trader === null ? (stated.vault ?? stated.trader) : null
  // An event with one amount may count either side, because only the fee lies between them.
  const explained = moved.vault !== null && moved.trader !== null
  if (only !== null && explained && (only === moved.vault || only === moved.trader)) {
    return { ...moved, agrees: true }
  }
  return {
    vault: stated.vault ?? counterpart(stated.trader, moved.trader, moved.vault),
    trader: stated.trader ?? counterpart(stated.vault, moved.vault, moved.trader),
    agrees: isCompatible(stated.vault, moved.vault) && isCompatible(stated.trader, moved.trader)
  }
}

/** Returns the other side of a stated amount; null if an unknown transfer fee lies between them. */
function counterpart(stated: bigint | null, moved: bigint | null, movedOther: bigint | null): bigint | null {
  if (stated === 0n || stated === null) return stated
  if (stated === moved) return movedOther
  return moved !== null && moved === movedOther ? stated : null
}

function isCompatible(stated: bigint | null, moved: bigint | null): boolean {
  return stated === null || moved === null || stated === moved
}

/** Formats sides for a message: one amount, or the vault's and the provider's. */
export function sidesText({ vault, trader }: Sides): string {
  return vault === trader ? String(vault) : `${vault ?? '?'} (provider ${trader ?? '?'})`
}

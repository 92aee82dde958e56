import type { MissingReason } from './emitter.ts'
import type { Invocation } from './invocation.ts'
import type { Pubkey } from './pubkey.ts'

/** What two transfers between a trader and two vaults exchanged. Base units. */
export interface Fill {
  readonly kind: 'fill'
  readonly inVault: number
  readonly outVault: number
  readonly inMint: Pubkey
  readonly outMint: Pubkey
  /** What left the trader, and what the input vault was credited: equal but for a Token-2022 transfer fee. */
  readonly inGross: bigint
  readonly inNet: bigint
  /** What the output vault sent to the trader, and what the trader was credited. */
  readonly outGross: bigint
  readonly outNet: bigint
  /** Index in the inner group of the transfer that moved the input. */
  readonly inInnerIndex: number | null
}

export type FillReading = Fill | { readonly kind: 'none'; readonly reason: MissingReason }

export interface FillAccounts {
  /** Key indexes of the pool's two vaults, in any order. */
  readonly vaults: readonly [number, number]
  /** The trader's paying and receiving accounts; -1 where the instruction does not name them. */
  readonly source: number
  readonly destination: number
}

/**
 * The trade that a call's own transfers show: trader → one vault, the other vault → trader. Which vault received
 * decides the direction. Other transfers out of a vault (host, referral, protocol) are not the trade's amount.
 */
export function readFill(call: Invocation, accounts: FillAccounts): FillReading {
  const [vaultA, vaultB] = accounts.vaults
  if (vaultA < 0 || vaultB < 0 || vaultA === vaultB) return { kind: 'none', reason: 'accounts-unknown' }
  let inVault = -1
  for (const { kind, source, destination, amount } of call.movements) {
    if (kind !== 'transfer' || (destination !== vaultA && destination !== vaultB)) continue
    if (source === vaultA || source === vaultB) continue
    if (accounts.source >= 0 && source !== accounts.source) continue
    if (amount === 0n) continue
    if (inVault >= 0 && inVault !== destination) return { kind: 'none', reason: 'ambiguous-movements' }
    inVault = destination
  }
  if (inVault < 0) return { kind: 'none', reason: 'no-movements' }
  const outVault = inVault === vaultA ? vaultB : vaultA
  let inGross = 0n
  let inNet = 0n
  let outGross = 0n
  let outNet = 0n
  let inMint: Pubkey | null = null
  let outMint: Pubkey | null = null
  let inInnerIndex: number | null = null
  for (const movement of call.movements) {
    if (movement.kind !== 'transfer') continue
    const paysIn =
      movement.destination === inVault && (accounts.source < 0 || movement.source === accounts.source)
    const paysOut =
      movement.source === outVault &&
      (accounts.destination < 0 || movement.destination === accounts.destination)
    if (!paysIn && !paysOut) continue
    const credited = call.tokens.credited(movement)
    if (credited === null) return { kind: 'none', reason: 'transfer-fee-unknown' }
    if (paysIn) {
      inGross += movement.amount
      inNet += credited
      inMint ??= call.tokens.mintOf(inVault) ?? call.tokens.mintMoved(movement)
      inInnerIndex ??= movement.instruction.innerIndex
    } else {
      outGross += movement.amount
      outNet += credited
      outMint ??= call.tokens.mintOf(outVault) ?? call.tokens.mintMoved(movement)
    }
  }
  if (outGross === 0n) return { kind: 'none', reason: 'no-movements' }
  if (inMint === null || outMint === null) return { kind: 'none', reason: 'mint-unknown' }
  return {
    kind: 'fill',
    inVault,
    outVault,
    inMint,
    outMint,
    inGross,
    inNet,
    outGross,
    outNet,
    inInnerIndex
  }
}

/** The tokens that a call moved into (positive) or out of (negative) a vault, transfer fees taken off; null when unknown. */
export function vaultChange(call: Invocation, vault: number): bigint | null {
  let change = 0n
  for (const movement of call.movements) {
    if (movement.kind === 'lamports') continue
    if (movement.source === vault) change -= movement.amount
    if (movement.destination === vault) {
      const credited = call.tokens.credited(movement)
      if (credited === null) return null
      change += credited
    }
  }
  return change
}

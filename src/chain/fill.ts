import type { Emitter, MissingReason } from './emitter.ts'
import type { Fee } from './events.ts'
import type { Invocation } from './invocation.ts'
import type { Pubkey } from './pubkey.ts'

/** The exchange shown by two transfers between a trader and two vaults. Amounts in base units. */
export interface Fill {
  readonly kind: 'fill'
  readonly inVault: number
  readonly outVault: number
  readonly inMint: Pubkey
  readonly outMint: Pubkey
  /**
   * The amount that left the trader, and the amount credited to the input vault. They differ by a Token-2022 transfer
   * fee.
   */
  readonly inGross: bigint
  readonly inNet: bigint
  /** The amount that left the output vault, and the amount credited to the trader. */
  readonly outGross: bigint
  readonly outNet: bigint
  /** Index in the inner group of the transfer that moved the input. */
  readonly inInnerIndex: number | null
}

export type FillReading = Fill | { readonly kind: 'none'; readonly reason: MissingReason }

/** The amounts of a fill as a venue's event states them: gross as debited, net as credited. */
export type StatedFill = Pick<Fill, 'inGross' | 'inNet' | 'outGross' | 'outNet'>

export interface FillAccounts {
  /** Key indexes of the pool's two vaults, in any order. */
  readonly vaults: readonly [number, number]
  /** Key indexes of the trader's paying and receiving accounts; -1 if the instruction does not name them. */
  readonly source: number
  readonly destination: number
  /** Amounts from the venue's event; they settle a transfer fee that the record leaves open. */
  readonly stated?: StatedFill | null
}

/**
 * Reads the trade from a call's own transfers: trader → one vault, the other vault → trader. The receiving vault
 * determines the direction. Other transfers out of a vault (host, referral, protocol) do not count. Returns `none` if
 * the vaults' reported balances contradict the transfers.
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
    const credited =
      call.tokens.credited(movement) ?? statedCredit(accounts.stated ?? null, movement.amount, paysIn)
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
  if (contradictsBalance(call, inVault) || contradictsBalance(call, outVault)) {
    return { kind: 'none', reason: 'readings-contradict' }
  }
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

/** Reads a call's fill. Returns null, with a note, if there was no fill. Notes a disagreement with the venue's event. */
export function settleFill(call: Invocation, emit: Emitter, accounts: FillAccounts): Fill | null {
  const fill = readFill(call, accounts)
  if (fill.kind === 'none') {
    emit.missing(fill.reason)
    return null
  }
  const stated = accounts.stated ?? null
  const difference = stated === null ? null : fillDisagreement(fill, stated)
  if (difference !== null) emit.disagreement(difference)
  return fill
}

/**
 * Converts a fill to the amounts of a trade. The fill has the credit of the input vault
 * and the debit of the output vault. The trader's totals have the amounts that left and reached the trader's
 * accounts.
 */
export function fillAmounts(fill: Fill) {
  const { inMint, outMint, inNet, outGross, inGross, outNet } = fill
  const vaults = [fill.inVault, fill.outVault] as const
  return {
    inMint,
    outMint,
    inAmount: inNet,
    outAmount: outGross,
    traderIn: inGross,
    traderOut: outNet,
    vaults
  }
}

/** Tells whether a vault's reported balances contradict the transfers. */
export function contradictsBalance(call: Invocation, vault: number): boolean {
  const change = vaultChange(call, vault)
  return change !== null && call.tokens.balancesContradict(vault, change)
}

function statedCredit(stated: StatedFill | null, amount: bigint, paysIn: boolean): bigint | null {
  if (stated === null) return null
  if (paysIn) return amount === stated.inGross ? stated.inNet : null
  return amount === stated.outGross ? stated.outNet : null
}

/** Describes how a fill differs from the venue's event; null if they agree. */
export function fillDisagreement(fill: Fill, stated: StatedFill): string | null {
  const same =
    fill.inGross === stated.inGross &&
    fill.inNet === stated.inNet &&
    fill.outGross === stated.outGross &&
    fill.outNet === stated.outNet
  return same ? null : `event ${amountsOf(stated)}, transfers ${amountsOf(fill)}`
}

function amountsOf({ inGross, inNet, outGross, outNet }: StatedFill): string {
  return `${inGross} (${inNet}) → ${outGross} (${outNet})`
}

/** Returns the Token-2022 transfer fees on a fill's way in and out. */
export function transferFees(fill: Fill): Fee[] {
  const fees: Fee[] = []
  if (fill.inGross > fill.inNet) {
    fees.push({ kind: 'transfer', mint: fill.inMint, amount: fill.inGross - fill.inNet })
  }
  if (fill.outGross > fill.outNet) {
    fees.push({ kind: 'transfer', mint: fill.outMint, amount: fill.outGross - fill.outNet })
  }
  return fees
}

/**
 * Returns the net amount that a call moved into (positive) or out of (negative) a vault, transfer fees deducted; null
 * when a fee is unknown.
 */
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

/**
 * Converts a net amount to the other end of the transfers: the amount that left other accounts for the vault
 * (positive), or reached them from it (negative). It differs from the vault's change by the transfer fees; null if a
 * fee is unknown.
 */
export function traderChange(call: Invocation, vault: number): bigint | null {
  let change = 0n
  for (const movement of call.movements) {
    if (movement.kind === 'lamports') continue
    if (movement.destination === vault) change += movement.amount
    if (movement.source === vault) {
      const credited = call.tokens.credited(movement)
      if (credited === null) return null
      change -= credited
    }
  }
  return change
}

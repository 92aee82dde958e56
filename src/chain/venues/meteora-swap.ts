import type { Emitter, MissingReason } from '../emitter.ts'
import type { Fee } from '../events.ts'
import { readFill } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import type { Pubkey } from '../pubkey.ts'
import type { Movement } from '../token-movement.ts'

/** The amounts of a swap as the program's event states them, in base units; null if the event omits them. */
export interface StatedSwap {
  /** The amount that left the trader, and the amount credited to the input vault. */
  readonly inGross: bigint
  readonly inNet: bigint | null
  /** The amount that left the output vault for the trader, and the amount credited to the trader. */
  readonly outGross: bigint
  readonly outNet: bigint | null
  /** The amount that the swap paid to a third account, which may be the trader's own. */
  readonly sideFee: bigint
}

/** Key indexes of a swap's accounts, in the direction that the event states. */
export interface SwapAccounts {
  readonly inVault: number
  readonly outVault: number
  readonly source: number
  readonly destination: number
}

/** Both sides of both transfers, in base units: gross as debited, net as credited. */
export interface SettledSwap {
  readonly inGross: bigint
  readonly inNet: bigint
  readonly outGross: bigint
  readonly outNet: bigint
}

/**
 * Combines a swap's two readings: the event, and the transfers between trader and vaults. Returns null, with a note,
 * when they contradict each other or leave a transfer fee open.
 */
export function settleSwap(
  call: Invocation,
  emit: Emitter,
  accounts: SwapAccounts,
  stated: StatedSwap
): SettledSwap | null {
  const { inVault, outVault, source, destination } = accounts
  const { inGross, inNet, outGross, outNet } = stated
  const whole = inNet !== null && outNet !== null ? { inGross, inNet, outGross, outNet } : null
  const fill = readFill(call, { vaults: [inVault, outVault], source, destination, stated: whole })
  if (fill.kind === 'none') return complete(emit, stated, fill.reason)
  const sideFee = fill.outGross - outGross
  if (
    fill.inVault !== inVault ||
    fill.inGross !== inGross ||
    (sideFee !== 0n && sideFee !== stated.sideFee)
  ) {
    const transfers = `${fill.inGross} → ${fill.outGross}`
    emit.missing('readings-contradict', `event ${inGross} → ${outGross}, transfers ${transfers}`)
    return null
  }
  if (inNet !== null && inNet !== fill.inNet) {
    emit.disagreement(`event credits ${inNet} to the vault, transfers ${fill.inNet}`)
  }
  if (sideFee === 0n) return fill
  // The side fee also went to the trader. The net amount of the trade alone is the event's; if there was no transfer fee,
  // it is the gross amount.
  const untaxed = fill.outNet === fill.outGross
  const tradeNet = outNet ?? (untaxed ? outGross : null)
  return complete(emit, { ...stated, inNet: fill.inNet, outNet: tradeNet }, 'transfer-fee-unknown')
}

/** Returns the reading if every amount is known; else notes the reason and returns null. */
function complete(emit: Emitter, stated: StatedSwap, reason: MissingReason): SettledSwap | null {
  const { inGross, inNet, outGross, outNet } = stated
  if (inNet !== null && outNet !== null) return { inGross, inNet, outGross, outNet }
  emit.missing(reason)
  return null
}

/** The two transfers of a swap, found by their amounts alone. */
export interface SwapLegs {
  readonly settled: SettledSwap
  readonly in: Movement
  readonly out: Movement
  readonly inMint: Pubkey
  readonly outMint: Pubkey
}

/**
 * Finds the legs of a swap whose instruction is unknown: a stated event is a trade even then. Each stated amount must
 * have moved exactly once; otherwise notes the reason and returns null.
 */
export function findLegs(call: Invocation, emit: Emitter, stated: StatedSwap): SwapLegs | null {
  const paid = theOnly(call, stated.inGross)
  const got = theOnly(call, stated.outGross)
  if (paid === null || got === null) {
    emit.missing('ambiguous-movements', 'an event without a known instruction')
    return null
  }
  const inMint = call.tokens.mintMoved(paid)
  const outMint = call.tokens.mintMoved(got)
  if (inMint === null || outMint === null) {
    emit.missing('mint-unknown')
    return null
  }
  const inNet = stated.inNet ?? call.tokens.credited(paid)
  const outNet = stated.outNet ?? call.tokens.credited(got)
  const settled = complete(emit, { ...stated, inNet, outNet }, 'transfer-fee-unknown')
  return settled === null ? null : { settled, in: paid, out: got, inMint, outMint }
}

function theOnly(call: Invocation, amount: bigint): Movement | null {
  const moved = call.movements.filter(
    (movement) => movement.kind === 'transfer' && movement.amount === amount
  )
  return moved.length === 1 ? moved[0]! : null
}

/** Returns a trade's amounts: the fill is the vaults' side of both transfers, the totals are the trader's side. */
export function amountsOf({ inGross, inNet, outGross, outNet }: SettledSwap) {
  return { inAmount: inNet, outAmount: outGross, traderIn: inGross, traderOut: outNet }
}

/** Returns the nonzero fees, including those that Token-2022 took from the transfers. */
export function feeRows(
  fees: readonly Fee[],
  settled: SettledSwap,
  inMint: Pubkey,
  outMint: Pubkey
): readonly Fee[] {
  return [
    ...fees,
    { kind: 'transfer' as const, mint: inMint, amount: settled.inGross - settled.inNet },
    { kind: 'transfer' as const, mint: outMint, amount: settled.outGross - settled.outNet }
  ].filter(({ amount }) => amount > 0n)
}

import type { Emitter } from '../emitter.ts'
import type { Fee } from '../events.ts'
import { type Fill, type StatedFill, fillAmounts, settleFill, transferFees } from '../fill.ts'
import type { Invocation } from '../invocation.ts'
import type { Pubkey } from '../pubkey.ts'
import { soleTransfer } from '../sole-transfer.ts'

/** One pool's leg of a swap. Accounts are key indexes. */
export interface Swap {
  readonly pool: Pubkey
  readonly authority: number
  readonly source: number
  readonly destination: number
  readonly vaults: readonly [number, number]
  readonly exact: 'in' | 'out' | null
  /** Whether the instruction names the vaults; otherwise the amounts determine them. */
  readonly isNamed: boolean
  /** True for the second and later hops; the first one has the instruction's own index. */
  readonly further?: boolean
}

/** The reading of a program's event of a trade. */
export interface SwapEvent<Event> {
  readonly amounts: (event: Event) => StatedFill
  readonly fees: (event: Event, fill: Fill) => Fee[]
}

/** Emits the trade that a swap's transfers show; its event, if there is one, is the second reading. */
export function emitSwap<Event>(
  call: Invocation,
  emit: Emitter,
  swap: Swap,
  event: Event | null,
  { amounts, fees }: SwapEvent<Event>
): void {
  const { vaults, source, destination } = swap
  const stated = event === null ? null : amounts(event)
  const fill = settleFill(call, emit, { vaults, source, destination, stated })
  if (fill === null) return
  emit.trade({
    pool: swap.pool,
    user: call.tokens.trader(swap.authority, [source, destination]),
    ...fillAmounts(fill),
    ...(!swap.isNamed && { vaults: null }),
    fees: [...(event === null ? [] : fees(event, fill)), ...transferFees(fill)],
    exact: swap.exact,
    ...(swap.further === true && { innerIxIndex: fill.inInnerIndex })
  })
}

/** Returns the accounts of a trade that an unknown instruction logs, by its transfers. Null, with a note, if several fit. */
export function swapByAmounts(
  call: Invocation,
  emit: Emitter,
  stated: StatedFill
): (Pick<Swap, 'source' | 'destination' | 'vaults' | 'isNamed'> & { readonly payer: number }) | null {
  const paid = soleTransfer(call, stated.inGross)
  const received = soleTransfer(call, stated.outGross)
  if (paid === null || received === null) {
    emit.missing('ambiguous-movements', 'of an unknown instruction')
    return null
  }
  return {
    source: paid.source,
    destination: received.destination,
    vaults: [paid.destination, received.source],
    isNamed: false,
    payer: paid.authority
  }
}

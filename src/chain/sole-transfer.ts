import type { Invocation } from './invocation.ts'
import type { Movement } from './token-movement.ts'

/** Finds the only transfer of an amount among a call's own; null if the call has no such transfer, or several. */
export function soleTransfer(call: Invocation, amount: bigint): Movement | null {
  const found = call.movements.filter(
    (movement) => movement.kind === 'transfer' && movement.amount === amount && amount > 0n
  )
  return found.length === 1 ? found[0]! : null
}

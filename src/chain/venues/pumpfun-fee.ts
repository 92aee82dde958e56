import type { Invocation } from '../invocation.ts'
import { VALUE_PROGRAMS, readMovements, type Movement } from '../token-movement.ts'
import { sell } from './pumpfun-instructions.ts'

/** Events state the fee since May 2025. Before, the fee was one percent, at first rounded down and later up. */
const UNSTATED_FEE_DIVISOR = 100n

/**
 * Returns the fee in lamports of a trade whose event does not state it. A buyer sent the fee to the recipient. A sale
 * debits it without an instruction. If only one sale paid it, the fee is the recipient's gain in the transaction,
 * excluding transfers. One percent if the record shows neither.
 *
 * @param recipient key index of the fee recipient; -1 if unknown
 */
export function unstatedFee(call: Invocation, isBuy: boolean, lamports: bigint, recipient: number): bigint {
  const shown = recipient < 0 ? null : isBuy ? sentTo(call, recipient) : gainedBySale(call, recipient)
  return shown ?? lamports / UNSTATED_FEE_DIVISOR
}

function sentTo(call: Invocation, recipient: number): bigint | null {
  const total = lamportsTo(call.movements, recipient)
  return total === 0n ? null : total
}

function gainedBySale(call: Invocation, recipient: number): bigint | null {
  const { instructions, keys, preBalances, postBalances } = call.transaction
  const before = preBalances[recipient]
  const after = postBalances[recipient]
  if (before === undefined || after === undefined) return null
  const movements: Movement[] = []
  const sink = { movement: (movement: Movement) => void movements.push(movement), opening: () => undefined }
  let sales = 0
  for (const instruction of instructions) {
    const program = keys.lookup(instruction.program, VALUE_PROGRAMS)
    if (program === 'system') readMovements(instruction, program, sink)
    else if (instruction.program === call.instruction.program && instruction.accounts[1] === recipient) {
      if (call.venue.instructions.find(instruction.data) === sell) sales++
    }
  }
  const gain = BigInt(after) - BigInt(before) - lamportsTo(movements, recipient)
  return sales === 1 && gain > 0n ? gain : null
}

function lamportsTo(movements: readonly Movement[], account: number): bigint {
  let total = 0n
  for (const { kind, destination, amount } of movements) {
    if (kind === 'lamports' && destination === account) total += amount
  }
  return total
}

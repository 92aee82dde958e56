import { VENUES_BY_PROGRAM } from '../../chain/venues.ts'
import type { WireTransaction } from '../../chain/wire.ts'

const SIMULATED_MARKET =
  'The market of a localnet is simulated: its DEX programs cannot be called by a transaction. Transfers, tokens, memos and lookup tables work.'

/** Names the DEX that a transaction calls and whose program a localnet lacks; null if it calls no such DEX. */
export function simulatedProgramNote({ instructions, keys }: WireTransaction): string | null {
  for (const { program } of instructions) {
    const venue = VENUES_BY_PROGRAM.ofBytes(keys.subarray(program * 32, program * 32 + 32))
    if (venue !== undefined)
      return `This is a localnet, without the program of ${venue.id}. ${SIMULATED_MARKET}`
  }
  return null
}

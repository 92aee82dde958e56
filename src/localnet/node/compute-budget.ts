import { samePubkey } from '../../chain/pubkey.ts'
import type { WireTransaction } from '../../chain/wire.ts'
import { COMPUTE_BUDGET } from '../programs.ts'

const SET_COMPUTE_UNIT_PRICE = 3
const UNITS_DEFAULT = 200_000

/**
 * Returns the micro-lamports per compute unit that a transaction offers; version 1 states lamports and a limit instead.
 */
export function computeUnitPrice(wire: WireTransaction): number {
  if (wire.config !== null) {
    const { priorityFeeLamports, computeUnitLimit } = wire.config
    return Math.floor((Number(priorityFeeLamports ?? 0n) * 1e6) / (computeUnitLimit ?? UNITS_DEFAULT))
  }
  for (const { program, data } of wire.instructions) {
    if (data[0] !== SET_COMPUTE_UNIT_PRICE || data.length < 9) continue
    const key = wire.keys.subarray(program * 32, program * 32 + 32)
    if (!samePubkey(key, COMPUTE_BUDGET)) continue
    return Number(new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(1, true))
  }
  return 0
}

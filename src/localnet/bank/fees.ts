import { samePubkey } from '../../chain/pubkey.ts'
import type { WireInstruction, WireTransaction } from '../../chain/wire.ts'
import { COMPUTE_BUDGET } from '../programs.ts'
import { isBuiltin, isPrecompile } from './programs.ts'

const LAMPORTS_PER_SIGNATURE = 5_000n
const COMPUTE_UNITS_MAX = 1_400_000
const BUILTIN_COMPUTE_UNITS = 3_000
const DEFAULT_COMPUTE_UNITS = 200_000
const MICRO_LAMPORTS = 1_000_000n
const SET_COMPUTE_UNIT_LIMIT = 2
const SET_COMPUTE_UNIT_PRICE = 3

/**
 * Returns the lamports that a transaction pays whether it succeeds or fails: 5,000 per signature, plus the priority
 * fee. Signatures include those that precompiles check. The priority fee is price × compute unit limit, rounded up.
 * The engine charges an equal amount.
 */
export function feeOf(wire: WireTransaction): bigint {
  let signatures = wire.header.signatures
  for (const instruction of wire.instructions) {
    if (isPrecompile(programOf(wire, instruction))) signatures += instruction.data[0] ?? 0
  }
  return BigInt(signatures) * LAMPORTS_PER_SIGNATURE + priorityFee(wire)
}

function priorityFee(wire: WireTransaction): bigint {
  if (wire.config !== null) return wire.config.priorityFeeLamports ?? 0n
  let price = 0n
  let limit: number | null = null
  let units = 0
  for (const instruction of wire.instructions) {
    const program = programOf(wire, instruction)
    units += isBuiltin(program) ? BUILTIN_COMPUTE_UNITS : DEFAULT_COMPUTE_UNITS
    if (!samePubkey(program, COMPUTE_BUDGET)) continue
    const { data } = instruction
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
    if (data[0] === SET_COMPUTE_UNIT_PRICE && data.length >= 9) price = view.getBigUint64(1, true)
    if (data[0] === SET_COMPUTE_UNIT_LIMIT && data.length >= 5) limit = view.getUint32(1, true)
  }
  const paid = BigInt(Math.min(limit ?? units, COMPUTE_UNITS_MAX))
  const fee = (price * paid + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS
  return BigInt.asUintN(64, fee)
}

/** Returns a program's key; programs are static keys, as `readTransaction` checks. */
function programOf(wire: WireTransaction, { program }: WireInstruction): Uint8Array {
  return wire.keys.subarray(program * 32, program * 32 + 32)
}

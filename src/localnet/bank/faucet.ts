import { COMPUTE_BUDGET, SYSTEM } from '../programs.ts'
import type { Signer } from '../../signing/ed25519.ts'

const TRANSFER_INSTRUCTION = 2
const SET_COMPUTE_UNIT_LIMIT = 2
/** A transfer with its budget instruction takes 300. */
const COMPUTE_UNITS = 1_000

/**
 * Builds a signed legacy transfer of lamports. `serial` is added to its compute unit limit, so that two equal transfers
 * with one blockhash have different signatures.
 */
export function transferWire(
  from: Signer,
  to: Uint8Array,
  lamports: bigint,
  blockhash: Uint8Array,
  serial: number
): Uint8Array {
  const transfer = Buffer.alloc(12)
  transfer.writeUInt32LE(TRANSFER_INSTRUCTION)
  transfer.writeBigUInt64LE(lamports, 4)
  const limit = Buffer.alloc(5)
  limit[0] = SET_COMPUTE_UNIT_LIMIT
  limit.writeUInt32LE(COMPUTE_UNITS + serial, 1)
  const message = Buffer.concat([
    // One signature, two readonly programs; four keys.
    Buffer.from([1, 0, 2, 4]),
    from.address,
    to,
    COMPUTE_BUDGET,
    SYSTEM,
    blockhash,
    Buffer.from([2, 2, 0, limit.length]),
    limit,
    Buffer.from([3, 2, 0, 1, transfer.length]),
    transfer
  ])
  return new Uint8Array(Buffer.concat([Buffer.from([1]), from.sign(message), message]))
}

import { encodeBase58 } from './base58.ts'
import { pubkeyFromBase58, samePubkey } from './pubkey.ts'
import { SYSTEM_PROGRAM } from './token-movement.ts'
import type { WireInstruction, WireTransaction } from './wire.ts'

/** The lowest tip that the block engine accepts, in lamports (src/docs/bundles.md). */
export const TIP_MIN_LAMPORTS = 1_000n

const SYSTEM = pubkeyFromBase58(SYSTEM_PROGRAM)
/** Variants of the system program's instruction, and the position of the receiver among their accounts. */
const TRANSFER = 2
const TRANSFER_WITH_SEED = 11
const RECEIVER: Readonly<Record<number, number>> = { [TRANSFER]: 1, [TRANSFER_WITH_SEED]: 2 }

/**
 * Returns the lamports that a transaction's own instructions transfer to tip accounts (base58). Only accounts among its
 * static keys count: the block engine does not load lookup tables.
 */
export function tipOf(wire: WireTransaction, tipAccounts: ReadonlySet<string>): bigint {
  return wire.instructions.reduce((sum, each) => sum + tipOfInstruction(wire, each, tipAccounts), 0n)
}

function tipOfInstruction(
  wire: WireTransaction,
  { program, accounts, data }: WireInstruction,
  tipAccounts: ReadonlySet<string>
): bigint {
  if (data.length < 12 || program >= wire.keyCount || !samePubkey(keyOf(wire, program), SYSTEM)) return 0n
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const receiver = accounts[RECEIVER[view.getUint32(0, true)] ?? Infinity]
  if (receiver === undefined || receiver >= wire.keyCount) return 0n
  if (!tipAccounts.has(encodeBase58(keyOf(wire, receiver)))) return 0n
  return view.getBigUint64(4, true)
}

const keyOf = ({ keys }: WireTransaction, index: number): Uint8Array =>
  keys.subarray(index * 32, index * 32 + 32)

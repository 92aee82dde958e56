import { callsOnly, readWire } from '../../chain/wire.ts'
import type { WireTransaction } from '../../chain/wire.ts'
import { SendFailure } from '../chain.ts'
import { VOTE } from '../programs.ts'

/** Maximum size of a packet (Solana's PACKET_DATA_SIZE) and of a version 1 transaction (SIMD-0385). */
const LEGACY_BYTES_MAX = 1_232
const VERSION_1_BYTES_MAX = 4_096
const UNSOUND = 'Transaction failed to sanitize accounts offsets correctly'

/** A transaction that is safe to pass to the engine, which ends the process on bytes that it cannot read. */
export interface ReadTransaction {
  readonly bytes: Uint8Array
  readonly wire: WireTransaction
  /** 64 bytes. */
  readonly signature: Uint8Array
  readonly isVote: boolean
}

/**
 * Reads a transaction as strictly as a node does: sizes in their shortest form, indexes and header in order. Throws a
 * SendFailure `undecodable` otherwise. Signatures are not verified.
 */
export function readTransaction(bytes: Uint8Array): ReadTransaction {
  const read = readWire(bytes)
  if (read.kind === 'unreadable') throw undecodable(read.reason)
  const { wire } = read
  const bytesMax = wire.version === 1 ? VERSION_1_BYTES_MAX : LEGACY_BYTES_MAX
  if (bytes.length > bytesMax) {
    throw undecodable(`transaction too large: ${bytes.length} bytes (max: ${bytesMax} bytes)`)
  }
  if (wire.version !== 1 && bytes.length !== shortestLength(wire)) {
    throw undecodable('a size that is not in its shortest form')
  }
  if (!isSound(wire)) throw undecodable(UNSOUND)
  return { bytes, wire, signature: wire.signatures[0]!, isVote: callsOnly(wire, VOTE) }
}

const undecodable = (detail: string): SendFailure => new SendFailure({ kind: 'undecodable', detail })

/**
 * Returns the length with all sizes in shortest form. Longer bytes have padded sizes, which Solana's reader refuses.
 */
function shortestLength(wire: WireTransaction): number {
  let length = sized(wire.signatures.length, 64) + 3 + sized(wire.keyCount, 32) + 32
  length += sized(wire.instructions.length, 1)
  for (const { accounts, data } of wire.instructions)
    length += sized(accounts.length, 1) + sized(data.length, 1)
  if (wire.version === 'legacy') return length
  length += 1 + sized(wire.lookups.length, 32)
  for (const { writable, readonly } of wire.lookups)
    length += sized(writable.length, 1) + sized(readonly.length, 1)
  return length
}

function sized(count: number, bytesEach: number): number {
  return (count < 0x80 ? 1 : count < 0x4000 ? 2 : 3) + count * bytesEach
}

/** Whether the parts of `Message::sanitize` hold that the reader has not checked. */
function isSound({ header, keyCount, instructions, lookups }: WireTransaction): boolean {
  if (header.readonlySigned >= header.signatures) return false
  if (header.signatures + header.readonlyUnsigned > keyCount) return false
  if (lookups.some(({ writable, readonly }) => writable.length + readonly.length === 0)) return false
  return instructions.every(({ program }) => program > 0 && program < keyCount)
}

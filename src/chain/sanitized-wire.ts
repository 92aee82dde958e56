import { readWire } from './wire.ts'
import type { WireTransaction } from './wire.ts'

/** Maximum size in bytes of a legacy or version 0 transaction: Solana's PACKET_DATA_SIZE. */
const PACKET_BYTES_MAX = 1_232

/** Limits of version 1 (SIMD-0385, Transaction Constraints). */
export const V1_BYTES_MAX = 4_096
const V1_FIRST_BYTE = 0x81
const V1_SIGNATURES_MAX = 12
const V1_ACCOUNTS_MAX = 64
const V1_INSTRUCTIONS_MAX = 64
/** A requested heap is a multiple of 1 KiB from 32 to 256 KiB (SIMD-0385, TransactionConfigMask). */
const HEAP_UNIT_BYTES = 1_024
const HEAP_BYTES_MIN = 32 * HEAP_UNIT_BYTES
const HEAP_BYTES_MAX = 256 * HEAP_UNIT_BYTES

export type SanitizedOutcome =
  | { readonly kind: 'wire'; readonly wire: WireTransaction }
  /** `unreadable`: a node cannot deserialize the bytes. `unsound`: it reads them, but refuses the message. */
  | { readonly kind: 'unreadable' | 'unsound'; readonly reason: string }

/**
 * Reads a transaction as strictly as a node does before it reads accounts: sizes in their shortest form, header and
 * indexes in order, and the limits of its version. Signatures are not verified.
 */
export function readSanitizedWire(bytes: Uint8Array): SanitizedOutcome {
  const bytesMax = bytes[0] === V1_FIRST_BYTE ? V1_BYTES_MAX : PACKET_BYTES_MAX
  if (bytes.length > bytesMax)
    return {
      kind: 'unreadable',
      reason: `transaction too large: ${bytes.length} bytes (max: ${bytesMax} bytes)`
    }
  const read = readWire(bytes)
  if (read.kind === 'unreadable') return read
  const { wire } = read
  if (wire.version !== 1 && bytes.length !== shortestLength(wire))
    return { kind: 'unreadable', reason: 'a size that is not in its shortest form' }
  const reason = faultOf(wire) ?? (wire.version === 1 ? faultOfVersion1(wire) : null)
  return reason === null ? read : { kind: 'unsound', reason }
}

/** Returns the index of a static key that equals an earlier one; null if all keys differ. */
export function repeatedKey({ keys, keyCount }: Pick<WireTransaction, 'keys' | 'keyCount'>): number | null {
  const seen = new Set<string>()
  const text = Buffer.from(keys.buffer, keys.byteOffset, keys.byteLength).toString('latin1')
  for (let index = 0; index < keyCount; index++) {
    const key = text.slice(index * 32, index * 32 + 32)
    if (seen.has(key)) return index
    seen.add(key)
  }
  return null
}

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

/** Makes the checks of Solana's `Message::sanitize` that the reader omits. */
function faultOf({ header, keyCount, instructions, lookups }: WireTransaction): string | null {
  if (header.readonlySigned >= header.signatures) return 'the fee payer is not writable'
  if (header.signatures + header.readonlyUnsigned > keyCount)
    return 'the header counts more accounts than there are'
  if (lookups.some(({ writable, readonly }) => writable.length + readonly.length === 0))
    return 'a lookup table of which no account is used'
  for (const { program } of instructions) {
    if (program === 0) return 'an instruction whose program is the fee payer'
    if (program >= keyCount) return 'an instruction whose program is not a static account'
  }
  return null
}

function faultOfVersion1(wire: WireTransaction): string | null {
  const { header, keyCount, instructions, config } = wire
  if (header.signatures > V1_SIGNATURES_MAX)
    return `${header.signatures} signatures (max: ${V1_SIGNATURES_MAX})`
  if (keyCount > V1_ACCOUNTS_MAX) return `${keyCount} accounts (max: ${V1_ACCOUNTS_MAX})`
  if (instructions.length > V1_INSTRUCTIONS_MAX)
    return `${instructions.length} instructions (max: ${V1_INSTRUCTIONS_MAX})`
  if (repeatedKey(wire) !== null) return 'an account that is listed twice'
  const heapBytes = config?.heapBytes ?? HEAP_BYTES_MIN
  if (heapBytes < HEAP_BYTES_MIN || heapBytes > HEAP_BYTES_MAX || heapBytes % HEAP_UNIT_BYTES !== 0)
    return `a heap of ${heapBytes} bytes (must be a multiple of 1,024 from 32,768 to 262,144)`
  return null
}

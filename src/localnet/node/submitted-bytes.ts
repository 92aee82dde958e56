import { readWire, TOO_FEW_SIGNATURES, type WireTransaction } from '../../chain/wire.ts'
import { base58Bytes, base64Bytes } from './account-filters.ts'
import { optional, variantOf, type JsonMap } from './params.ts'
import { invalidParams } from './rpc-error.ts'
import { TRANSACTION_ENCODINGS } from './transaction-encoding.ts'

/**
 * Size of a packet, and the longest texts that can encode one (agave, PACKET_DATA_SIZE, MAX_BASE58_SIZE,
 * MAX_BASE64_SIZE).
 */
const PACKET_BYTES_MAX = 1232
const BASE58_DIGITS_MAX = 1683
const BASE64_DIGITS_MAX = 1644
const TRANSACTION = 'solana_transaction::versioned::VersionedTransaction'
const MESSAGE = 'solana_message::versions::VersionedMessage'

/** Decodes the text of a transaction in the encoding that a config names. Throws as a node does. */
export function transactionBytes(text: string, config: JsonMap): Uint8Array {
  const encoding = optional(config.encoding, (value) => variantOf(value, TRANSACTION_ENCODINGS)) ?? 'base58'
  if (encoding === 'base64') return decode(text, encoding, TRANSACTION)
  if (encoding === 'base58' || encoding === 'binary') return decode(text, 'base58', TRANSACTION)
  throw invalidParams(`unsupported encoding: ${encoding}. Supported encodings: base58, base64`)
}

function decode(text: string, encoding: 'base58' | 'base64', type: string): Uint8Array {
  const digitsMax = encoding === 'base58' ? BASE58_DIGITS_MAX : BASE64_DIGITS_MAX
  if (text.length > digitsMax) {
    throw invalidParams(
      `${encoding} encoded ${type} too large: ${text.length} bytes (max: encoded/raw ${digitsMax}/${PACKET_BYTES_MAX})`
    )
  }
  const read = encoding === 'base58' ? base58Bytes : base64Bytes
  const bytes = read(text, `invalid ${encoding} encoding: `)
  if (bytes.length <= PACKET_BYTES_MAX) return bytes
  throw invalidParams(`decoded ${type} too large: ${bytes.length} bytes (max: ${PACKET_BYTES_MAX} bytes)`)
}

/** Reads a transaction; a node ignores bytes after it. */
export function transactionOf(bytes: Uint8Array): WireTransaction {
  const outcome = readLeading(bytes)
  if (outcome.kind === 'wire') return outcome.wire
  if (SANITIZE_FAULTS.has(outcome.reason)) {
    throw invalidParams('invalid transaction: Transaction failed to sanitize accounts offsets correctly')
  }
  throw invalidParams(`failed to deserialize ${TRANSACTION}: ${outcome.reason}`)
}

/** Faults that `readWire` reports for bytes that are a transaction, but an invalid one. */
const SANITIZE_FAULTS = new Set([
  'message header',
  TOO_FEW_SIGNATURES,
  'too many signatures',
  'number of account keys',
  'program index',
  'account index'
])

function readLeading(bytes: Uint8Array): ReturnType<typeof readWire> {
  const outcome = readWire(bytes)
  if (outcome.kind === 'wire' || outcome.reason !== 'bytes after the transaction') return outcome
  // The readable length lies between the bounds: shorter prefixes end early.
  for (let length = bytes.length - 1; length > 0; length--) {
    const shorter = readWire(bytes.subarray(0, length))
    if (shorter.kind === 'wire' || shorter.reason !== 'bytes after the transaction') return shorter
  }
  return outcome
}

/** Length of a transaction in bytes. */
export function lengthOf({ version, signatures, message }: WireTransaction): number {
  const signatureBytes = signatures.length * 64
  return message.length + signatureBytes + (version === 1 ? 0 : signatures.length < 0x80 ? 1 : 2)
}

/** Reads a message, in base64, as a transaction with zeros as signatures: before the message, or in version 1 after it. */
export function messageOf(text: string): WireTransaction {
  const message = decode(text, 'base64', MESSAGE)
  const first = message[0] ?? 0
  const signatures = first === 0x81 || first === 0x80 ? (message[1] ?? 0) : first
  const blank = new Uint8Array(signatures * 64)
  const bytes =
    first === 0x81
      ? Buffer.concat([message, blank])
      : Buffer.concat([Uint8Array.of(signatures), blank, message])
  const outcome = signatures > 0x7f ? null : readLeading(bytes)
  if (outcome?.kind === 'wire') return outcome.wire
  throw invalidParams(`failed to deserialize ${MESSAGE}: ${outcome?.reason ?? 'number of signatures'}`)
}

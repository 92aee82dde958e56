import { encodeBase58 } from '../chain/base58.ts'
import { nonceAdvanceOf } from '../chain/nonce.ts'
import { pubkeyToBase58 } from '../chain/pubkey.ts'
import { readSanitizedWire, repeatedKey, V1_BYTES_MAX } from '../chain/sanitized-wire.ts'
import type { TransactionVersion } from '../chain/transaction.ts'
import { staticKey, TOO_FEW_SIGNATURES } from '../chain/wire.ts'
import type { WireTransaction } from '../chain/wire.ts'
import { unsignedIndex } from '../signing/ed25519.ts'

/** Characters of the base64 form of the largest transaction. */
const BASE64_MAX = Math.ceil(V1_BYTES_MAX / 3) * 4
/**
 * Accounts that a transaction may lock, static or from lookup tables. This is Solana's MAX_TX_ACCOUNT_LOCKS with the
 * feature increase_tx_account_lock_limit, otherwise 64. Blocks contain no transaction above this limit.
 */
const LOCKS_MAX = 128

/** A well-formed transaction that has the signature of every required signer. */
export interface CheckedTransaction {
  readonly bytes: Uint8Array
  readonly wire: WireTransaction
  /** Base58 of the first signature, by which the transaction is known. */
  readonly signature: string
  readonly version: TransactionVersion
  /** Base58 addresses. */
  readonly feePayer: string
  /** The recent blockhash, or the value of the durable nonce, in base58. */
  readonly blockhash: string
  /** Base58 addresses; null if the transaction has a recent blockhash. */
  readonly nonce: { readonly account: string; readonly authority: string | null } | null
}

/** A refusal. `malformed` is a fault of the bytes, `unsigned` of a signature. The reason follows a field's name. */
export interface Refusal {
  readonly kind: 'malformed' | 'unsigned'
  readonly reason: string
}

export type CheckOutcome =
  | { readonly ok: true; readonly transaction: CheckedTransaction }
  | ({ readonly ok: false } & Refusal)

/** Checks a transaction in base64. Only the standard alphabet with padding is valid. */
export function checkBase64(text: string): CheckOutcome {
  if (text.length > BASE64_MAX)
    return malformed(`has more than ${V1_BYTES_MAX.toLocaleString('en')} bytes, the most of any transaction`)
  const bytes = Buffer.from(text, 'base64')
  // Node's decoder skips invalid characters, and also accepts base64url.
  if (bytes.toString('base64') !== text)
    return malformed('is not base64 (the standard alphabet, with padding and without spaces)')
  return checkTransaction(new Uint8Array(bytes))
}

/** Checks everything that can be checked without accounts. Verifies each signature. */
export function checkTransaction(bytes: Uint8Array): CheckOutcome {
  if (bytes.length === 0) return malformed('is empty')
  const read = readSanitizedWire(bytes)
  if (read.kind !== 'wire')
    return read.reason === TOO_FEW_SIGNATURES
      ? unsigned('has fewer signatures than its header requires')
      : malformed(`is not a valid transaction: ${read.reason}`)
  const { wire } = read
  const repeated = repeatedKey(wire)
  if (repeated !== null)
    return malformed(`lists the account ${pubkeyToBase58(staticKey(wire, repeated))} twice`)
  const locks = wire.lookups.reduce(
    (sum, { writable, readonly }) => sum + writable.length + readonly.length,
    wire.keyCount
  )
  if (locks > LOCKS_MAX) return malformed(`uses ${locks} accounts (max: ${LOCKS_MAX})`)
  const unsignedAt = unsignedIndex(wire)
  if (unsignedAt !== null) return unsigned(signatureFault(wire, unsignedAt))
  return { ok: true, transaction: checked(bytes, wire) }
}

function checked(bytes: Uint8Array, wire: WireTransaction): CheckedTransaction {
  const nonce = nonceAdvanceOf(wire)
  return {
    bytes,
    wire,
    signature: encodeBase58(wire.signatures[0]!),
    version: wire.version,
    feePayer: pubkeyToBase58(staticKey(wire, 0)),
    blockhash: encodeBase58(wire.lifetime),
    nonce: nonce && {
      account: pubkeyToBase58(nonce.account),
      authority: nonce.authority && pubkeyToBase58(nonce.authority)
    }
  }
}

function signatureFault(wire: WireTransaction, index: number): string {
  const address = pubkeyToBase58(staticKey(wire, index))
  const isMissing = wire.signatures[index]!.every((byte) => byte === 0)
  return isMissing
    ? `is not signed by ${address}`
    : `has a signature of ${address} that does not verify: it does not match this message`
}

const malformed = (reason: string): CheckOutcome => ({ ok: false, kind: 'malformed', reason })
const unsigned = (reason: string): CheckOutcome => ({ ok: false, kind: 'unsigned', reason })

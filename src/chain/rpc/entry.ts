import { decodeBase58, isBase58 } from '../base58.ts'
import { pubkeyFromBase58 } from '../pubkey.ts'
import { callsOnly, readWire, type WireTransaction } from '../wire.ts'
import { isCount, isObject, listOf, objectOf, Unreadable, type JsonObject } from './fields.ts'

/** An entry's transaction before decoding: its bytes, or its JSON message. */
export type OpenedEntry =
  | { readonly kind: 'wire'; readonly wire: WireTransaction }
  | { readonly kind: 'message'; readonly message: JsonObject; readonly signatures: readonly unknown[] }

/** Opens an entry of a block or a getTransaction result; throws Unreadable. */
export function openEntry(entry: JsonObject): OpenedEntry {
  const body = entry.transaction
  if (isObject(body)) {
    const message = objectOf(body.message, 'transaction.message')
    return { kind: 'message', message, signatures: listOf(body.signatures, 'transaction.signatures') }
  }
  // A bare string is base58: early nodes wrote it before encodings had names.
  const [text, encoding] = Array.isArray(body) ? (body as unknown[]) : [body, 'base58']
  const outcome = readWire(bytesOf(text, encoding))
  if (outcome.kind === 'unreadable') throw new Unreadable(`transaction: ${outcome.reason}`)
  return outcome
}

export const VOTE_PROGRAM = 'Vote111111111111111111111111111111111111111'
const VOTE_PROGRAM_BYTES = pubkeyFromBase58(VOTE_PROGRAM)

/** Tells whether every outer instruction calls the vote program; decodes nothing. */
export function isVote(opened: OpenedEntry): boolean {
  if (opened.kind === 'wire') return callsOnly(opened.wire, VOTE_PROGRAM_BYTES)
  const { instructions, accountKeys } = opened.message
  if (!Array.isArray(instructions) || instructions.length === 0) return false
  const keys: unknown[] = Array.isArray(accountKeys) ? accountKeys : []
  for (const instruction of instructions as unknown[]) {
    if (!isObject(instruction)) return false
    const { programId, programIdIndex } = instruction
    const program = programId ?? (isCount(programIdIndex) ? keys[programIdIndex] : undefined)
    if (program !== VOTE_PROGRAM) return false
  }
  return true
}

function bytesOf(text: unknown, encoding: unknown): Uint8Array {
  if (typeof text !== 'string' || text.length > TRANSACTION_DIGITS_MAX) throw new Unreadable('transaction')
  if (encoding === 'base64') return base64Bytes(text)
  if (encoding !== 'base58' || !isBase58(text)) throw new Unreadable('transaction')
  return decodeBase58(text)
}

// Limits work on hostile input, because decoding is quadratic. A transaction has at most 4,096 bytes: 5,600 base58
// digits.
const TRANSACTION_DIGITS_MAX = 8_192

function base64Bytes(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text)
  } catch {
    throw new Unreadable('transaction')
  }
}

import { decodeBase58 } from '../../chain/base58.ts'

/** Maximum base58 digits of 64 bytes; longer text is not decoded. */
const SIGNATURE_DIGITS_MAX = 88

/** Tells whether a text is a signature: 64 bytes in base58. */
export function isSignature(text: string): boolean {
  if (text.length > SIGNATURE_DIGITS_MAX) return false
  try {
    return decodeBase58(text).length === 64
  } catch {
    return false
  }
}

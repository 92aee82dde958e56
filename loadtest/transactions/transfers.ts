import { signerOf } from '../../src/signing/ed25519.ts'
import { signedWire, transfer } from '../../test/transactions/signed.ts'

/** Characters of base64 that hold the number of signatures and the first one, which distinguish transactions. */
export const BASE64_KEY_CHARACTERS = 88
const SIGNATURE_BYTES = 64
const LAMPORTS_BYTES = 8

const wire = Buffer.from(signedWire([transfer()], { version: 'legacy' }))
const seed = new Uint8Array(32)
new DataView(seed.buffer).setUint32(0, 1)
const signer = signerOf(seed)
let made = 0

/** Returns a new signed transfer at each call. */
export function nextTransfer(): Buffer {
  const next = Buffer.from(wire)
  next.writeBigUInt64LE(BigInt(++made), next.length - LAMPORTS_BYTES)
  next.set(signer.sign(next.subarray(1 + SIGNATURE_BYTES)), 1)
  return next
}

/** Returns a number of signed transfers in base64. */
export const transfers = (count: number): string[] =>
  Array.from({ length: count }, () => nextTransfer().toString('base64'))

export const keyOf = (base64: string): string => base64.slice(0, BASE64_KEY_CHARACTERS)

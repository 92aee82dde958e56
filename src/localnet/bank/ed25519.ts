import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { WireTransaction } from '../../chain/wire.ts'

/** Prefix of a 32-byte key in its DER forms (RFC 8410). */
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

export interface Signer {
  readonly address: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

/** Returns the signer of a seed of 32 bytes. */
export function signerOf(seed: Uint8Array): Signer {
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return {
    address: Uint8Array.from(spki.subarray(PUBLIC_PREFIX.length)),
    sign: (message) => new Uint8Array(sign(null, message, key))
  }
}

/** Whether every signer signed the message. Takes some 100 µs a signature. */
export function isSigned({ signatures, keys, message }: WireTransaction): boolean {
  return signatures.every((signature, index) => {
    const key = Buffer.concat([PUBLIC_PREFIX, keys.subarray(index * 32, index * 32 + 32)])
    try {
      return verify(null, message, { key, format: 'der', type: 'spki' }, signature)
    } catch {
      // The key is no point of the curve, so no valid signature exists.
      return false
    }
  })
}

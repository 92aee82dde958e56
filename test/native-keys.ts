import { Keypair } from '@solana/web3.js'
import { signerOf } from '../src/signing/ed25519.ts'

/** The seed's length in a secret key, which the public key follows. */
const SEED_BYTES = 32
const numbered = new Map<number, Keypair>()

/** Returns the key pair of a number, identical in every run. */
export function wallet(number: number): Keypair {
  const known = numbered.get(number)
  if (known !== undefined) return known
  const seed = new Uint8Array(SEED_BYTES)
  new DataView(seed.buffer).setUint32(0, number)
  const { address: publicKey } = signerOf(seed)
  const pair = new Keypair({ publicKey, secretKey: Buffer.concat([seed, publicKey]) })
  numbered.set(number, pair)
  return pair
}

/**
 * Returns the signature of a message by a key pair. It equals the one by @solana/web3.js, which computes it in JavaScript and
 * takes a hundred times as long.
 */
export function signatureBy({ secretKey }: Pick<Keypair, 'secretKey'>, message: Uint8Array): Buffer {
  return Buffer.from(signerOf(secretKey.subarray(0, SEED_BYTES)).sign(message))
}

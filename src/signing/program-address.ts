import { hash } from 'node:crypto'
import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { ASSOCIATED_TOKEN } from '../chain/token-accounts.ts'
import { isSquare, limbsOf } from './jacobi.ts'

const FIELD = (1n << 255n) - 19n
const FIELD_LIMBS = limbsOf(FIELD)
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const MARKER = new TextEncoder().encode('ProgramDerivedAddress')
const encoder = new TextEncoder()

/**
 * Maximum number of addresses in each of two generations of a cache, 350 bytes each. Together they hold the addresses
 * that a localnet's market uses in ten minutes.
 */
const GENERATION = 6_000
/**
 * The most recently used addresses. When there are `GENERATION` of them, they become the old generation, and the
 * previous old generation is evicted.
 */
let recent = new Map<string, Pubkey>()
let former = recent

/**
 * Derives a program's address from seeds: the first bump from 255 down whose hash is not a point of the curve.
 * Cached: equal requests return the same object, whose bytes must not be modified.
 */
export function programAddress(seeds: readonly (string | Uint8Array)[], program: Pubkey): Pubkey {
  const parts = seeds.map((seed) => (typeof seed === 'string' ? encoder.encode(seed) : seed))
  let text = pubkeyMapKey(program)
  for (const part of parts) text += `/${part.length === 32 ? pubkeyMapKey(part) : part.toHex()}`
  const known = recent.get(text)
  if (known !== undefined) return known
  const address = former.get(text) ?? derive(parts, program)
  if (recent.size >= GENERATION) {
    former = recent
    recent = new Map()
  }
  recent.set(text, address)
  return address
}

function derive(parts: readonly Uint8Array[], program: Pubkey): Pubkey {
  const preimage = Buffer.concat([...parts, new Uint8Array(1), program, MARKER])
  const bumpAt = preimage.length - MARKER.length - program.length - 1
  for (let bump = 255; bump >= 0; bump--) {
    preimage[bumpAt] = bump
    const address = hash('sha256', preimage, 'buffer')
    if (!isOnCurve(address)) return new Uint8Array(address)
  }
  throw new Error('no bump gives an address off the curve')
}

/** Returns the owner's associated token account. */
export function associatedTokenAccount(owner: Pubkey, mint: Pubkey, tokenProgram: Pubkey): Pubkey {
  return programAddress([owner, tokenProgram, mint], ASSOCIATED_TOKEN)
}

/** Returns whether 32 bytes are a compressed point of Ed25519: x² = (y² − 1) / (dy² + 1) has a root. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 32)
  let y = BigInt.asUintN(63, view.getBigUint64(24, true))
  for (let at = 16; at >= 0; at -= 8) y = (y << 64n) | view.getBigUint64(at, true)
  const square = (y * y) % FIELD
  // A quotient is a square if the product is one.
  const value = ((square + FIELD - 1n) * (D * square + 1n)) % FIELD
  return value === 0n || isSquare(value, FIELD_LIMBS)
}

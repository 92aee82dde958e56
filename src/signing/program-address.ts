import { createHash } from 'node:crypto'
import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { ASSOCIATED_TOKEN } from '../chain/token-accounts.ts'
import { SecondChanceCache } from '../memory/second-chance-cache.ts'

const FIELD = (1n << 255n) - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const MARKER = new TextEncoder().encode('ProgramDerivedAddress')
const encoder = new TextEncoder()

/** Bytes of cached addresses, estimated: 12,000, some more than a localnet's market uses in ten minutes. */
const CACHE_BYTES_MAX = 4 * 2 ** 20
const ENTRY_BYTES = 150
const cache = new SecondChanceCache<Pubkey>(CACHE_BYTES_MAX)

/**
 * Derives a program's address from seeds: the first below bump 255 that is no point of the curve. Cached: equal
 * requests return the same object, whose bytes must not be modified.
 */
export function programAddress(seeds: readonly (string | Uint8Array)[], program: Pubkey): Pubkey {
  const parts = seeds.map((seed) => (typeof seed === 'string' ? encoder.encode(seed) : seed))
  let text = pubkeyMapKey(program)
  for (const part of parts) text += `/${part.length === 32 ? pubkeyMapKey(part) : part.toHex()}`
  const known = cache.get(text)
  if (known !== undefined) return known
  const address = derive(parts, program)
  cache.set(text, address, ENTRY_BYTES)
  return address
}

function derive(seeds: readonly Uint8Array[], program: Pubkey): Pubkey {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = createHash('sha256')
    for (const seed of seeds) hash.update(seed)
    const address = new Uint8Array(hash.update(Uint8Array.of(bump)).update(program).update(MARKER).digest())
    if (!isOnCurve(address)) return address
  }
  throw new Error('no bump gives an address off the curve')
}

/** Returns the owner's associated token account. */
export function associatedTokenAccount(owner: Pubkey, mint: Pubkey, tokenProgram: Pubkey): Pubkey {
  return programAddress([owner, tokenProgram, mint], ASSOCIATED_TOKEN)
}

/** Whether 32 bytes are a compressed point of Ed25519: x² = (y² − 1) / (dy² + 1) has a root. */
export function isOnCurve(bytes: Uint8Array): boolean {
  let y = 0n
  for (let i = 31; i >= 0; i--) y = (y << 8n) | BigInt(i === 31 ? bytes[i]! & 127 : bytes[i]!)
  const square = (y * y) % FIELD
  const above = (square + FIELD - 1n) % FIELD
  const below = (D * square + 1n) % FIELD
  // A quotient is a square if the product is one.
  const value = (above * below) % FIELD
  return value === 0n || isSquare(value)
}

/** Whether a value is a square, by the Jacobi symbol with reciprocity: some ten times as fast as a power. */
function isSquare(value: bigint): boolean {
  let [above, below] = [value, FIELD]
  let isOne = true
  while (above !== 0n) {
    let low = Number(BigInt.asUintN(32, above))
    while (low === 0) {
      above >>= 32n
      low = Number(BigInt.asUintN(32, above))
    }
    const zeros = 31 - Math.clz32(low & -low)
    above >>= BigInt(zeros)
    const eighth = Number(BigInt.asUintN(3, below))
    if ((zeros & 1) === 1 && (eighth === 3 || eighth === 5)) isOne = !isOne
    if ((Number(BigInt.asUintN(2, above)) & eighth & 3) === 3) isOne = !isOne
    ;[above, below] = [below % above, above]
  }
  return isOne
}

import { createHash } from 'node:crypto'
import { pubkeyMapKey, type Pubkey } from '../chain/pubkey.ts'
import { ASSOCIATED_TOKEN } from '../chain/token-accounts.ts'

const FIELD = (1n << 255n) - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const MARKER = new TextEncoder().encode('ProgramDerivedAddress')
const encoder = new TextEncoder()

/**
 * Maximum number of addresses in each of two generations of a cache, 350 bytes each. Chosen: together they hold what a
 * localnet's market uses in ten minutes.
 */
const GENERATION = 6_000
/** Addresses that were used last. Once there are `GENERATION`, they become the former ones, and those are evicted. */
let recent = new Map<string, Pubkey>()
let former = recent

/**
 * Derives a program's address from seeds: the first below bump 255 that is no point of the curve. Cached: equal
 * requests return the same object, whose bytes must not be modified.
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

/**
 * Whether a value is a square, by the Jacobi symbol with reciprocity and halving, on limbs of 28 bits. Big integers would
 * take as long, and leave 30 KB of garbage: a localnet derives several addresses a slot.
 */
function isSquare(value: bigint): boolean {
  let above = limbsOf(value, ABOVE)
  let below = limbsOf(FIELD, BELOW)
  let isOne = true
  for (let size = LIMBS; ;) {
    while (size > 0 && above[size - 1] === 0 && below[size - 1] === 0) size--
    const zeros = dropZeros(above, size)
    if (zeros === null) return isOne
    const eighth = below[0]! & 7
    if ((zeros & 1) === 1 && (eighth === 3 || eighth === 5)) isOne = !isOne
    if (isLess(above, below, size)) {
      if ((above[0]! & eighth & 3) === 3) isOne = !isOne
      ;[above, below] = [below, above]
    }
    subtract(above, below, size)
  }
}

const LIMB_BITS = 28
const LIMB_MAX = 2 ** LIMB_BITS - 1
const LIMBS = Math.ceil(255 / LIMB_BITS)
const ABOVE = new Int32Array(LIMBS)
const BELOW = new Int32Array(LIMBS)

/** Writes a number's limbs, lowest first. */
function limbsOf(value: bigint, into: Int32Array): Int32Array {
  let rest = value
  for (let at = 0; at < LIMBS; at++, rest >>= BigInt(LIMB_BITS)) into[at] = Number(rest & BigInt(LIMB_MAX))
  return into
}

/** Divides limbs by two as long as they are even. Returns how often; null for zero. */
function dropZeros(limbs: Int32Array, size: number): number | null {
  let whole = 0
  while (whole < size && limbs[whole] === 0) whole++
  if (whole === size) return null
  const zeros = 31 - Math.clz32(limbs[whole]! & -limbs[whole]!)
  for (let at = 0; at < size; at++) {
    const low = limbs[at + whole] ?? 0
    const high = limbs[at + whole + 1] ?? 0
    limbs[at] = (low >>> zeros) | ((high << (LIMB_BITS - zeros)) & LIMB_MAX)
  }
  return whole * LIMB_BITS + zeros
}

function isLess(a: Int32Array, b: Int32Array, size: number): boolean {
  for (let at = size - 1; at >= 0; at--) if (a[at] !== b[at]) return a[at]! < b[at]!
  return false
}

/** Subtracts `b` from `a`, which is no less. */
function subtract(a: Int32Array, b: Int32Array, size: number): void {
  let borrow = 0
  for (let at = 0; at < size; at++) {
    const left = a[at]! - b[at]! - borrow
    borrow = left < 0 ? 1 : 0
    a[at] = left & LIMB_MAX
  }
}

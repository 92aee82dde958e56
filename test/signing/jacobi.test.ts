import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import t from 'tap'
import { isSquare, limbsOf } from '../../src/signing/jacobi.ts'
import { isOnCurve, programAddress } from '../../src/signing/program-address.ts'

const ED25519 = 2n ** 255n - 19n
const PRIMES = [ED25519, 2n ** 256n - 2n ** 32n - 977n, 2n ** 89n - 1n, 65_537n, 101n, 3n]

/** Euler's criterion. */
function isSquareByPower(value: bigint, prime: bigint): boolean {
  let result = 1n
  let base = value
  for (let rest = (prime - 1n) / 2n; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * base) % prime
    base = (base * base) % prime
  }
  return result === 1n
}

t.test('a square modulo a prime is told as a power tells it', async (t) => {
  const value = fc.oneof(fc.bigInt({ min: 1n, max: 2n ** 256n }), fc.bigInt({ min: 1n, max: 300n }))
  fc.assert(
    fc.property(value, fc.boolean(), fc.constantFrom(...PRIMES), (number, isNegative, prime) => {
      const rest = number % prime
      const tried = isNegative ? prime - rest : rest
      fc.pre(tried % prime !== 0n)
      return isSquare(tried, limbsOf(prime)) === isSquareByPower(tried, prime)
    }),
    { numRuns: 400 }
  )
  t.ok(isSquare(1n, limbsOf(ED25519)))
})

t.test('points of the curve and addresses of programs are those of web3.js', async (t) => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
  fc.assert(
    fc.property(key, key, (bytes, program) => {
      const [derived] = PublicKey.findProgramAddressSync([Buffer.from('seed'), bytes], new PublicKey(program))
      return (
        isOnCurve(bytes) === PublicKey.isOnCurve(bytes) &&
        Buffer.compare(programAddress(['seed', bytes], program), derived.toBytes()) === 0
      )
    }),
    { numRuns: 100 }
  )
  for (const bytes of [new Uint8Array(32), Uint8Array.of(1, ...new Uint8Array(31))])
    t.equal(isOnCurve(bytes), PublicKey.isOnCurve(bytes), String(bytes))
})

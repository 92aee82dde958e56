import fc from 'fast-check'
import t from 'tap'
import { isSquare, limbsOf } from '../../src/signing/jacobi.ts'
import { randomRuns } from '../random-runs.ts'

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
    randomRuns(400)
  )
  t.ok(isSquare(1n, limbsOf(ED25519)))
})

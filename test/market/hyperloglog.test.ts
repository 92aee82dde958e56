import fc from 'fast-check'
import t from 'tap'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { estimateDistinct, keyHash, rankOf, registerOf } from '../../src/market/hyperloglog.ts'
import { USDC, WSOL } from '../../src/market/cash.ts'
import { randomRuns } from '../random-runs.ts'

const hash = fc.bigInt({ min: 0n, max: 2n ** 48n - 1n })

t.test(
  'a hash is split into the bits that name a register and the leading zeros of the others',
  async (t) => {
    fc.assert(
      fc.property(
        fc.oneof(
          hash,
          hash.map((bits) => bits >> 30n)
        ),
        fc.constantFrom(11, 12),
        (bits, precision) => {
          const rest = (bits >> BigInt(precision)).toString(2).padStart(48 - precision, '0')
          t.equal(registerOf(Number(bits), precision), Number(bits % 2n ** BigInt(precision)))
          t.equal(
            rankOf(Number(bits), precision),
            rest.includes('1') ? rest.indexOf('1') + 1 : 49 - precision
          )
        }
      ),
      randomRuns(300, 61)
    )
  }
)

t.test('nobody is estimated as none, and one in one register as one', async (t) => {
  const registers = new Uint8Array(2_048)
  t.equal(estimateDistinct(registers), 0)
  registers[7] = 1
  t.equal(Math.round(estimateDistinct(registers)), 1)
})

// Stored sketches contain these hashes: if they changed, traders from before an update would count twice.
t.test('the hash of a key never changes', async (t) => {
  t.equal(keyHash(pubkeyFromBase58(WSOL)), 18373661687727)
  t.equal(keyHash(pubkeyFromBase58(USDC)), 252602699534144)
})

t.test('every bit of a key counts, and changes half of the hash', async (t) => {
  const key = pubkeyFromBase58(USDC)
  const before = BigInt(keyHash(key))
  let changed = 0
  for (let bit = 0; bit < 256; bit++) {
    const other = key.slice()
    other[bit >> 3]! ^= 1 << (bit & 7)
    const difference = (before ^ BigInt(keyHash(other))).toString(2).replaceAll('0', '').length
    t.ok(difference > 8, `${difference} bits by bit ${bit}`)
    changed += difference
  }
  t.ok(Math.abs(changed / 256 - 24) < 1)
})

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { rankKey } from '../../src/holders/row-bytes.ts'
import { LARGE_READINGS, nextReading, orderOfReading } from '../../storage/port.ts'
import { holderBucket, holderPartitions, holderRange } from '../../storage/scylla/holder-partitions.ts'
import { randomRuns } from '../random-runs.ts'

const MINT = new Uint8Array(32)
const SMALL = { mint: MINT, reading: 7 }
const LARGE = { mint: MINT, reading: LARGE_READINGS + 7 }
const ACCOUNTS = 4_000

const addressOf = (n: number): Uint8Array => createHash('sha256').update(String(n)).digest()

t.test(
  'accounts with one amount are spread over sixteen partitions of a large list, and share one of a small list',
  (t) => {
    const countsOf = (list: typeof SMALL): number[] => {
      const buckets = new Map<number, number>()
      for (let n = 0; n < ACCOUNTS; n++) {
        const bucket = holderBucket(list, 'account-rank', rankKey(1_000_000n, addressOf(n)))
        buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1)
      }
      return [...buckets.values()]
    }
    t.strictSame(countsOf(SMALL), [ACCOUNTS])
    const counts = countsOf(LARGE)
    t.equal(counts.length, 16)
    t.ok(Math.max(...counts) < (1.3 * ACCOUNTS) / 16, `at most ${Math.max(...counts)} of ${ACCOUNTS} in one`)
    t.end()
  }
)

t.test('a bucket is one of its range, and ranges ascend with the keys', async (t) => {
  const key = fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(500))
  const property = fc.property(fc.array(key, { minLength: 2, maxLength: 20 }), (rows) => {
    const keys = rows
      .map(([amount, n]) => rankKey(amount, addressOf(n)))
      .toSorted((a, b) => Buffer.compare(a, b))
    for (const list of [SMALL, LARGE]) {
      const { ranges, shares } = holderPartitions(list, 'owner-rank')
      const found = keys.map((each) => holderRange('owner-rank', each))
      t.strictSame(
        found,
        found.toSorted((a, b) => a - b)
      )
      for (const [at, each] of keys.entries()) {
        const bucket = holderBucket(list, 'owner-rank', each)
        t.equal(Math.floor(bucket / shares), found[at])
        t.ok(bucket < ranges * shares)
      }
    }
  })
  fc.assert(property, randomRuns(50))
})

t.test('the number of a reading is new for its mint, whatever those before were of', (t) => {
  const readings = [0]
  for (const isLarge of [false, false, true, true, false, true]) {
    const next = nextReading([readings.at(-1)!, 0], isLarge)
    t.equal(next >= LARGE_READINGS, isLarge)
    t.notOk(readings.some((each) => orderOfReading(each) >= orderOfReading(next)))
    readings.push(next)
  }
  t.end()
})

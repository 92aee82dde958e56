import fc from 'fast-check'
import t from 'tap'
import { hashOfKeyText } from '../../src/chain/account-hash.ts'
import { ByteKeys } from '../../src/chain/byte-keys.ts'
import { pubkeyFromBase58, pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import type { Block, Transaction } from '../../src/chain/transaction.ts'
import { PriorityFees } from '../../src/transactions/priority-fees.ts'
import { sourced } from '../actors/ingest/put-back-chain.ts'
import { buildTransaction, littleEndian } from '../chain/build-transaction.ts'
import { randomRuns } from '../random-runs.ts'

const COMPUTE_BUDGET = pubkeyFromBase58('ComputeBudget111111111111111111111111111111')
const PLAIN = buildTransaction({ signers: ['11111111111111111111111111111112'], calls: [] })

/** Twenty accounts of random bytes. */
const ACCOUNTS: readonly Pubkey[] = Array.from({ length: 20 }, (_, account) =>
  Uint8Array.from({ length: 32 }, (_, at) => (account * 97 + at * 131 + account * at * 7) % 256)
)

/** Keys that give the hashes of a JSON source. */
class Texts extends ByteKeys {
  override hash(index: number): number {
    return hashOfKeyText(pubkeyToBase58(this.bytes(index)))
  }

  override writableHashes(into: Float64Array, from: number): number {
    let at = from
    for (let index = 0; index < this.length; index++)
      if (this.isWritable(index)) into[at++] = this.hash(index)
    return at
  }
}

interface Paid {
  readonly price: bigint | null
  readonly writes: readonly number[]
  readonly isText: boolean
}

/** A transaction that writes to some of the accounts and reads one more. */
function paying({ price, writes, isText }: Paid): Transaction {
  const bytes = Buffer.concat([...writes.map((at) => ACCOUNTS[at]!), ACCOUNTS[19]!, COMPUTE_BUDGET])
  const statics = writes.length + 2
  const locks = { signatures: 1, readonlySigned: 0, readonlyUnsigned: 2, statics, loadedWritable: 0 }
  const data = price === null ? new Uint8Array(0) : Buffer.from([3, ...littleEndian(price, 8)])
  const instruction = { program: statics - 1, accounts: [], data, height: 1, outerIndex: 0, innerIndex: null }
  return { ...PLAIN, keys: new (isText ? Texts : ByteKeys)(bytes, locks), instructions: [instruction] }
}

const blockOf = (slot: number, paid: readonly Paid[]): Block => ({
  slot,
  blockTime: 0,
  parentSlot: slot - 1,
  transactions: paid.map(paying),
  votes: 0
})

const give = (fees: PriorityFees, slot: number, paid: readonly Paid[]): void =>
  fees.read(sourced(blockOf(slot, paid)))()

const single = (price: bigint | null, ...writes: number[]): Paid => ({ price, writes, isText: false })

void t.test('no data is zeros, and zero fees count', (t) => {
  const fees = new PriorityFees()
  const nothing = { p25: 0, p50: 0, p75: 0, p90: 0, max: 0 }
  t.strictSame(fees.of([]), { samples: 0, slots: null, ...nothing })
  give(fees, 7, [single(null, 0), single(40n, 1), single(0n, 2), single(30n, 1)])
  t.strictSame(fees.of([]), { samples: 4, slots: [7, 7], p25: 0, p50: 0, p75: 30, p90: 40, max: 40 })
  t.strictSame(fees.of([ACCOUNTS[1]!]), {
    samples: 2,
    slots: [7, 7],
    p25: 30,
    p50: 30,
    p75: 40,
    p90: 40,
    max: 40
  })
  t.strictSame(fees.of([ACCOUNTS[19]!]), { samples: 0, slots: [7, 7], ...nothing }, 'an account that is read')
  t.end()
})

void t.test('a price beyond the exact whole numbers is the largest of them', (t) => {
  const fees = new PriorityFees()
  give(fees, 1, [single(2n ** 64n - 1n, 0), single(2n ** 53n - 2n, 1)])
  t.equal(fees.of([]).max, Number.MAX_SAFE_INTEGER)
  t.equal(fees.of([ACCOUNTS[1]!]).max, 2 ** 53 - 2)
  t.end()
})

void t.test('version 1 states a fee and a limit; without compute units it has no price', (t) => {
  const priceOf = (priorityFeeLamports: bigint | null, computeUnitLimit: number | null): number => {
    const fees = new PriorityFees()
    const config = { priorityFeeLamports, computeUnitLimit, loadedAccountsBytesMax: null, heapBytes: null }
    // Its budget instructions do not count.
    const transaction: Transaction = { ...paying(single(77n, 0)), version: 1, config }
    fees.read(sourced({ ...blockOf(1, []), transactions: [transaction] }))()
    return fees.of([]).max
  }
  t.equal(priceOf(30_612n, 800_000), 38_265)
  t.equal(priceOf(1n, 3), 333_333)
  t.equal(priceOf(null, 800_000), 0)
  t.equal(priceOf(5n, null), 0)
  t.equal(priceOf(5n, 0), 0)
  t.end()
})

const paid = fc.record<Paid>({
  price: fc.option(fc.oneof(fc.bigInt(0n, 9n), fc.bigInt(0n, 2n ** 64n - 1n)), { nil: null }),
  writes: fc.uniqueArray(fc.nat({ max: 18 }), { minLength: 1, maxLength: 6 }),
  isText: fc.boolean()
})
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ slot: fc.nat(400), block: fc.array(paid, { maxLength: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ lost: fc.nat(400) }) }
)

void t.test('fees are those of a list of all transactions, whatever comes, goes and is asked', (t) => {
  const asked = fc.array(fc.uniqueArray(fc.nat({ max: 19 }), { maxLength: 6 }), {
    minLength: 1,
    maxLength: 4
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), asked, (steps, questions) => {
      const fees = new PriorityFees()
      let naive = new Map<number, readonly Paid[]>()
      for (const each of steps) {
        if ('lost' in each) {
          fees.lost(each.lost)
          naive = new Map([...naive].filter(([slot]) => slot <= each.lost))
          continue
        }
        give(fees, each.slot, each.block)
        naive.set(each.slot, each.block)
        const newest = Math.max(...naive.keys())
        naive = new Map([...naive].filter(([slot]) => slot > newest - 150))
      }
      for (const accounts of questions) {
        const all = [...naive.values()].flat()
        const of = all.filter(
          ({ writes }) => accounts.length === 0 || writes.some((at) => accounts.includes(at))
        )
        const prices = of
          .map(({ price }) => Math.min(Number(price ?? 0n), Number.MAX_SAFE_INTEGER))
          .sort((a, b) => a - b)
        const rank = (percent: number): number => prices[Math.ceil((percent * prices.length) / 100) - 1] ?? 0
        const slots = naive.size === 0 ? null : [Math.min(...naive.keys()), Math.max(...naive.keys())]
        const expected = {
          samples: of.length,
          slots,
          p25: rank(25),
          p50: rank(50),
          p75: rank(75),
          p90: rank(90),
          max: rank(100)
        }
        const found = fees.of(accounts.map((at) => ACCOUNTS[at]!))
        if (JSON.stringify(found) !== JSON.stringify(expected))
          throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
      }
    }),
    randomRuns(200)
  )
  t.end()
})

const many = fc.array(paid, { minLength: 60, maxLength: 120 })

void t.test(
  'large blocks are searched as small ones are: by index, in a row, and again after each block',
  (t) => {
    fc.assert(
      fc.property(fc.array(many, { minLength: 1, maxLength: 3 }), (blocks) => {
        const fees = new PriorityFees()
        // Few hashes are looked up in an index, many are compared with all accounts.
        const lists = [[0], [0, 1], Array.from({ length: 19 }, (_, at) => at)]
        for (const [slot, each] of blocks.entries()) {
          give(fees, slot, each)
          const all = blocks.slice(0, slot + 1).flat()
          for (const list of lists) {
            const prices = all
              .filter(({ writes }) => writes.some((at) => list.includes(at)))
              .map(({ price }) => Math.min(Number(price ?? 0n), Number.MAX_SAFE_INTEGER))
              .sort((a, b) => a - b)
            const rank = (percent: number): number =>
              prices[Math.ceil((percent * prices.length) / 100) - 1] ?? 0
            const expected = [prices.length, rank(25), rank(50), rank(75), rank(90), rank(100)]
            const { samples, p25, p50, p75, p90, max } = fees.of(list.map((at) => ACCOUNTS[at]!))
            const found = [samples, p25, p50, p75, p90, max]
            if (found.join() !== expected.join())
              throw new Error(`${found.join()} instead of ${expected.join()}`)
          }
        }
      }),
      randomRuns(30)
    )
    t.end()
  }
)

void t.test('lists beyond the memory for them are searched anew', (t) => {
  const fees = new PriorityFees({ listsBytesMax: 1 })
  give(fees, 1, [single(5n, 0), single(6n, 1)])
  for (let again = 0; again < 3; again++) t.match(fees.of([ACCOUNTS[0]!]), { samples: 1, max: 5 })
  t.end()
})

void t.test('the oldest blocks make room for writes beyond the limit', (t) => {
  const fees = new PriorityFees({ writesMax: 10 })
  for (let slot = 1; slot <= 6; slot++) give(fees, slot, [single(BigInt(slot), 0, 1, 2)])
  t.match(fees.of([]), { samples: 3, slots: [4, 6] })
  t.equal(fees.has(3), false)
  give(
    fees,
    7,
    Array.from({ length: 5 }, () => single(1n, 0, 1, 2))
  )
  t.match(fees.of([]), { samples: 5, slots: [7, 7] }, 'the newest block stays, however large')
  t.end()
})

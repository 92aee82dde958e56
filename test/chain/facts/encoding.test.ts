import fc from 'fast-check'
import t from 'tap'
import { ByteKeys } from '../byte-keys.ts'
import type { Transaction, TransactionVersion } from '../../../src/chain/transaction.ts'
import { randomRuns } from '../../random-runs.ts'
import { decodeFacts, encodeFacts, readFacts } from './encoding.ts'
import { plainBlock } from './plain-block.ts'

const blocks = readFacts()
const facts = blocks.flatMap((block) => block.facts)

t.test('facts that are written again give the same bytes, and read the same', async (t) => {
  const bytes = encodeFacts(blocks)
  t.strictSame(decodeFacts(bytes).map(plainBlock), blocks.map(plainBlock))
  t.equal(Buffer.compare(bytes, encodeFacts(decodeFacts(bytes))), 0)
})

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER - 1 })
const lamports = fc.array(fc.nat({ max: Number.MAX_SAFE_INTEGER }), { maxLength: 5 })
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })
const bytesOf = (size: number) => fc.uint8Array({ minLength: size, maxLength: size })
const tokenBalances = fc.array(
  fc.record({
    account: fc.nat({ max: 255 }),
    mint: bytesOf(32),
    owner: orNull(bytesOf(32)),
    amount: u64,
    decimals: fc.nat({ max: 255 })
  }),
  { maxLength: 4 }
)
const logLines = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(...facts.flatMap(({ transaction }) => transaction.logs ?? [])),
  fc
    .tuple(
      fc.constantFrom('Program data: ', 'Program log: ray_log: ', 'Program 1 ', `Program ${'1'.repeat(32)} `),
      fc.constantFrom(
        '',
        'A===',
        'AAAA',
        'AAAA  AA==',
        'AB==',
        'invoke [01]',
        'failed: ',
        'failed: \n',
        'success'
      )
    )
    .map((parts) => parts.join(''))
)
const instructions = fc.array(
  fc.record({
    program: fc.nat({ max: 255 }),
    accounts: fc.uint8Array({ maxLength: 70 }),
    data: fc.uint8Array({ maxLength: 300 }),
    height: fc.nat({ max: 5 }),
    outerIndex: fc.nat({ max: 300 }),
    innerIndex: orNull(fc.nat({ max: 300 }))
  }),
  { maxLength: 5 }
)
const changes = fc.record<Partial<Transaction>>(
  {
    signature: bytesOf(64),
    index: orNull(count),
    version: fc.constantFrom<TransactionVersion[]>('legacy', 0, 1),
    failed: fc.boolean(),
    keys: fc.array(bytesOf(32), { maxLength: 6 }).map((keys) => new ByteKeys(Buffer.concat(keys))),
    signerCount: fc.nat({ max: 255 }),
    feeLamports: u64,
    instructions,
    nestingKnown: fc.boolean(),
    logs: orNull(fc.array(logLines, { maxLength: 8 })),
    preTokenBalances: tokenBalances,
    postTokenBalances: tokenBalances,
    preBalances: lamports,
    postBalances: lamports
  },
  { requiredKeys: [] }
)
const changedBlocks = fc.array(
  fc.record({
    slot: orNull(count),
    blockTime: orNull(count),
    parentSlot: orNull(count),
    votes: count,
    facts: fc.array(
      fc
        .tuple(fc.constantFrom(...facts), changes, fc.nat({ max: 256 }), fc.string({ unit: 'grapheme' }))
        .map(([{ transaction }, changed, loadedKeys, expected]) => ({
          transaction: { ...transaction, ...changed },
          loadedKeys,
          expected
        })),
      { maxLength: 3 }
    )
  }),
  { maxLength: 3 }
)

t.test('facts with any of their fields changed read as they were written', async (t) => {
  fc.assert(
    fc.property(changedBlocks, (changed) => {
      t.strictSame(decodeFacts(encodeFacts(changed)).map(plainBlock), changed.map(plainBlock))
      return t.passing()
    }),
    randomRuns(150, 11)
  )
})

t.test('a file with one byte changed is refused', async (t) => {
  const bytes = encodeFacts(blocks.slice(0, 2))
  fc.assert(
    fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
      t.throws(() => decodeFacts(bytes.with(at, bytes[at]! ^ change)), { message: 'facts are damaged' })
      return t.passing()
    }),
    { seed: 13 }
  )
})

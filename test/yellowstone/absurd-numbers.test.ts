import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { readUpdate } from '../../src/yellowstone/read-block.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { loneIngester } from '../actors/ingest/lone-ingester.ts'
import { wholeNumbers } from '../chain/absurd-numbers.ts'
import { fixtureFiles, readFixture, testWithFixtures } from '../fixtures.ts'
import { randomRuns } from '../random-runs.ts'
import { encodeBlock, isCompiled, updateBlock, type UpdateBlock } from './encode-block.ts'

/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-member-access */
/* eslint-disable @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-return */
/* eslint-disable @typescript-eslint/no-unsafe-call */

/** Puts a number in one place of a block; 32-bit places are truncated to their size. */
const PLACES: Readonly<Record<string, (block: any, value: bigint) => void>> = {
  slot: (block, value) => (block.slot = String(value)),
  parentSlot: (block, value) => (block.parentSlot = String(value)),
  blockTime: (block, value) => (block.blockTime = { timestamp: String(BigInt.asIntN(64, value)) }),
  executed: (block, value) => (block.executedTransactionCount = String(value)),
  index: (block, value) => (block.transactions[0].index = String(value)),
  fee: (block, value) => (block.transactions[0].meta.fee = String(value)),
  balances: ({ transactions: [{ meta }] }, value) =>
    (meta.preBalances = meta.preBalances.map(() => String(value))),
  amount: ({ transactions: [{ meta }] }, value) => {
    for (const { uiTokenAmount } of meta.postTokenBalances) uiTokenAmount.amount = String(value)
  },
  amountText: ({ transactions: [{ meta }] }, value) => {
    for (const { uiTokenAmount } of meta.preTokenBalances) uiTokenAmount.amount = `${value}0`
  },
  decimals: ({ transactions: [{ meta }] }, value) => {
    for (const { uiTokenAmount } of [...meta.preTokenBalances, ...meta.postTokenBalances])
      uiTokenAmount.decimals = Number(value % 300n)
  },
  stackHeight: ({ transactions: [{ meta }] }, value) => {
    for (const { instructions } of meta.innerInstructions)
      for (const each of instructions) each.stackHeight = Number(value & 0xffff_ffffn)
  }
}

testWithFixtures(
  t,
  'whatever numbers a streamed block holds, ingest takes it or the reason names the field (INVARIANTS 9)',
  async (t) => {
    const records = fixtureFiles('tx')
      .map((path) => readFixture(path) as any)
      .filter(isCompiled)
    const directory = t.testdir()
    let [taken, refused] = [0, 0]
    const change = fc.record({ place: fc.constantFrom(...Object.keys(PLACES)), value: wholeNumbers })
    const given = fc.record({
      which: fc.nat(records.length - 1),
      changes: fc.array(change, { maxLength: 3 })
    })
    await fc.assert(
      fc.asyncProperty(given, async ({ which, changes }) => {
        const { transaction, meta, version } = records[which]
        const hashes = { blockhash: 'x', previousBlockhash: 'y' }
        const transactions = [{ transaction, meta, version }]
        const block = { ...hashes, parentSlot: 5, blockTime: 1_760_000_000, transactions }
        const changed: UpdateBlock = updateBlock(block, 400_000_000)
        for (const { place, value } of changes) PLACES[place]!(changed, value)
        const update = readUpdate(encodeBlock(changed))
        if (update.kind !== 'block') {
          refused++
          t.equal(update.kind, 'unreadable')
          return
        }
        taken++
        const storage = await openEmbeddedStorage({ directory: mkdtempSync(join(directory, 'store-')) })
        try {
          const ingester = await loneIngester(storage)
          await ingester.ingest({ block: update.block, commitment: 'confirmed', receivedAtMs: 1 })
        } finally {
          await storage.close()
        }
      }),
      randomRuns(200, 7)
    )
    t.ok(taken > 50 && refused > 50, `${taken} taken, ${refused} refused`)
  }
)

t.test('a slot or a time that the service has no room for is named with its number', (t) => {
  const block = {
    blockhash: 'x',
    previousBlockhash: 'y',
    parentSlot: 5,
    blockTime: 1_760_000_000,
    transactions: []
  }
  const readWith = (place: string, value: bigint) => {
    const changed = updateBlock(block, 7)
    PLACES[place]!(changed, value)
    return readUpdate(encodeBlock(changed))
  }
  t.match(readWith('slot', 2n ** 33n), {
    kind: 'unreadable',
    slot: null,
    reason: 'slot 8589934592 is above 8589934591'
  })
  t.match(readWith('slot', 2n ** 33n - 1n), { kind: 'block', block: { slot: 2 ** 33 - 1 } })
  t.match(readWith('blockTime', 1_790_000_000_000n), {
    kind: 'unreadable',
    slot: 7,
    reason: 'blockTime 1790000000000 is above 4294967295'
  })
  t.match(readWith('blockTime', -1n), {
    kind: 'unreadable',
    reason: /^blockTime 18446744073709551615 is above/
  })
  t.match(readWith('parentSlot', 2n ** 64n - 1n), {
    kind: 'unreadable',
    reason: /^parentSlot 18446744073709551615/
  })
  t.end()
})

import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { pubkeyFromBase58 } from '../../src/chain/pubkey.ts'
import { WSOL } from '../../src/market/cash.ts'
import { readRecorded } from '../../src/recorded/read.ts'
import { scanRecorded } from '../../src/recorded/scan.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { loneIngester } from '../actors/ingest/lone-ingester.ts'
import { absurdChanges, withAbsurdNumbers } from '../chain/absurd-numbers.ts'
import { fixtureTransactions, testWithFixtures } from '../fixtures.ts'
import { randomRuns } from '../random-runs.ts'

/** Slots in a file's name, which may differ from that of its record. */
const NAMES = ['7.json', 'block.json', '1790000000000.json', '8589934592.json', '999999999999999.json']

testWithFixtures(
  t,
  'whatever numbers a recorded file holds, ingest takes it or the file is a counted problem (INVARIANTS 9)',
  async (t) => {
    const records = fixtureTransactions()
      .map(({ result }) => result as Record<string, unknown>)
      .filter(({ transaction }) => typeof transaction === 'object')
    const directory = t.testdir()
    let [taken, refused, trades] = [0, 0, 0]
    const given = fc.record({
      which: fc.nat(records.length - 1),
      changes: absurdChanges,
      isBlock: fc.boolean(),
      name: fc.constantFrom(...NAMES)
    })
    await fc.assert(
      fc.asyncProperty(given, async ({ which, changes, isBlock, name }) => {
        const { transaction, meta, version } = records[which]!
        const body = { transaction, meta, version }
        const time = { blockTime: 1_760_000_000 }
        const block = { blockhash: 'x', parentSlot: 5, ...time, transactions: [body] }
        const record = isBlock ? { slot: 7, block } : { slot: 7, transactionIndex: 5, ...time, ...body }
        const folder = mkdtempSync(join(directory, 'folder-'))
        writeFileSync(join(folder, name), withAbsurdNumbers(record, changes))
        const index = await scanRecorded(folder)
        const storage = await openEmbeddedStorage({ directory: mkdtempSync(join(directory, 'store-')) })
        try {
          const ingester = await loneIngester(storage)
          for await (const block of readRecorded(index))
            await ingester.ingest({ block, commitment: 'finalized', receivedAtMs: block.blockTime * 1000 })
          const head = await storage.blocks.head()
          const problems = index.problems.total
          taken += Number(head !== null)
          refused += Number(problems > 0)
          if (head === null) t.ok(problems > 0, 'what is not taken is counted')
          const rows = await storage.trades.ofMint(pubkeyFromBase58(WSOL), { order: 'desc', limit: 50 })
          for (const { price, cashUsd } of rows)
            if (!Number.isFinite(price ?? 0) || !Number.isFinite(cashUsd ?? 0)) t.fail(`a price of ${price}`)
          trades += rows.length
        } finally {
          await storage.close()
        }
      }),
      randomRuns(300, 7)
    )
    t.ok(taken > 50 && refused > 50 && trades > 20, `${taken} taken, ${refused} refused, ${trades} trades`)
  }
)

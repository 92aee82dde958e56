import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { TradeRow } from '../../src/market/rows.ts'
import { pageKey } from '../../storage/codec/keys.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { ERRORS } from '../../src/kernel/errors.ts'
import type { PageRequest, Storage } from '../../storage/port.ts'
import { sampleMint, sampleWallet } from '../../storage/test/sample-addresses.ts'
import { blockOfTrades } from '../../storage/test/sample-blocks.ts'
import { ALL } from '../../storage/test/under-test.ts'
import { randomRuns } from '../random-runs.ts'
import { withRawStore } from './embedded-directory.ts'

const mint = sampleMint(0)
const wallet = sampleWallet(0)
const BLOCKS = 40
const TRADES = 12

const directory = t.testdir()
const writer = await openEmbeddedStorage({ directory })
for (let index = 0; index < BLOCKS; index++) {
  const block = blockOfTrades(index, mint, TRADES)
  const trades = block.trades.map((row) => ({ ...row, user: wallet, cashSide: 'in' as const }))
  await writer.blocks.commit({ ...block, trades })
}
await writer.close()

/** Opens the store without memory for records, so that each read is one of the engine. */
async function opened(t: Test): Promise<Storage> {
  const storage = await openEmbeddedStorage({ directory, hotBytesMax: 0 })
  t.teardown(() => storage.close())
  return storage
}

const cursorsOf = (rows: readonly TradeRow[]): number[] => rows.map(({ cursor }) => cursor)

t.test('the newest rows of a list that is not in memory are those of the whole list', async (t) => {
  const { trades } = await opened(t)
  const lists = {
    mint: (page: PageRequest) => trades.ofMint(mint, page),
    wallet: (page: PageRequest) => trades.ofWallet(wallet, page)
  }
  const all = cursorsOf(await trades.ofMint(mint, ALL)).toReversed()
  t.equal(all.length, BLOCKS * TRADES)
  const place = fc.option(fc.nat(all.length - 1), { nil: undefined })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('mint', 'wallet'),
      fc.integer({ min: 1, max: all.length + 1 }),
      place,
      place,
      async (of, limit, first, last) => {
        const from = first === undefined ? undefined : all[first]!
        const until = last === undefined ? undefined : all[last]!
        const rows = await lists[of]({
          order: 'desc',
          limit,
          ...(from !== undefined && { from }),
          ...(until !== undefined && { until })
        })
        const wanted = all.filter((cursor) => cursor < (from ?? Infinity) && cursor >= (until ?? 0))
        t.strictSame(cursorsOf(rows), wanted.slice(0, limit))
      }
    ),
    randomRuns(60)
  )
})

t.test('rows beyond a missing page are an error, and rows before it an answer', async (t) => {
  const writer = await openEmbeddedStorage({ directory })
  const all = cursorsOf(await writer.trades.ofWallet(wallet, { ...ALL, order: 'desc' }))
  await writer.close()
  const gone = await withRawStore(directory, async (raw) => {
    const newest = { gte: pageKey('w', wallet, 0), lt: pageKey('w', wallet, all[0]!), reverse: true }
    const key = (await raw.keys(newest).all())[10]!
    await raw.del(key)
    return key
  })
  const oldestOfPage = all.findIndex((cursor) => pageKey('w', wallet, cursor).equals(gone))
  const { trades } = await opened(t)
  // A wallet's page has eight rows.
  const before = oldestOfPage - 7
  const rows = await trades.ofWallet(wallet, { order: 'desc', limit: before })
  t.strictSame(cursorsOf(rows), all.slice(0, before))
  await t.rejects(trades.ofWallet(wallet, { order: 'desc', limit: before + 1 }), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE,
    detail: 'a wallet page is missing'
  })
})

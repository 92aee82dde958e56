import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import fc from 'fast-check'
import t from 'tap'
import type { TradeRow } from '../../src/market/rows.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { BlockCommit, Storage } from '../../storage/port.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { ERRORS } from '../../src/kernel/errors.ts'
import { randomRuns } from '../random-runs.ts'
import { damageRecords, recordsOf, withRawStore } from './embedded-directory.ts'
import { repairStore } from '../../storage/embedded/repair/repair.ts'

const BLOCKS = 90
const directory = t.testdir()
const withoutTwins = Array.from({ length: BLOCKS }, (_, index) => sampleBlock(5, index))
const blocks = withoutTwins.map(withTwins)
const wallets = [...new Map(blocks.flatMap(({ trades }) => trades).map((row) => [text(row), row.user]))].map(
  ([, user]) => user
)

function text({ user }: TradeRow): string {
  return Buffer.from(user).toString('hex')
}

/** Gives some trades a mint that shares the first 20 bytes of another one's address. */
function withTwins(block: BlockCommit): BlockCommit {
  const trades = block.trades.map((row, at) => {
    if (at % 3 !== 0 || row.cashSide === null) return row
    const mint = Uint8Array.from(row.mint)
    mint[31]! ^= 1 + (at % 5)
    return { ...row, mint }
  })
  return { ...block, trades }
}

const live = await openEmbeddedStorage({ directory: join(directory, 'live'), isScratch: true })
for (const block of blocks) await live.blocks.commit(block)
t.teardown(() => live.close())

let stores = 0

/** Writes an archive in runs; the first `plain` blocks as a live store writes them, like an earlier version. */
async function archived(
  plain: number,
  run: number,
  written = blocks
): Promise<{ storage: Storage; place: string }> {
  const place = join(directory, `archive-${stores++}`)
  const earlier = await openEmbeddedStorage({ directory: place, isScratch: true })
  for (const block of written.slice(0, plain)) await earlier.blocks.commit(block)
  await earlier.close()
  const storage = await openEmbeddedStorage({ directory: place, isScratch: true, isArchive: true })
  for (let at = plain; at < BLOCKS; at += run) await storage.blocks.commitAll([written.slice(at, at + run)])
  return { storage, place }
}

t.test('trades of a wallet of an archive are those of a live store, in any page', async (t) => {
  t.ok(wallets.length > 5)
  const archives = await Promise.all([archived(0, 7), archived(0, BLOCKS), archived(40, 13)])
  t.teardown(() => Promise.all(archives.map(({ storage }) => storage.close())))
  const last = blocks.at(-1)!.trades.at(-1) ?? blocks.at(-2)!.trades.at(-1)!
  let read = 0
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        wallet: fc.constantFrom(...wallets),
        order: fc.constantFrom('asc' as const, 'desc' as const),
        limit: fc.integer({ min: 0, max: 80 }),
        from: fc.option(fc.integer({ min: 0, max: last.cursor + 5 }), { nil: undefined }),
        until: fc.option(fc.integer({ min: 0, max: last.cursor + 5 }), { nil: undefined })
      }),
      async ({ wallet, from, until, ...rest }) => {
        const page = {
          ...rest,
          ...(from !== undefined && { from }),
          ...(until !== undefined && { until })
        }
        const rows = await live.trades.ofWallet(wallet, page)
        read += rows.length
        for (const { storage } of archives) t.strictSame(await storage.trades.ofWallet(wallet, page), rows)
      }
    ),
    randomRuns(40)
  )
  t.ok(read > 30, `${read} rows are read`)
})

t.test('trades that are added after pages of wallets were read are found', async (t) => {
  const place = join(directory, `archive-${stores++}`)
  const storage = await openEmbeddedStorage({ directory: place, isScratch: true, isArchive: true })
  t.teardown(() => storage.close())
  for (let at = 0; at < BLOCKS; at += 9) {
    await storage.blocks.commitAll([blocks.slice(at, at + 9)])
    const last = blocks[Math.min(at + 8, BLOCKS - 1)]!.slot.slot
    for (const wallet of wallets) {
      const rows = await live.trades.ofWallet(wallet, { order: 'asc', limit: 500 })
      const own = rows.filter(({ slot }) => slot <= last).reverse()
      t.strictSame(await storage.trades.ofWallet(wallet, { order: 'desc', limit: 500 }), own)
    }
  }
})

t.test('a page of a wallet that was read searches no trade again', async (t) => {
  // Mints whose addresses begin alike are searched one after another.
  const { storage, place } = await archived(0, 20, withoutTwins)
  await storage.close()
  const reader = await openEmbeddedStorage({ directory: place })
  t.teardown(() => reader.close())
  const searched = t.capture(
    ClassicLevel.prototype,
    'keys',
    Reflect.get(ClassicLevel.prototype, 'keys') as () => unknown
  )
  const page = { order: 'desc', limit: 500 } as const
  let rows = 0
  for (const wallet of wallets) rows += (await reader.trades.ofWallet(wallet, page)).length
  const searches = searched().length
  t.ok(searches > 0 && searches < rows / 2, `${searches} searches for ${rows} trades`)
  for (const wallet of wallets) await reader.trades.ofWallet(wallet, page)
  t.equal(searched().length, 0)
})

t.test('an archive has each trade once, and any process finds the wallets by itself', async (t) => {
  const { storage, place } = await archived(0, 20)
  await storage.close()
  const letters = [...(await recordsOf(place)).keys()].map((key) => key[0])
  t.notOk(letters.includes('w'))
  t.ok(letters.includes('T') && letters.includes('t'))
  const reader = await openEmbeddedStorage({ directory: place })
  const page = { order: 'desc', limit: 500 } as const
  for (const wallet of wallets)
    t.strictSame(await reader.trades.ofWallet(wallet, page), await live.trades.ofWallet(wallet, page))
  await reader.close()
})

t.test('a trade that a wallet refers to and that is missing is an error, not a shorter page', async (t) => {
  const { storage, place } = await archived(0, 20)
  await storage.close()
  await withRawStore(place, (raw) => raw.clear({ gte: Buffer.from('t'), lt: Buffer.from('u') }))
  const reader = await openEmbeddedStorage({ directory: place, isArchive: true })
  t.teardown(() => reader.close())
  await t.rejects(reader.trades.ofWallet(wallets[0]!, { order: 'desc', limit: 5 }), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE,
    detail: /the trade of a wallet at cursor \d+ is missing/
  })
})

t.test(
  'damaged trades of an archive are lost until it is folded again; those of a live store are not',
  async (t) => {
    const { storage, place } = await archived(0, 20)
    await storage.close()
    const copy = join(directory, 'live-to-repair')
    const twice = await openEmbeddedStorage({ directory: copy, isScratch: true })
    for (const block of blocks) await twice.blocks.commit(block)
    await twice.close()
    for (const [store, lost] of [
      [place, ['trades by mint']],
      [copy, []]
    ] as const) {
      await damageRecords(store, Buffer.from('t'))
      const options = { directory: store, startOver: 'never', nowMs: 0, retentionSeconds: null } as const
      const outcome = await repairStore({ ...options, foldCandles: async () => 0 })
      if (outcome.kind !== 'repaired') throw new Error('nothing was found to repair')
      t.strictSame([...new Set(outcome.losses.map(({ kind }) => kind))], lost)
      const repaired = await openEmbeddedStorage({ directory: store })
      t.equal(repaired.losses === null, lost.length === 0, 'the next import folds an archive with losses')
      await repaired.close()
    }
  }
)

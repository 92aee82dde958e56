import assert from 'node:assert/strict'
import type { Test } from 'tap'
import type { LaunchStatus } from '../../../src/market/rows.ts'
import { sampleMint } from '../sample-addresses.ts'
import { emptyBlock } from '../sample-blocks.ts'
import { sampleLaunch } from '../sample-launches.ts'
import type { OpenForTest } from '../under-test.ts'

const mint = sampleMint(0)

export async function testLaunches(t: Test, open: OpenForTest): Promise<void> {
  t.test('a launch moves from status to status and is listed once', async (t) => {
    const { storage } = await open(t)
    const mints = async (status?: LaunchStatus): Promise<string[]> =>
      (
        await storage.launches.page({ order: 'asc', limit: 10, ...(status === undefined ? {} : { status }) })
      ).map((row) => row.uri)
    const [a, b] = ['https://example.org/0', 'https://example.org/1']
    await storage.blocks.commit({ ...emptyBlock(0), launches: [sampleLaunch(1, 0, 'created')] })
    await storage.blocks.commit({ ...emptyBlock(1), launches: [sampleLaunch(1, 1, 'created')] })
    t.strictSame(await mints('created'), [a, b])
    await storage.blocks.commit({ ...emptyBlock(2), launches: [sampleLaunch(1, 0, 'trading')] })
    t.strictSame(await mints('created'), [b])
    t.strictSame(await mints('trading'), [a])
    t.strictSame(await mints('graduated'), [])
    t.strictSame(await mints(), [a, b])
    assert.deepStrictEqual(
      await storage.launches.get(sampleLaunch(1, 0, 'trading').mint),
      sampleLaunch(1, 0, 'trading')
    )
    t.equal(await storage.launches.get(mint), null)
  })

  t.test('a mint that launches and trades in one block is stored as trading', async (t) => {
    const { storage } = await open(t)
    const launches = [sampleLaunch(1, 0, 'created'), sampleLaunch(1, 0, 'trading')]
    await storage.blocks.commit({ ...emptyBlock(0), launches })
    t.strictSame(await storage.launches.page({ status: 'created', order: 'asc', limit: 10 }), [])
    assert.deepStrictEqual(await storage.launches.page({ order: 'asc', limit: 10 }), launches.slice(1))
  })

  t.test('pages go both ways, by cursor and by offset, in all and in one status', async (t) => {
    const { storage } = await open(t)
    const rows = Array.from({ length: 30 }, (_, i) => sampleLaunch(1, i, i % 3 === 0 ? 'trading' : 'created'))
    for (const [index, row] of rows.entries())
      await storage.blocks.commit({ ...emptyBlock(index), launches: [row] })
    const newest = rows.toReversed()
    const desc = { order: 'desc', limit: 7 } as const
    assert.deepStrictEqual(await storage.launches.page(desc), newest.slice(0, 7))
    assert.deepStrictEqual(
      await storage.launches.page({ ...desc, from: newest[6]!.cursor }),
      newest.slice(7, 14)
    )
    assert.deepStrictEqual(await storage.launches.page({ ...desc, offset: 25 }), newest.slice(25))
    assert.deepStrictEqual(
      await storage.launches.page({ ...desc, order: 'asc', from: rows[2]!.cursor }),
      rows.slice(3, 10)
    )
    const trading = newest.filter((row) => row.status === 'trading')
    const page = { ...desc, status: 'trading', limit: 4 } as const
    assert.deepStrictEqual(await storage.launches.page(page), trading.slice(0, 4))
    assert.deepStrictEqual(
      await storage.launches.page({ ...page, from: trading[3]!.cursor }),
      trading.slice(4, 8)
    )
    t.strictSame(await storage.launches.page({ ...page, limit: 0 }), [])
  })
}

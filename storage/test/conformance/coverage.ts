import type { Test } from 'tap'
import { emptyBlock } from '../sample-blocks.ts'
import { sampleGap } from '../sample-gap.ts'
import type { OpenForTest } from '../under-test.ts'

const [MAINNET, DEVNET] = [
  '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
]

export async function testCoverage(t: Test, open: OpenForTest): Promise<void> {
  t.test('the genesis is that of whoever set it first, also after the store is opened again', async (t) => {
    const under = await open(t)
    t.equal(await under.storage.coverage.genesis(), null)
    const settled = await Promise.all(
      [MAINNET, DEVNET].map((hash) => under.storage.coverage.settleGenesis(hash))
    )
    t.equal(settled[0], settled[1])
    t.ok(settled[0] === MAINNET || settled[0] === DEVNET)
    const storage = await under.reopen()
    t.equal(await storage.coverage.genesis(), settled[0])
    t.equal(await storage.coverage.settleGenesis(DEVNET), settled[0])
    t.equal(await storage.blocks.head(), null, 'a genesis is no block')
  })

  t.test(
    'gaps are listed by slot, a page at a time, and one takes the place of another that begins there',
    async (t) => {
      const under = await open(t)
      const { coverage, blocks } = under.storage
      t.strictSame(await coverage.gaps({ after: null, limit: 10 }), [])
      await blocks.commit(emptyBlock(0))
      for (const n of [3, 0, 12, 7]) await coverage.addGap(sampleGap(n))
      const longer = { ...sampleGap(7), to: 999, reason: 'unreadable' }
      await coverage.addGap(longer)
      const all = [sampleGap(0), sampleGap(3), longer, sampleGap(12)]
      t.strictSame(await coverage.gaps({ after: null, limit: 10 }), all)
      t.strictSame(await coverage.gaps({ after: null, limit: 2 }), all.slice(0, 2))
      t.strictSame(await coverage.gaps({ after: 300, limit: 10 }), all.slice(2))
      t.strictSame(await coverage.gaps({ after: 299, limit: 1 }), all.slice(1, 2))
      t.strictSame(await coverage.gaps({ after: null, limit: 0 }), [])
      const storage = await under.reopen()
      t.strictSame(await storage.coverage.gaps({ after: null, limit: 10 }), all)
      t.equal(await storage.coverage.genesis(), null)
    }
  )
}

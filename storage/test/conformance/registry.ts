import assert from 'node:assert/strict'
import type { Test } from 'tap'
import { vaultOwner } from '../../../src/signing/vault-owners.ts'
import type { VenueId } from '../../../src/chain/venue-id.ts'
import type { PoolRow, TokenRow } from '../../../src/market/registry-rows.ts'
import { Choices } from '../choices.ts'
import { sampleMint, samplePool } from '../sample-addresses.ts'
import { sampleTotals } from '../sample-activity.ts'
import { blockOfTrades, emptyBlock } from '../sample-blocks.ts'
import { sampleCurveOf, sampleListedPool, sampleToken } from '../sample-registry.ts'
import type { OpenForTest } from '../under-test.ts'

const [mint, other] = [sampleMint(0), sampleMint(1)]
const choices = new Choices(15)
const [row] = blockOfTrades(0, mint, 1).trades

export async function testRegistry(t: Test, open: OpenForTest): Promise<void> {
  t.test('a token, a curve and the totals are the last ones written', async (t) => {
    const { storage } = await open(t)
    t.equal(await storage.totals.get(), null)
    t.equal(await storage.tokens.get(mint), null)
    t.equal(await storage.curves.get(mint), null)
    for (let index = 0; index < 20; index++) {
      const token = sampleToken(choices, mint, row!)
      const curve = sampleCurveOf(choices, mint, row!)
      const totals = sampleTotals(choices)
      await storage.blocks.commit({ ...emptyBlock(2 * index), tokens: [token], curves: [curve], totals })
      await storage.blocks.commit(emptyBlock(2 * index + 1))
      assert.deepStrictEqual(await storage.tokens.get(mint), token)
      assert.deepStrictEqual(await storage.curves.get(mint), curve)
      assert.deepStrictEqual(await storage.totals.get(), totals, 'a block without a change leaves them')
    }
    t.equal(await storage.tokens.get(other), null)
    t.equal(await storage.curves.get(other), null)
  })

  t.test('tokens are listed in one order, page by page, each as the last block left it', async (t) => {
    const { storage } = await open(t)
    const { tokens } = storage
    t.strictSame(await tokens.list({ limit: 9 }), [])
    const mints = Array.from({ length: 30 }, (_, n) => sampleMint(n))
    const last = new Map<Uint8Array, TokenRow>()
    for (const [index, of] of mints.entries()) {
      const changed = [of, mints[0]!, mints[Math.floor(index / 2)]!]
      const rows = [...new Set(changed)].map((each) => sampleToken(choices, each, row!))
      for (const each of rows) last.set(each.mint, each)
      await storage.blocks.commit({ ...emptyBlock(index), tokens: rows })
    }
    const expected = [...last.values()].sort((one, two) => tokens.compare(one.mint, two.mint))
    for (const limit of [1, 7, 30, 31, 100]) {
      const seen: TokenRow[] = []
      for (let after: Uint8Array | undefined; ; after = seen.at(-1)!.mint) {
        const next = await tokens.list({ limit, ...(after !== undefined && { after }) })
        t.ok(next.length <= limit)
        seen.push(...next)
        if (next.length < limit) break
      }
      assert.deepStrictEqual(seen, expected, `pages of ${limit}`)
    }
    const absent = sampleMint(30)
    const beyond = expected.filter(({ mint: each }) => tokens.compare(each, absent) > 0)
    assert.deepStrictEqual(await tokens.list({ after: absent, limit: 100 }), beyond, 'after an absent mint')
    t.strictSame(await tokens.list({ limit: 0 }), [])
    t.equal(tokens.compare(mint, mint), 0)
  })

  t.test('pools of a mint come by the cursor that first named them, both ways, page by page', async (t) => {
    const { storage } = await open(t)
    const pools = Array.from({ length: 20 }, (_, n): PoolRow => ({
      ...sampleListedPool(choices, n),
      pool: samplePool(n),
      base: n % 2 === 0 ? mint : other,
      quote: n % 2 === 0 ? other : mint,
      quoteListed: n % 3 === 0
    }))
    for (const [index, pool] of pools.entries())
      await storage.blocks.commit({ ...emptyBlock(index), pools: [pool] })
    const ofMint = pools.filter((_, n) => n % 2 === 0 || n % 3 === 0)
    const ofOther = pools.filter((_, n) => n % 2 === 1 || n % 3 === 0)
    const page = { order: 'asc', limit: 100 } as const
    assert.deepStrictEqual(await storage.pools.ofMint(mint, page), ofMint)
    assert.deepStrictEqual(await storage.pools.ofMint(other, page), ofOther)
    for (const order of ['asc', 'desc'] as const)
      for (const limit of [1, 4, 13]) {
        const seen: PoolRow[] = []
        for (let from: number | undefined; ; from = seen.at(-1)!.firstCursor) {
          const next = await storage.pools.ofMint(mint, {
            order,
            limit,
            ...(from === undefined ? {} : { from })
          })
          if (next.length === 0) break
          t.ok(next.length <= limit)
          seen.push(...next)
        }
        assert.deepStrictEqual(seen, order === 'asc' ? ofMint : ofMint.toReversed())
      }
    assert.deepStrictEqual(await storage.pools.get(samplePool(7)), pools[7])
    t.equal(await storage.pools.get(samplePool(99)), null)
    t.strictSame(await storage.pools.ofMint(sampleMint(9), page), [])
    t.strictSame(await storage.pools.ofMint(mint, { ...page, limit: 0 }), [])
  })

  t.test('a pool is found by the owner of its vaults, where that owner follows from the pool', async (t) => {
    const { storage } = await open(t)
    const at = (n: number, venue: VenueId): PoolRow => {
      const pool = { ...sampleListedPool(choices, n), pool: samplePool(n), base: mint, quote: other }
      return { ...pool, venue, quoteListed: false }
    }
    const [lifinity, phoenix, whirlpool] = [at(0, 'lifinity'), at(1, 'phoenix'), at(2, 'orca-whirlpool')]
    for (const [index, pool] of [lifinity, phoenix, whirlpool].entries())
      await storage.blocks.commit({ ...emptyBlock(index), pools: [pool] })
    // Its first block is not in the store, like that of a pool which an older version has stored.
    const older = at(50, 'lifinity')
    await storage.blocks.commit({ ...emptyBlock(3), pools: [older] })
    for (const pool of [lifinity, phoenix, older])
      for (const side of [mint, other]) {
        const owner = vaultOwner(pool, side)
        assert.deepStrictEqual(await storage.pools.ofVaultOwner(owner), pool)
        t.strictSame(await storage.pools.ofMint(owner, { order: 'desc', limit: 9 }), [], 'it is no mint')
      }
    t.equal(await storage.pools.ofVaultOwner(whirlpool.pool), null, 'the pool itself')
    t.equal(await storage.pools.ofVaultOwner(mint), null, 'a mint')
    assert.deepStrictEqual(await storage.pools.ofMint(mint, { order: 'asc', limit: 9 }), [
      lifinity,
      phoenix,
      whirlpool
    ])
  })

  t.test('a pool is the last one written, and is listed once', async (t) => {
    const { storage } = await open(t)
    const pool = { ...sampleListedPool(choices, 0), base: mint, quote: other, quoteListed: true }
    const list = (mint: Uint8Array) => storage.pools.ofMint(mint, { order: 'desc', limit: 9 })
    for (const trades of [1, 2, 3]) {
      await storage.blocks.commit({ ...emptyBlock(trades - 1), pools: [{ ...pool, trades }] })
      assert.deepStrictEqual(await list(mint), [{ ...pool, trades }])
      assert.deepStrictEqual(await list(other), [{ ...pool, trades }])
      assert.deepStrictEqual(await storage.pools.get(pool.pool), { ...pool, trades })
    }
    t.pass()
  })
}

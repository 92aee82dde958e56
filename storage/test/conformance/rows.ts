import assert from 'node:assert/strict'
import type { Test } from 'tap'
import { samePubkey } from '../../../src/chain/pubkey.ts'
import type { TradeRow } from '../../../src/market/rows.ts'
import type { PageRequest } from '../../port.ts'
import { SAMPLE_WALLETS, sampleMint, samplePool, sampleWallet } from '../sample-addresses.ts'
import { blockOfTrades, sampleBlock } from '../sample-blocks.ts'
import { ALL } from '../under-test.ts'
import type { OpenForTest } from '../under-test.ts'

const [mint, other] = [sampleMint(0), sampleMint(1)]

export async function testRows(t: Test, open: OpenForTest): Promise<void> {
  t.test('rows read back exactly as written, in cursor order both ways', async (t) => {
    const { storage } = await open(t)
    const blocks = Array.from({ length: 12 }, (_, index) => sampleBlock(2, index))
    for (const block of blocks) await storage.blocks.commit(block)
    const written = blocks
      .flatMap((block) => block.trades)
      .filter((row) => Buffer.compare(row.mint, mint) === 0)
    t.ok(written.length > 10)
    assert.deepStrictEqual(await storage.trades.ofMint(mint, ALL), written)
    assert.deepStrictEqual(await storage.trades.ofMint(mint, { ...ALL, order: 'desc' }), written.toReversed())
    const events = blocks
      .flatMap((block) => block.poolEvents)
      .filter((row) => Buffer.compare(row.pool, samplePool(0)) === 0)
    t.ok(events.length > 5)
    assert.deepStrictEqual(await storage.poolEvents.ofPool(samplePool(0), ALL), events)
  })

  t.test('pages of any size, chained by from, give every row once', async (t) => {
    const { storage } = await open(t)
    for (let index = 0; index < 20; index++)
      await storage.blocks.commit(blockOfTrades(index, mint, 1 + (index % 9)))
    const all = (await storage.trades.ofMint(mint, ALL)).map((row) => row.cursor)
    for (const order of ['asc', 'desc'] as const)
      for (const limit of [1, 7, 32, 33, 64]) {
        const seen: number[] = []
        for (let from: number | undefined; ; from = seen.at(-1)) {
          const page = await storage.trades.ofMint(mint, {
            order,
            limit,
            ...(from === undefined ? {} : { from })
          })
          if (page.length === 0) break
          t.ok(page.length <= limit)
          seen.push(...page.map((row) => row.cursor))
        }
        t.strictSame(seen, order === 'asc' ? all : all.toReversed(), `${order} by ${limit}`)
      }
  })

  t.test('a list of hundreds of pages is read whole, and from anywhere in it', async (t) => {
    const { storage } = await open(t)
    const wallet = sampleWallet(0)
    for (let index = 0; index < 24; index++) {
      const block = blockOfTrades(index, mint, 100)
      const trades = block.trades.map((row) => ({ ...row, user: wallet, cashSide: 'in' as const }))
      await storage.blocks.commit({ ...block, trades })
    }
    const all = (await storage.trades.ofMint(mint, ALL)).map((row) => row.cursor).reverse()
    t.equal(all.length, 2400)
    const lists = [
      (page: PageRequest) => storage.trades.ofMint(mint, page),
      (page: PageRequest) => storage.trades.ofWallet(wallet, page)
    ]
    for (const read of lists) {
      const newest = async (from: number | undefined, limit: number): Promise<number[]> => {
        const rows = await read({ order: 'desc', limit, ...(from === undefined ? {} : { from }) })
        return rows.map((row) => row.cursor)
      }
      t.strictSame(await newest(undefined, 5000), all)
      for (const rank of [0, 1, 31, 32, 33, 700, 1500, 2301])
        t.strictSame(await newest(all[rank], 100), all.slice(rank + 1, rank + 101), `below ${rank}`)
    }
  })

  t.test('from is left out and until is included, both ways, and neither need name a row', async (t) => {
    const { storage } = await open(t)
    for (let index = 0; index < 10; index++) await storage.blocks.commit(blockOfTrades(index, mint, 10))
    const all = (await storage.trades.ofMint(mint, ALL)).map((row) => row.cursor)
    const cursors = async (page: PageRequest): Promise<number[]> =>
      (await storage.trades.ofMint(mint, page)).map((row) => row.cursor)
    const [low, high] = [all[20]!, all[70]!]
    t.strictSame(await cursors({ ...ALL, from: low, until: high }), all.slice(21, 71))
    t.strictSame(
      await cursors({ ...ALL, order: 'desc', from: high, until: low }),
      all.slice(20, 70).reverse()
    )
    t.strictSame(await cursors({ ...ALL, from: low - 1, until: high + 1 }), all.slice(20, 71))
    t.strictSame(
      await cursors({ ...ALL, order: 'desc', from: high + 1, until: low - 1 }),
      all.slice(20, 71).reverse()
    )
    t.strictSame(await cursors({ ...ALL, from: high, until: low }), [])
    t.strictSame(await cursors({ ...ALL, from: Number.MAX_SAFE_INTEGER }), [])
    t.strictSame(await cursors({ ...ALL, order: 'desc', from: 0 }), [])
    t.strictSame(await cursors({ ...ALL, limit: 0 }), [])
  })

  t.test('an unknown mint or pool has no rows', async (t) => {
    const { storage } = await open(t)
    await storage.blocks.commit(blockOfTrades(0, mint, 3))
    t.strictSame(await storage.trades.ofMint(sampleMint(99), ALL), [])
    t.strictSame(await storage.poolEvents.ofPool(samplePool(99), ALL), [])
  })

  t.test('a wallet has the trades of its user, and of a swap the row of the mint paid in', async (t) => {
    const { storage } = await open(t)
    const blocks = Array.from({ length: 30 }, (_, index) => sampleBlock(4, index))
    for (const block of blocks) await storage.blocks.commit(block)
    const all = blocks.flatMap((block) => block.trades)
    const isSecond = (row: TradeRow): boolean => row.cashSide === null && !samePubkey(row.mint, row.inMint)
    t.ok(all.filter(isSecond).length > 10)
    for (let n = 0; n < SAMPLE_WALLETS; n++) {
      const rows = all.filter((row) => samePubkey(row.user, sampleWallet(n)) && !isSecond(row))
      assert.deepStrictEqual(await storage.trades.ofWallet(sampleWallet(n), ALL), rows)
      const newest = await storage.trades.ofWallet(sampleWallet(n), { order: 'desc', limit: 2 })
      assert.deepStrictEqual(newest, rows.toReversed().slice(0, 2))
    }
    t.strictSame(await storage.trades.ofWallet(sampleWallet(10_000), ALL), [])
  })

  t.test('a swap of two mints is in the list of each, and once in that of its trader', async (t) => {
    const { storage } = await open(t)
    const block = blockOfTrades(0, mint, 2)
    const [first, second] = block.trades
    const paidIn = { ...first!, mint, inMint: mint, outMint: other, cashSide: null }
    const paidOut = { ...paidIn, mint: other, cursor: paidIn.cursor + 1 }
    const later = { ...second!, user: paidIn.user, cashSide: 'in' as const }
    await storage.blocks.commit({ ...block, trades: [paidIn, paidOut, later] })
    assert.deepStrictEqual(await storage.trades.ofMint(mint, ALL), [paidIn, later])
    assert.deepStrictEqual(await storage.trades.ofMint(other, ALL), [paidOut])
    assert.deepStrictEqual(await storage.trades.ofWallet(paidIn.user, ALL), [paidIn, later])
  })
}

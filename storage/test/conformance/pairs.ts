import assert from 'node:assert/strict'
import type { Test } from 'tap'
import { sampleCash, sampleMint } from '../sample-addresses.ts'
import { emptyBlock, sampleBlock } from '../sample-blocks.ts'
import type { OpenForTest } from '../under-test.ts'

const MINUTE = 1_760_000_040
const [mint, other] = [sampleMint(0), sampleMint(1)]
const [cash, otherCash] = [sampleCash(0), sampleCash(1)]

export async function testPairs(t: Test, open: OpenForTest): Promise<void> {
  t.test('a pair is the last one written; a mint lists all of its pairs', async (t) => {
    const { storage } = await open(t)
    const pair = sampleBlock(5, 3).pairs[0]!
    const [first, last] = [
      { ...pair, mint, cash, decimals: 1 },
      { ...pair, mint, cash, decimals: 2 }
    ]
    const beside = { ...pair, mint, cash: otherCash }
    await storage.blocks.commit({ ...emptyBlock(0), pairs: [first, beside] })
    await storage.blocks.commit({ ...emptyBlock(1), pairs: [last, { ...pair, mint: other, cash }] })
    assert.deepStrictEqual(await storage.pairs.get({ mint, cash }), last)
    t.equal(await storage.pairs.get({ mint: other, cash: otherCash }), null)
    t.equal((await storage.pairs.ofMint(mint)).length, 2)
    t.strictSame(await storage.pairs.ofMint(sampleMint(9)), [])
    const [ofOther, ofNone, ofMint] = await storage.pairs.ofMints([other, sampleMint(9), mint])
    assert.deepStrictEqual(ofOther, await storage.pairs.ofMint(other))
    t.strictSame(ofNone, [])
    assert.deepStrictEqual(ofMint, await storage.pairs.ofMint(mint))
  })

  t.test('the SOL price is the newest at or before a minute', async (t) => {
    const { storage } = await open(t)
    t.equal(await storage.solPrices.atOrBefore(MINUTE), null)
    const price = (minute: number, usd: number) => ({ minute, usd, sourceMinute: null })
    await storage.blocks.commit({ ...emptyBlock(0), solPrices: [price(MINUTE, 150)] })
    await storage.blocks.commit({ ...emptyBlock(1), solPrices: [price(MINUTE + 600, 160)] })
    t.equal(await storage.solPrices.atOrBefore(MINUTE - 60), null)
    t.strictSame(await storage.solPrices.atOrBefore(MINUTE), price(MINUTE, 150))
    t.strictSame(await storage.solPrices.atOrBefore(MINUTE + 540), price(MINUTE, 150))
    t.strictSame(await storage.solPrices.atOrBefore(MINUTE + 6_000), price(MINUTE + 600, 160))
  })
}

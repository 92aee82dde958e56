import assert from 'node:assert/strict'
import type { Test } from 'tap'
import type { Pubkey } from '../../../src/chain/pubkey.ts'
import type { Interval } from '../../../src/market/rows.ts'
import { Choices } from '../choices.ts'
import { sampleCash, sampleMint } from '../sample-addresses.ts'
import { emptyBlock } from '../sample-blocks.ts'
import { sampleCandle } from '../sample-pairs.ts'
import type { OpenForTest } from '../under-test.ts'

const MINUTE = 1_760_000_040
const [mint, other] = [sampleMint(0), sampleMint(1)]
const [cash, otherCash] = [sampleCash(0), sampleCash(1)]

export async function testCandles(t: Test, open: OpenForTest): Promise<void> {
  const choices = new Choices(9)
  const minutes = Array.from({ length: 200 }, (_, i) =>
    sampleCandle(choices, MINUTE + 60 * (i < 150 ? i : 3 * i))
  )

  t.test('a range gives the newest of its buckets, oldest first, and only of its series', async (t) => {
    const { storage } = await open(t)
    for (const [index, candle] of minutes.entries())
      await storage.blocks.commit({
        ...emptyBlock(index),
        candles: [
          { mint, cash, interval: '1m', candle },
          { mint, cash: otherCash, interval: '1m', candle: { ...candle, trades: 77 } },
          { mint, cash, interval: '1w', candle: { ...candle, ts: 1_759_708_800 } }
        ]
      })
    const range = (from: number, to: number, limit: number) =>
      storage.candles.range(mint, cash, '1m', { from, to, limit })
    const end = minutes.at(-1)!.ts
    assert.deepStrictEqual(await range(0, end + 1, 1_000), minutes)
    assert.deepStrictEqual(await range(0, end, 1_000), minutes.slice(0, -1))
    assert.deepStrictEqual(await range(0, end + 1, 70), minutes.slice(-70))
    assert.deepStrictEqual(await range(minutes[40]!.ts, minutes[120]!.ts, 1_000), minutes.slice(40, 120))
    assert.deepStrictEqual(await range(minutes[40]!.ts, minutes[120]!.ts, 5), minutes.slice(115, 120))
    t.strictSame(await range(end + 1, end + 600, 10), [])
    t.strictSame(await range(end, 0, 10), [])
    t.strictSame(await range(0, end, 0), [])
    t.equal((await storage.candles.range(mint, cash, '1w', { from: 0, to: end, limit: 10 })).length, 1)
  })

  t.test(
    'a bucket is found by its time, the newest and older ones, and the last write of it counts',
    async (t) => {
      const { storage } = await open(t)
      const [first, second] = [sampleCandle(choices, MINUTE), sampleCandle(choices, MINUTE + 60)]
      const late = sampleCandle(choices, MINUTE)
      const earliest = sampleCandle(choices, MINUTE - 60 * 500)
      for (const [index, candle] of [first, second, late, earliest].entries())
        await storage.blocks.commit({
          ...emptyBlock(index),
          candles: [{ mint, cash, interval: '1m', candle }]
        })
      const at = async (mint: Pubkey, interval: Interval, ts: number) =>
        (await storage.candles.get({ mint, cash, interval, ts }))?.candle ?? null
      assert.deepStrictEqual(await at(mint, '1m', MINUTE), late)
      assert.deepStrictEqual(await at(mint, '1m', MINUTE + 60), second)
      assert.deepStrictEqual(await at(mint, '1m', earliest.ts), earliest)
      t.equal(await at(mint, '1m', MINUTE + 120), null)
      t.equal(await at(mint, '1m', MINUTE - 60), null)
      t.equal(await at(mint, '5m', MINUTE), null)
      t.equal(await at(other, '1m', MINUTE), null)
    }
  )

  t.test('a range asked for while buckets pass has all of them or those before the block', async (t) => {
    const under = await open(t)
    let { storage } = under
    // Every bucket has a page of its own.
    const hours = Array.from({ length: 30 }, (_, i) => sampleCandle(choices, 1_760_000_400 + i * 64 * 3_600))
    const all = () => storage.candles.range(mint, cash, '1h', { from: 0, to: 4e9, limit: 1_000 })
    for (const [index, candle] of hours.entries()) {
      // Every other time this reader is the first to list the existing pages.
      if (index % 2 === 0) storage = await under.reopen()
      const commit = storage.blocks.commit({
        ...emptyBlock(index),
        candles: [{ mint, cash, interval: '1h', candle }]
      })
      for (let asked = 0; asked < 5; asked++) {
        const seen = await all()
        assert.ok(seen.length === index || seen.length === index + 1)
        assert.deepStrictEqual(seen, hours.slice(0, seen.length))
      }
      await commit
      assert.deepStrictEqual(await all(), hours.slice(0, index + 1))
    }
    t.pass()
  })
}

import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Test } from 'tap'
import { unchanged } from '../../../src/market/amendment.ts'
import { bucketStart, intervalSeconds } from '../../../src/market/buckets.ts'
import { INTERVALS, type Candle, type Interval } from '../../../src/market/rows.ts'
import type { CandleUpsert, Storage } from '../../port.ts'
import { Choices } from '../choices.ts'
import { sampleCash, sampleMint } from '../sample-addresses.ts'
import { emptyBlock } from '../sample-blocks.ts'
import { sampleCandle } from '../sample-pairs.ts'
import type { OpenForTest } from '../under-test.ts'
import { randomRuns } from '../../../test/random-runs.ts'

const [mint, cash] = [sampleMint(0), sampleCash(0)]
const START = 1_760_000_400

/** Returns the candles of a trade at a time, in all intervals. */
export const upsertsAt = (ts: number, salt: number): CandleUpsert[] =>
  INTERVALS.map((interval, i) => {
    const candle = sampleCandle(new Choices(salt * INTERVALS.length + i), bucketStart(interval, ts))
    return { mint, cash, interval, candle }
  })

/** A step on the series: candles put by a block, or put and removed by an amendment. */
interface Step {
  readonly isAmendment: boolean
  readonly put: readonly number[]
  /** Which of the existing candles to remove, as a share of them from 0 to 1. */
  readonly remove: readonly number[]
}

const times = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 3 })
const steps = fc.array(
  fc.record({
    isAmendment: fc.boolean(),
    put: times,
    remove: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { maxLength: 3 })
  }),
  { maxLength: 12 }
)

/** The expected candles, by interval and time. */
type Model = Map<Interval, Map<number, Candle>>

async function take(storage: Storage, model: Model, step: Step, index: number): Promise<void> {
  const put = new Map<string, CandleUpsert>()
  for (const [n, buckets] of step.put.entries())
    for (const upsert of upsertsAt(START + buckets * 600, index * 10 + n))
      put.set(`${upsert.interval} ${upsert.candle.ts}`, upsert)
  const candles = [...put.values()]
  if (!step.isAmendment) await storage.blocks.commit({ ...emptyBlock(index), candles })
  else {
    const all = [...model].flatMap(([interval, series]) => [...series.keys()].map((ts) => ({ interval, ts })))
    const chosen = new Set(step.remove.map((share) => all[Math.floor(share * all.length)]))
    const remove = [...chosen].filter((at) => at !== undefined && !put.has(`${at.interval} ${at.ts}`))
    for (const at of remove) model.get(at!.interval)!.delete(at!.ts)
    const head = await storage.blocks.head()
    const totals = await storage.totals.get()
    const edit = { put: candles, remove: remove.map((at) => ({ mint, cash, ...at! })) }
    await storage.history.amend({ ...unchanged(head, { totals }), candles: edit }, { put: [], remove: [] })
  }
  for (const { interval, candle } of candles) model.get(interval)!.set(candle.ts, candle)
}

async function assertSeries(storage: Storage, model: Model, from: number, limit: number): Promise<void> {
  for (const [interval, series] of model) {
    const start = START + from * intervalSeconds(interval)
    const expected = [...series.values()].filter(({ ts }) => ts >= start).sort((a, b) => a.ts - b.ts)
    const range = { from: start, to: 4e9, limit }
    assert.deepStrictEqual(await storage.candles.range(mint, cash, interval, range), expected.slice(-limit))
  }
}

export async function testCandleEdits(t: Test, open: OpenForTest): Promise<void> {
  t.test('candles put and removed in any order are those of a map', async (t) => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.integer({ min: -10, max: 300 }),
        fc.integer({ min: 1, max: 40 }),
        async (steps, from, limit) => {
          const under = await open(t)
          const model: Model = new Map(INTERVALS.map((interval) => [interval, new Map()]))
          for (const [index, step] of steps.entries()) {
            await take(under.storage, model, step, index)
            await assertSeries(under.storage, model, from, limit)
          }
          const again = await under.reopen()
          await assertSeries(again, model, from, limit)
          await assertSeries(again, model, -1_000_000, 1_000)
          await again.close()
        }
      ),
      randomRuns(25)
    )
  })
}

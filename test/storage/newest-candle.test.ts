import fc from 'fast-check'
import t from 'tap'
import type { Candle } from '../../src/market/rows.ts'
import { newestCandle, type CandlePages } from '../../storage/newest-candle.ts'
import { Choices } from '../../storage/test/choices.ts'
import { sampleCandle } from '../../storage/test/sample-pairs.ts'
import { randomRuns } from '../random-runs.ts'

/** Candles of a page; few pages, so that edits meet in one. */
const PAGE = 4
const times = fc.uniqueArray(fc.nat(6 * PAGE), { maxLength: 8 })

const pageOf = (ts: number): number => Math.floor(ts / PAGE)

function pagesOf(candles: Iterable<Candle>): CandlePages {
  const pages: CandlePages = new Map()
  for (const candle of candles) {
    const page = pages.get(pageOf(candle.ts)) ?? new Map<number, Candle>()
    pages.set(pageOf(candle.ts), page.set(candle.ts, candle))
  }
  return pages
}

t.test('the newest candle that an amendment leaves is found, in whatever page it is', async () => {
  await fc.assert(
    fc.asyncProperty(times, times, times, async (before, put, removed) => {
      const candleAt = (ts: number): Candle => sampleCandle(new Choices(ts), ts)
      const stored = pagesOf(before.map(candleAt))
      const changed: CandlePages = new Map()
      const load = (page: number): Map<number, Candle> => {
        const candles = changed.get(page) ?? new Map(stored.get(page))
        changed.set(page, candles)
        return candles
      }
      for (const ts of put) load(pageOf(ts)).set(ts, candleAt(ts))
      for (const ts of removed) load(pageOf(ts)).delete(ts)
      if (changed.size === 0) return true
      // An amendment reads the page of the newest candle too.
      load(Math.max(...stored.keys(), ...changed.keys()))
      const left = [...before, ...put].filter((ts) => !removed.includes(ts))
      const newest = await newestCandle(changed, {
        before: async (page) => {
          const earlier = [...stored.keys()].filter((each) => each < page)
          return earlier.length === 0 ? null : Math.max(...earlier)
        },
        load: (page) => void load(page)
      })
      return newest?.ts === (left.length === 0 ? undefined : Math.max(...left))
    }),
    randomRuns(500)
  )
})

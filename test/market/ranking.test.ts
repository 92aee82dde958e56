import fc from 'fast-check'
import t from 'tap'
import { pubkeyMapKey } from '../../src/chain/pubkey.ts'
import {
  RANKED_WINDOWS,
  RANKING_KEEPS,
  RANKS_MAX,
  Ranking,
  type RankedWindow
} from '../../src/market/ranking.ts'
import { randomRuns } from '../random-runs.ts'
import {
  answered,
  anySalesBlocks,
  commitOf,
  hourStart,
  minuteStart,
  MINTS,
  recomputed,
  hourlyMintVolumeOf,
  type Sale
} from './sales.ts'
import { key, NOON } from './world.ts'

const WINDOWS = Object.keys(RANKED_WINDOWS) as RankedWindow[]

t.test('after every block each window equals a recomputation from rows', async (t) => {
  fc.assert(
    fc.property(anySalesBlocks, (blocks) => {
      const ranking = new Ranking()
      const sales: Sale[] = []
      for (const [slot, block] of blocks.entries()) {
        sales.push(...block.sales)
        ranking.apply(commitOf(slot, sales, block))
        for (const window of WINDOWS) {
          t.strictSame(answered(ranking, window), recomputed(sales, block.time, window))
        }
      }
    }),
    randomRuns(300, 6)
  )
})

t.test('what a store gives while blocks are committed, in any order, restores the same', async (t) => {
  const anyRestart = fc.record({ blocks: anySalesBlocks, at: fc.nat(), order: fc.infiniteStream(fc.nat()) })
  const next = (order: Iterator<number>, below: number): number => Number(order.next().value) % below
  fc.assert(
    fc.property(anyRestart, ({ blocks, at, order }) => {
      const start = at % blocks.length
      const ranking = new Ranking()
      const sales = blocks.slice(0, start + 1).flatMap((block) => block.sales)
      ranking.advance(blocks[start]!.time)
      const ahead = blocks.slice(start + 1)
      const commit = (): void => {
        const block = ahead.shift()!
        sales.push(...block.sales)
        ranking.apply(commitOf(0, sales, block))
      }
      const hours = new Set(blocks.map(({ time }) => hourStart(time)))
      const toRead = [...hours].flatMap((hour) => MINTS.map((mint) => ({ hour, mint })))
      while (toRead.length > 0) {
        const chance = next(order, 4)
        if (chance === 0 && ahead.length > 0) {
          commit()
          continue
        }
        // A read may see a block that was not published yet.
        const seen = chance === 1 && ahead.length > 0 ? [...sales, ...ahead[0]!.sales] : sales
        const [{ mint, hour }] = toRead.splice(next(order, toRead.length), 1) as [(typeof toRead)[0]]
        ranking.take(mint, hourlyMintVolumeOf(seen, mint, hour))
      }
      while (ahead.length > 0) commit()
      const { time } = blocks.at(-1)!
      for (const window of WINDOWS) {
        t.strictSame(answered(ranking, window), recomputed(sales, time, window))
      }
    }),
    randomRuns(300, 6)
  )
})

t.test('a list has as many as are asked for, best first, and never more than a hundred', async (t) => {
  const ranking = new Ranking()
  ranking.advance(NOON)
  const volume = (n: number): bigint => BigInt((n * 7_919) % 1_000)
  for (let n = 0; n < 1_000; n++)
    ranking.take(key(n), [{ minute: NOON, trades: 1, volumeMicroUsd: volume(n) }])
  t.strictSame(
    ranking.top('1h', RANKS_MAX).map(({ microUsd }) => microUsd),
    Array.from({ length: RANKS_MAX }, (_, rank) => BigInt(999 - rank))
  )
  t.equal(ranking.top('4h', 3).length, 3)
  t.equal(ranking.top('4h', 1_000).length, RANKS_MAX)
  t.equal(ranking.activeMints('24h'), 1_000)
})

t.test(
  'equal volumes are ranked by trades, then by the bytes of the mint; no volume comes last',
  async (t) => {
    const ranking = new Ranking()
    ranking.advance(NOON)
    ranking.take(key(4), [{ minute: NOON, trades: 9, volumeMicroUsd: 0n }])
    ranking.take(key(3), [{ minute: NOON, trades: 1, volumeMicroUsd: 5n }])
    ranking.take(key(2), [{ minute: NOON, trades: 1, volumeMicroUsd: 5n }])
    ranking.take(key(1), [{ minute: NOON, trades: 2, volumeMicroUsd: 5n }])
    t.strictSame(
      ranking.top('1h', 9).map(({ mint }) => mint),
      [key(1), key(2), key(3), key(4)]
    )
  }
)

t.test('a mint that is no longer traded leaves nothing, and its number is reused', async (t) => {
  const ranking = new Ranking()
  for (let day = 0; day < 50; day++) {
    const time = NOON + day * RANKING_KEEPS
    ranking.advance(time)
    for (let n = 0; n < 100; n++)
      ranking.take(key(day * 100 + n), [{ minute: minuteStart(time), trades: 1, volumeMicroUsd: 1n }])
    t.match(ranking.size, { mints: 100, pairs: 100, dropped: 0 })
  }
  t.ok(ranking.size.bytes < 100_000, `${ranking.size.bytes} bytes`)
})

// INVARIANTS 10
t.test('past the limit the oldest minutes are dropped and counted, and never taken again', async (t) => {
  const ranking = new Ranking({ pairsMax: 10 })
  for (let minute = 0; minute < 5; minute++) {
    const time = NOON + minute * 60
    ranking.advance(time)
    for (let n = 0; n < 3; n++) ranking.take(key(n), [{ minute: time, trades: 1, volumeMicroUsd: 10n }])
  }
  t.match(ranking.size, { pairs: 9, mints: 3, dropped: 2 })
  t.match(ranking.top('1h', 1), [{ trades: 3, microUsd: 30n }])
  ranking.take(key(0), [{ minute: NOON, trades: 5, volumeMicroUsd: 50n }])
  t.match(ranking.size, { pairs: 9, dropped: 2 })
  t.match(ranking.top('1h', 1), [{ trades: 3, microUsd: 30n }])
  const few = new Ranking({ mintsMax: 2 })
  few.advance(NOON + 60)
  few.take(key(1), [{ minute: NOON, trades: 1, volumeMicroUsd: 1n }])
  for (const n of [2, 3]) few.take(key(n), [{ minute: NOON + 60, trades: 1, volumeMicroUsd: 1n }])
  t.match(few.size, { mints: 2, dropped: 1 })
  for (const n of [4, 5]) few.take(key(n), [{ minute: NOON + 60, trades: 1, volumeMicroUsd: 1n }])
  t.match(few.size, { mints: 4, dropped: 1 }, 'the newest minute stays whole')
})

t.test('mints by volume are all that have one, the largest first, and each has its own sums', async (t) => {
  fc.assert(
    fc.property(anySalesBlocks, (blocks) => {
      const ranking = new Ranking()
      const sales: Sale[] = []
      for (const [slot, block] of blocks.entries()) {
        sales.push(...block.sales)
        ranking.apply(commitOf(slot, sales, block))
      }
      for (const window of WINDOWS) {
        const valued = ranking.top(window, RANKS_MAX).filter(({ microUsd }) => microUsd > 0n)
        const byVolume = [...ranking.byVolume(window)].filter((each) => each !== null)
        t.strictSame(
          byVolume.map(({ microUsd }) => microUsd),
          valued.map(({ microUsd }) => microUsd)
        )
        t.ok(byVolume.every(({ mapKey, microUsd }) => ranking.volume(window, mapKey)?.microUsd === microUsd))
        t.strictSame(
          byVolume.map(({ mapKey }) => mapKey).sort(),
          valued.map(({ mint }) => pubkeyMapKey(mint)).sort()
        )
      }
      t.equal(ranking.volume('24h', pubkeyMapKey(key(77_777))), undefined)
    }),
    randomRuns(100, 6)
  )
})

import fc from 'fast-check'
import t from 'tap'
import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import {
  RANKED_WINDOWS,
  RANKING_KEEPS,
  RANKS_MAX,
  Ranking,
  type RankedWindow
} from '../../src/market/ranking.ts'
import { key, NOON } from './world.ts'

/** A row as far as a ranking knows it: one trade. */
interface Sale {
  readonly mint: Pubkey
  readonly time: number
  readonly microUsd: bigint
}

const WINDOWS = Object.keys(RANKED_WINDOWS) as RankedWindow[]
const minuteStart = (time: number): number => Math.floor(time / 60) * 60

/** What a ranking answers, from rows alone. */
function recomputed(sales: readonly Sale[], headTime: number, window: RankedWindow) {
  const end = minuteStart(headTime) + 60
  const byMint = new Map<string, { mint: Pubkey; trades: number; microUsd: bigint }>()
  for (const { mint, time, microUsd } of sales) {
    if (time < end - RANKED_WINDOWS[window] || time >= end) continue
    const sum = byMint.get(pubkeyMapKey(mint)) ?? { mint, trades: 0, microUsd: 0n }
    byMint.set(pubkeyMapKey(mint), { mint, trades: sum.trades + 1, microUsd: sum.microUsd + microUsd })
  }
  const ranked = [...byMint.values()].sort(
    (a, b) =>
      Number(b.microUsd - a.microUsd) ||
      b.trades - a.trades ||
      Buffer.compare(Buffer.from(a.mint), Buffer.from(b.mint))
  )
  return { active: ranked.length, top: ranked.slice(0, RANKS_MAX) }
}

function answered(ranking: Ranking, window: RankedWindow) {
  return { active: ranking.activeMints(window), top: ranking.top(window, RANKS_MAX) }
}

/** What a store holds of a mint's minute: the sums over all its rows. */
function stored(sales: readonly Sale[], mint: Pubkey, minute: number) {
  const own = sales.filter((sale) => minuteStart(sale.time) === minute && sale.mint === mint)
  return { trades: own.length, microUsd: own.reduce((sum, { microUsd }) => sum + microUsd, 0n) }
}

function commit(ranking: Ranking, sales: readonly Sale[], block: Block): void {
  ranking.advance(block.time)
  const minute = minuteStart(block.time)
  for (const { mint } of block.sales) ranking.take(mint, minute, stored(sales, mint, minute))
}

interface Block {
  readonly time: number
  readonly sales: readonly Sale[]
}

const MINTS = Array.from({ length: 6 }, (_, n) => key(n + 1))
const anySale = fc.record({
  mint: fc.constantFrom(...MINTS),
  microUsd: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 3n }), fc.bigInt({ min: 0n, max: 2n ** 58n }))
})
const anyStep = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 90 }), weight: 6 },
  { arbitrary: fc.integer({ min: 91, max: 9_000 }), weight: 4 },
  { arbitrary: fc.constantFrom(3_600, 14_400, 86_400, 90_000), weight: 1 },
  { arbitrary: fc.integer({ min: 9_001, max: 40_000_000 }), weight: 1 },
  { arbitrary: fc.integer({ min: -3_000, max: -1 }), weight: 2 }
)

/** Blocks whose times stand, jump ahead, and fall by an hour at most. */
const anyBlocks = fc
  .array(fc.record({ seconds: anyStep, sales: fc.array(anySale, { maxLength: 6 }) }), {
    minLength: 1,
    maxLength: 40
  })
  .map((steps) => {
    let time = NOON
    let newest = NOON
    return steps.map(({ seconds, sales }): Block => {
      time = Math.max(time + seconds, minuteStart(newest) - 3_600)
      newest = Math.max(newest, time)
      return { time, sales: sales.map((sale) => ({ ...sale, time })) }
    })
  })

t.test('after every block each window equals a recomputation from rows', async (t) => {
  fc.assert(
    fc.property(anyBlocks, (blocks) => {
      const ranking = new Ranking()
      const sales: Sale[] = []
      for (const block of blocks) {
        sales.push(...block.sales)
        commit(ranking, sales, block)
        for (const window of WINDOWS) {
          t.strictSame(answered(ranking, window), recomputed(sales, block.time, window))
        }
      }
    }),
    { numRuns: 300, seed: 6 }
  )
})

t.test('what a store gives while blocks are committed, in any order, restores the same', async (t) => {
  const anyRestart = fc.record({ blocks: anyBlocks, at: fc.nat(), order: fc.infiniteStream(fc.nat()) })
  fc.assert(
    fc.property(anyRestart, ({ blocks, at, order }) => {
      const start = at % blocks.length
      const ranking = new Ranking()
      const sales = blocks.slice(0, start + 1).flatMap((block) => block.sales)
      ranking.advance(blocks[start]!.time)
      const ahead = blocks.slice(start + 1)
      const minutes = new Set(blocks.flatMap((block) => block.sales.map(({ time }) => minuteStart(time))))
      const toRead = [...minutes].flatMap((minute) => MINTS.map((mint) => ({ mint, minute })))
      // A read gives what is stored at its moment: with the next block it may see one that was not told yet.
      while (toRead.length > 0) {
        const chance = order.next().value % 4
        if (chance === 0 && ahead.length > 0) {
          const block = ahead.shift()!
          sales.push(...block.sales)
          commit(ranking, sales, block)
        } else {
          const seen = chance === 1 && ahead.length > 0 ? [...sales, ...ahead[0]!.sales] : sales
          const [{ mint, minute }] = toRead.splice(order.next().value % toRead.length, 1) as [
            (typeof toRead)[0]
          ]
          ranking.take(mint, minute, stored(seen, mint, minute))
        }
      }
      for (const block of ahead) {
        sales.push(...block.sales)
        commit(ranking, sales, block)
      }
      const { time } = blocks.at(-1)!
      for (const window of WINDOWS) {
        t.strictSame(answered(ranking, window), recomputed(sales, time, window))
      }
    }),
    { numRuns: 300, seed: 6 }
  )
})

t.test('a list has as many as are asked for, best first, and never more than a hundred', async (t) => {
  const ranking = new Ranking()
  ranking.advance(NOON)
  const volume = (n: number): bigint => BigInt((n * 7_919) % 1_000)
  for (let n = 0; n < 1_000; n++) ranking.take(key(n), NOON, { trades: 1, microUsd: volume(n) })
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
    ranking.take(key(4), NOON, { trades: 9, microUsd: 0n })
    ranking.take(key(3), NOON, { trades: 1, microUsd: 5n })
    ranking.take(key(2), NOON, { trades: 1, microUsd: 5n })
    ranking.take(key(1), NOON, { trades: 2, microUsd: 5n })
    t.strictSame(
      ranking.top('1h', 9).map(({ mint }) => mint),
      [key(1), key(2), key(3), key(4)]
    )
  }
)

t.test('nothing is left of mints that traded no more, and their numbers serve others', async (t) => {
  const ranking = new Ranking()
  for (let day = 0; day < 50; day++) {
    const time = NOON + day * RANKING_KEEPS
    ranking.advance(time)
    for (let n = 0; n < 100; n++)
      ranking.take(key(day * 100 + n), minuteStart(time), { trades: 1, microUsd: 1n })
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
    for (let n = 0; n < 3; n++) ranking.take(key(n), time, { trades: 1, microUsd: 10n })
  }
  t.match(ranking.size, { pairs: 9, mints: 3, dropped: 2 })
  t.match(ranking.top('1h', 1), [{ trades: 3, microUsd: 30n }])
  ranking.take(key(0), NOON, { trades: 5, microUsd: 50n })
  t.match(ranking.size, { pairs: 9, dropped: 2 })
  t.match(ranking.top('1h', 1), [{ trades: 3, microUsd: 30n }])
  const few = new Ranking({ mintsMax: 2 })
  few.advance(NOON + 60)
  few.take(key(1), NOON, { trades: 1, microUsd: 1n })
  for (const n of [2, 3]) few.take(key(n), NOON + 60, { trades: 1, microUsd: 1n })
  t.match(few.size, { mints: 2, dropped: 1 })
  for (const n of [4, 5]) few.take(key(n), NOON + 60, { trades: 1, microUsd: 1n })
  t.match(few.size, { mints: 4, dropped: 1 }, 'the newest minute stays whole')
})

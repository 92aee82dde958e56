import fc from 'fast-check'
import { pino } from 'pino'
import t from 'tap'
import { ranking } from '../../../actors/data/ranking.ts'
import { supervise } from '../../../actors/supervision/supervisor.ts'
import { child, supervisor } from '../../../actors/supervision/unit.ts'
import { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import { ServiceError } from '../../../src/kernel/errors.ts'
import { RankingHandle } from '../../../src/data/ranking-handle.ts'
import { RANKED_WINDOWS, type RankedWindow } from '../../../src/market/ranking.ts'
import type { BlockCommit } from '../../../src/market/records.ts'
import type { ActivityStore, Storage } from '../../../storage/port.ts'
import {
  answered,
  anySalesBlocks,
  commitOf,
  MINTS,
  recomputed,
  hourlyMintVolumeOf,
  type Sale,
  type SalesBlock
} from '../../market/sales.ts'
import { key, NOON } from '../../market/world.ts'
import { advance, virtualClock } from '../../virtual-time.ts'
import { aborted, nodeAt } from '../supervision/recorder.ts'
import { randomRuns } from '../../random-runs.ts'

const WINDOWS = Object.keys(RANKED_WINDOWS) as RankedWindow[]
const logger = pino({ level: 'silent' })

/**
 * A store of sales with the reads that a ranking needs. Each call reads the store at the moment when `reads` releases
 * it.
 */
function storeOf(
  sales: readonly Sale[],
  mints = MINTS,
  reads: () => Promise<void> = async () => undefined
): Storage {
  const activity: Pick<ActivityStore, 'mintsOfHour'> = {
    async mintsOfHour(hour, { after, limit }) {
      await reads()
      const start = after === undefined ? 0 : mints.indexOf(after) + 1
      const found = mints
        .slice(start)
        .map((mint) => ({ mint, minutes: hourlyMintVolumeOf(sales, mint, hour) }))
        .filter(({ minutes }) => minutes.length > 0)
        .slice(0, limit)
      await reads()
      return found
    }
  }
  return { activity, isShared: false } as unknown as Storage
}

/** A supervised ranking on a store that is always available. */
function start(storage: Storage, feed: CommitFeed) {
  const clock = virtualClock()
  const live = new RankingHandle()
  const store = child<'storage', unknown, Storage>('storage', async ({ ready, draining }) => {
    ready(storage)
    await aborted(draining)
  })
  const views = supervisor('views', 'one_for_one', [child('ranking', ranking({ feed, live, logger, clock }))])
  const edge = child('edge', async ({ ready, draining }) => {
    ready()
    await aborted(draining)
  })
  const running = supervise(supervisor('service', 'rest_for_one', [store, views, edge]), {
    clock,
    random: () => 1
  })
  return { live, running, clock }
}

t.test('blocks that are committed while it reads are neither missed nor counted twice', async (t) => {
  const anyStart = fc.record({
    blocks: anySalesBlocks,
    at: fc.nat(),
    order: fc.infiniteStream(fc.nat({ max: 3 }))
  })
  await fc.assert(
    fc.asyncProperty(anyStart, async ({ blocks, at, order }) => {
      const told = (at % blocks.length) + 1
      const sales = blocks.slice(0, told).flatMap((block) => block.sales)
      const feed = new CommitFeed()
      feed.restore(commitOf(told, sales, blocks[told - 1]!).slot)
      const ahead = blocks.slice(told)
      let visible: BlockCommit | null = null
      let slot = told
      // A block is visible first and published then; a read may fall in between.
      const step = (): void => {
        if (visible === null) {
          const block = ahead.shift()
          if (block === undefined) return
          sales.push(...block.sales)
          visible = commitOf(++slot, sales, block)
        } else {
          feed.publish(visible)
          visible = null
        }
      }
      const reads = async (): Promise<void> => {
        for (let steps = Number(order.next().value); steps > 0; steps--) step()
      }
      const { live, running } = start(storeOf(sales, MINTS, reads), feed)
      const loaded = await live.loaded()
      while (ahead.length > 0 || visible !== null) step()
      const { time } = blocks.at(-1)!
      for (const window of WINDOWS) {
        t.strictSame(answered(loaded, window), recomputed(sales, time, window))
      }
      await running.drain()
    }),
    randomRuns(150, 6)
  )
})

t.test('on an empty store it is loaded at once and takes the first block', async (t) => {
  const feed = new CommitFeed()
  const { live, running } = start(storeOf([]), feed)
  const loaded = await live.loaded()
  t.same(loaded.top('24h', 9), [])
  const block: SalesBlock = { time: NOON, sales: [{ mint: MINTS[0]!, time: NOON, microUsd: 5n }] }
  feed.publish(commitOf(1, block.sales, block))
  t.same(loaded.top('24h', 9), [{ mint: MINTS[0]!, trades: 1, microUsd: 5n }])
  await running.drain()
})

t.test('an hour of more mints than are read at a time is read to its end', async (t) => {
  const mints = Array.from({ length: 600 }, (_, n) => key(n))
  const sales = mints.map((mint) => ({ mint, time: NOON - 3_600, microUsd: 1n }))
  const feed = new CommitFeed()
  feed.restore(commitOf(1, [], { time: NOON, sales: [] }).slot)
  const { live, running } = start(storeOf(sales, mints), feed)
  t.equal((await live.loaded()).activeMints('4h'), 600)
  t.match(nodeAt(running.tree(), 'views/ranking').gauges, {
    mints: 600,
    pairs: 600,
    loaded: 1,
    dropped_minutes: 0
  })
  await running.drain()
})

t.test('a crashed ranking is restarted alone and reads again, and requests wait meanwhile', async (t) => {
  const sales: Sale[] = [{ mint: MINTS[0]!, time: NOON, microUsd: 5n }]
  const feed = new CommitFeed()
  feed.restore(commitOf(1, [], { time: NOON, sales: [] }).slot)
  const { live, running, clock } = start(storeOf(sales), feed)
  const first = await live.loaded()
  running.kill('views/ranking', new Error('cosmic ray'))
  await advance(clock, 1)
  t.equal(live.current, null)
  const block: SalesBlock = { time: NOON + 60, sales: [{ mint: MINTS[0]!, time: NOON + 60, microUsd: 2n }] }
  sales.push(...block.sales)
  feed.publish(commitOf(2, sales, block))
  const second = live.loaded()
  await advance(clock, 100)
  t.not(await second, first)
  t.same(first.top('1h', 9), [{ mint: MINTS[0]!, trades: 1, microUsd: 5n }], 'the old one hears no more')
  t.same((await second).top('1h', 9), [{ mint: MINTS[0]!, trades: 2, microUsd: 7n }])
  t.match(nodeAt(running.tree(), 'views/ranking'), { restarts: 1, last_error: { message: 'cosmic ray' } })
  t.equal(nodeAt(running.tree(), 'edge').restarts, 0)
  await running.drain()
})

t.test('a read that fails, and a block that cannot be taken, crash it; the feed goes on', async (t) => {
  let broken = true
  const sales: Sale[] = [{ mint: MINTS[0]!, time: NOON, microUsd: 5n }]
  const storage = storeOf(sales, MINTS, async () => {
    if (broken) throw new Error('no answer')
  })
  const feed = new CommitFeed()
  feed.restore(commitOf(1, [], { time: NOON, sales: [] }).slot)
  const { live, running, clock } = start(storage, feed)
  await advance(clock, 1)
  t.match(nodeAt(running.tree(), 'views/ranking').last_error, { message: 'no answer' })
  broken = false
  await advance(clock, 200)
  await live.loaded()
  feed.publish({ ...commitOf(2, [], { time: NOON, sales: [] }), activity: [null as never] })
  await advance(clock, 1)
  t.equal(live.current, null)
  t.match(nodeAt(running.tree(), 'views/ranking').last_error, { message: /null/ })
  t.equal(feed.head?.slot, 2)
  await advance(clock, 400)
  t.equal((await live.loaded()).activeMints('1h'), 1)
  await running.drain()
})

t.test(
  'where the feed missed blocks it reads again without a restart, and hears of what follows once',
  async (t) => {
    const sales: Sale[] = [{ mint: MINTS[0]!, time: NOON, microUsd: 5n }]
    const feed = new CommitFeed()
    feed.restore(commitOf(1, [], { time: NOON, sales: [] }).slot)
    const { live, running, clock } = start(storeOf(sales), feed)
    const first = await live.loaded()
    sales.push({ mint: MINTS[1]!, time: NOON + 60, microUsd: 2n })
    feed.restore(commitOf(9, [], { time: NOON + 60, sales: [] }).slot)
    t.equal(first.activeMints('1h'), 1)
    await advance(clock, 1)
    const second = await live.loaded()
    t.not(second, first)
    t.equal(second.activeMints('1h'), 2)
    const block: SalesBlock = {
      time: NOON + 120,
      sales: [{ mint: MINTS[2]!, time: NOON + 120, microUsd: 1n }]
    }
    sales.push(...block.sales)
    feed.publish(commitOf(10, sales, block))
    t.equal(first.activeMints('1h'), 1, 'the old one hears no more')
    t.same(
      (await live.loaded()).top('1h', 9).map(({ mint, trades }) => [mint, trades]),
      [MINTS[0]!, MINTS[1]!, MINTS[2]!].map((mint) => [mint, 1])
    )
    t.match(nodeAt(running.tree(), 'views/ranking'), { restarts: 0, last_error: null })
    await running.drain()
  }
)

t.test('a jump while it reads starts the reading anew', async (t) => {
  const sales: Sale[] = [{ mint: MINTS[0]!, time: NOON, microUsd: 5n }]
  const feed = new CommitFeed()
  feed.restore(commitOf(1, [], { time: NOON, sales: [] }).slot)
  const gate = Promise.withResolvers<void>()
  const { live, running } = start(
    storeOf(sales, MINTS, () => gate.promise),
    feed
  )
  await advance(virtualClock(), 1)
  feed.restore(commitOf(9, [], { time: NOON + 86_400 * 2, sales: [] }).slot)
  gate.resolve()
  t.equal((await live.loaded()).activeMints('24h'), 0, 'as of the head that was jumped to')
  t.equal(nodeAt(running.tree(), 'views/ranking').restarts, 0)
  await running.drain()
})

t.test('while a cluster does not answer it waits and asks again, and is not restarted', async (t) => {
  let away = 40
  const sales: Sale[] = [{ mint: MINTS[0]!, time: NOON, microUsd: 5n }]
  const storage = storeOf(sales, MINTS, async () => {
    if (away-- > 0) throw new ServiceError('STORAGE_UNAVAILABLE', 'no quorum')
  })
  const feed = new CommitFeed()
  feed.restore(commitOf(1, [], { time: NOON, sales: [] }).slot)
  const { live, running, clock } = start({ ...storage, isShared: true }, feed)
  await advance(clock, 19_500)
  t.equal(live.current, null)
  await advance(clock, 500)
  t.equal((await live.loaded()).activeMints('1h'), 1)
  t.equal(away < 0, true)
  t.match(nodeAt(running.tree(), 'views/ranking'), { restarts: 0, last_error: null })
  await running.drain()
})

t.test('a drain ends it while a cluster does not answer', async (t) => {
  const storage = storeOf([], MINTS, () =>
    Promise.reject(new ServiceError('STORAGE_UNAVAILABLE', 'no quorum'))
  )
  const feed = new CommitFeed()
  feed.restore(commitOf(1, [], { time: NOON, sales: [] }).slot)
  const { running, clock } = start({ ...storage, isShared: true }, feed)
  await advance(clock, 700)
  t.same(await running.drain(), { kind: 'stopped' })
  t.equal(nodeAt(running.tree(), 'views/ranking').last_error, null)
})

t.test('a drain ends it while it reads', async (t) => {
  const feed = new CommitFeed()
  feed.restore(commitOf(1, [], { time: NOON, sales: [] }).slot)
  const gate = Promise.withResolvers<void>()
  const { live, running } = start(
    storeOf([], MINTS, () => gate.promise),
    feed
  )
  let shown = false
  void live.loaded().then(() => (shown = true))
  const drained = running.drain()
  gate.resolve()
  t.same(await drained, { kind: 'stopped' })
  t.notOk(shown)
})

import { pino } from 'pino'
import t from 'tap'
import { names } from '../../../actors/data/names.ts'
import { supervise } from '../../../actors/supervision/supervisor.ts'
import { child, supervisor } from '../../../actors/supervision/unit.ts'
import { pubkeyMapKey, type Pubkey } from '../../../src/chain/pubkey.ts'
import { CashList } from '../../../src/market/cash.ts'
import { Ranking } from '../../../src/market/ranking.ts'
import { noRows, type BlockCommit } from '../../../src/market/records.ts'
import type { LaunchRow } from '../../../src/market/rows.ts'
import { ERRORS, ServiceError } from '../../../src/kernel/errors.ts'
import { CommitFeed } from '../../../src/kernel/feed/commit-feed.ts'
import { NameIndex } from '../../../src/data/name-index.ts'
import type { Volumes } from '../../../src/data/name-search.ts'
import { RankingHandle } from '../../../src/data/ranking-handle.ts'
import type { Storage } from '../../../storage/port.ts'
import { commitOf } from '../../market/sales.ts'
import { key, NOON } from '../../market/world.ts'
import { settle, virtualClock } from '../../virtual-time.ts'
import { aborted, nodeAt } from '../supervision/recorder.ts'

const logger = pino({ level: 'silent' })
const NO_VOLUME: Volumes = { of: () => undefined, descending: () => [] }

const launched = (n: number, symbol = `SYM${n}x`): LaunchRow =>
  ({ mint: key(n), curve: key(n + 1_000), symbol, name: `Name ${n}`, cursor: n }) as unknown as LaunchRow

/** A store of launches that a test changes; `reads` runs before each answer. */
class Launches {
  rows: LaunchRow[] = []
  reads: () => Promise<void> = async () => undefined
  pages = 0
  damage: string[] = []

  get storage(): Storage {
    const launches = {
      page: async ({ from = Infinity, limit }: { from?: number; limit: number }) => {
        this.pages++
        await this.reads()
        return this.rows
          .filter(({ cursor }) => cursor < from)
          .sort((a, b) => b.cursor - a.cursor)
          .slice(0, limit)
      },
      get: async (mint: Pubkey) =>
        this.rows.find((row) => pubkeyMapKey(row.mint) === pubkeyMapKey(mint)) ?? null
    }
    return { launches, isShared: false, damage: this.damage } as unknown as Storage
  }
}

function start(
  launches: Launches,
  { bytesMax = 2 ** 24, ranking = new RankingHandle(), feed = new CommitFeed() } = {}
) {
  const clock = virtualClock()
  const index = new NameIndex({ bytesMax, cash: new CashList() })
  const store = child<'storage', unknown, Storage>('storage', async ({ ready, draining }) => {
    ready(launches.storage)
    await aborted(draining)
  })
  const view = child('names', names({ feed, names: index, ranking, logger, clock }))
  const running = supervise(
    supervisor('service', 'rest_for_one', [store, supervisor('views', 'one_for_one', [view])]),
    { clock, random: () => 1 }
  )
  const symbols = (): string[] =>
    index
      .search('sym', 5_000, NO_VOLUME)
      .map(({ symbol }) => symbol)
      .sort()
  return { clock, feed, index, running, symbols }
}

const blockOf = (slot: number, launches: readonly LaunchRow[]): BlockCommit => ({
  ...noRows(),
  slot: commitOf(slot, [], { time: NOON, sales: [] }).slot,
  launches
})

async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; turns < 1_000 && !condition(); turns++) await settle()
}

t.test('launches of the store and of blocks are searched, those too that come while it reads', async (t) => {
  const launches = new Launches()
  launches.rows = Array.from({ length: 1_200 }, (_, n) => launched(n + 1))
  const feed = new CommitFeed()
  let slot = 10_000
  launches.reads = async () => {
    await settle()
    slot++
    launches.rows.push(launched(slot))
    feed.publish(blockOf(slot, [launched(slot)]))
  }
  const { index, running, symbols } = start(launches, { feed })
  await until(() => index.isLoaded)
  t.equal(launches.pages, 3)
  feed.publish(blockOf(20_000, [launched(20_000)]))
  t.equal(index.isComplete, true)
  t.strictSame(symbols(), [...launches.rows.map(({ symbol }) => symbol), 'SYM20000x'].sort())
  t.match(nodeAt(running.tree(), 'views/names').gauges, { tokens: 1_204, loaded: 1, left_out: 0 })
  await running.drain()
})

t.test('launches that a rollback has retracted leave the index, and late ones enter it', async (t) => {
  const launches = new Launches()
  launches.rows = [launched(1), launched(2)]
  const { clock, feed, index, running, symbols } = start(launches)
  await until(() => index.isLoaded)
  feed.publish(blockOf(3, [launched(3)]))
  index.setAccountNames(key(2), { symbol: 'SYMaccount', name: '' })
  t.strictSame(symbols(), ['SYM1x', 'SYM3x', 'SYMaccount'])
  launches.rows = [launched(1), launched(4)]
  feed.amend(blockOf(2, []).slot)
  t.equal(index.isLoaded, false, 'until they are read again, an answer says that it is incomplete')
  clock.increment(5_000)
  await until(() => index.isLoaded)
  t.strictSame(symbols(), ['SYM1x', 'SYM4x', 'SYMaccount'])
  t.equal(index.isComplete, true)
  await running.drain()
})

t.test('a rollback while launches are read has them read once more', async (t) => {
  const launches = new Launches()
  launches.rows = [launched(1), launched(2)]
  const feed = new CommitFeed()
  launches.reads = async () => {
    launches.reads = async () => undefined
    await settle()
    feed.amend(blockOf(2, []).slot)
  }
  const { clock, index, running, symbols } = start(launches, { feed })
  await until(() => launches.pages === 1 && index.size === 2)
  await settle()
  t.equal(index.isLoaded, false)
  launches.rows = [launched(1)]
  clock.increment(5_000)
  await until(() => index.isLoaded)
  t.strictSame(symbols(), ['SYM1x'])
  await running.drain()
})

// INVARIANTS 10
t.test('beyond its memory it has the newest launches, and those of the largest volume', async (t) => {
  const launches = new Launches()
  launches.rows = Array.from({ length: 2_000 }, (_, n) => launched(n + 1))
  const handle = new RankingHandle()
  const ranking = new Ranking()
  ranking.advance(NOON)
  ranking.take(key(5), [{ minute: NOON, trades: 1, volumeMicroUsd: 5n }])
  handle.show(ranking)
  const { clock, index, running } = start(launches, { bytesMax: 200_000, ranking: handle })
  await until(() => index.isLoaded)
  t.equal(index.isComplete, false)
  t.ok(index.leftOut > 0)
  t.ok(index.bytes <= 200_000)
  t.ok(launches.pages < 4, `${launches.pages} pages of 4`)
  t.ok(index.has(key(2_000)))
  t.notOk(index.has(key(6)))
  clock.increment(5_000)
  await until(() => index.has(key(5)))
  t.ok(index.has(key(5)), 'an old launch that trades much')
  await running.drain()
})

t.test(
  'launches that a damaged store has lost leave the index incomplete, and the process runs on',
  async (t) => {
    const launches = new Launches()
    launches.damage = ['lost']
    launches.reads = async () => {
      throw new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'lost')
    }
    const { feed, index, running, symbols } = start(launches)
    await until(() => launches.pages === 1)
    await settle()
    feed.publish(blockOf(3, [launched(3)]))
    t.strictSame(symbols(), ['SYM3x'])
    t.equal(index.isComplete, false)
    t.equal(nodeAt(running.tree(), 'views/names').restarts, 0)
    await running.drain()
  }
)

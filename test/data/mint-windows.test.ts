import fc from 'fast-check'
import t from 'tap'
import { pubkeyMapKey, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import { mayBeActive } from '../../src/market/active-hours.ts'
import type { ActivityHour } from '../../src/market/activity-rows.ts'
import { changeOf, foldWindow, windowHours } from '../../src/market/windows.ts'
import type { MinuteColumns } from '../../src/market/minute-columns.ts'
import type { MintHourSource } from '../../src/market/mint-hours.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { liveWindows } from '../../src/archive/window-stores.ts'
import { MintWindows } from '../../src/data/mint-windows.ts'
import type { MinuteRange, Storage } from '../../storage/port.ts'
import { addHour } from '../market/hour-columns.ts'
import { ingest, MemoryStore } from '../market/memory-store.ts'
import {
  anyChain,
  anyChainWithFallingTimes,
  anyChainWithUnsteadyTimes,
  block,
  buy,
  key,
  NOON,
  OPTIONS,
  SOL,
  TOKEN,
  OTHER
} from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'

const SPANS = { '5m': 300, '1h': 3_600, '6h': 21_600, '24h': 86_400 } as const
const MINTS = [TOKEN, OTHER, key(3), SOL]
const COUNTED = { traders: true }
const UNCOUNTED = { traders: false }

type Range = Parameters<Storage['activity']['range']>[2]

function hoursOf(store: MemoryStore, owner: Pubkey, { from, to, limit, active }: Range): ActivityHour[] {
  return [...store.rows.maps.activity.values()]
    .filter((hour) => hour.of === 'mint' && samePubkey(hour.owner, owner))
    .filter(({ hour }) => hour >= from && hour < to && (active === undefined || mayBeActive(active, hour)))
    .sort((a, b) => a.hour - b.hour)
    .slice(-limit)
}

/** Windows in a form that can be compared, with their change up to the mint's newest price. */
async function answered(windows: MintWindows, mint: Pubkey, store: MemoryStore, options = COUNTED) {
  const lastUsd = store.rows.maps.tokens.get(pubkeyMapKey(mint))?.lastUsd ?? null
  const active = store.rows.maps.tokens.get(pubkeyMapKey(mint))?.activeHours
  const given = await windows.of(mint, store.head!.blockTime, SPANS, { ...options, active })
  return Object.values(given).map((window) => [
    ...[window.from, window.to, window.trades, window.buys, window.sells, window.volumeMicroUsd],
    ...[window.buyMicroUsd, window.sellMicroUsd, window.volumeCash, options.traders ? window.traders : null],
    changeOf(window, lastUsd)
  ])
}

/** Returns the windows, folded from the store. */
function folded(mint: Pubkey, store: MemoryStore, options = COUNTED) {
  const { blockTime } = store.head!
  const hours = hoursOf(store, mint, windowHours(blockTime, 86_400))
  const fold = { of: async (_: Pubkey, time: number) => windowsAt(hours, time) }
  return answered(fold as unknown as MintWindows, mint, store, options)
}

const windowsAt = (hours: readonly ActivityHour[], time: number) =>
  Object.fromEntries(Object.entries(SPANS).map(([name, span]) => [name, foldWindow(hours, time, span)]))

/** Returns a function that always returns the hours of one live store. */
function storesOf(activity: Pick<Storage['activity'], 'range' | 'minutesOfMint'>): () => MintHourSource {
  const stores = liveWindows({ activity } as Storage)
  return () => stores
}

/** Windows over a store in memory, with a feed. */
function following(bytesMax?: number) {
  const store = new MemoryStore()
  const feed = new CommitFeed()
  let reads = 0
  const activity = {
    async range(_: string, mint: Pubkey, range: Range) {
      reads++
      const hours = hoursOf(store, mint, range)
      await Promise.resolve()
      return hours
    }
  }
  const windows = new MintWindows(storesOf(activity), feed, bytesMax)
  return { store, feed, windows, unfollow: windows.follow(), reads: () => reads }
}

/** Queries and faults around a block. */
const anyTurn = fc.record({
  asks: fc.array(fc.nat({ max: MINTS.length - 1 }), { maxLength: 3 }),
  isPublishedLate: fc.boolean(),
  event: fc.constantFrom('nothing', 'nothing', 'nothing', 'nothing', 'amendment', 'restart')
})

type Turn = typeof anyTurn extends fc.Arbitrary<infer Value> ? Value : never

for (const [name, chains, hasRestarts] of [
  ['whose times never fall', anyChain, true],
  ['whose times fall', anyChainWithFallingTimes, false],
  ['whose times fall by up to a minute', anyChainWithUnsteadyTimes, false]
] as const) {
  t.test(`on a chain ${name} windows are those that the store gives`, async (t) => {
    await fc.assert(
      fc.asyncProperty(chains, fc.infiniteStream(anyTurn), async (chain, turns) => {
        const { store, feed, ...rest } = following()
        let { windows, unfollow } = rest
        const state = store.restart()
        for (const block of chain) {
          const { asks, isPublishedLate, event } = turns.next().value as Turn
          // A read may overlap the commit: either its result is not cached, or the feed brings the missed block.
          const early =
            store.head === null
              ? []
              : asks.map((n) => windows.of(MINTS[n]!, store.head!.blockTime, SPANS, COUNTED))
          const fold = ingest(store, state, block, OPTIONS)
          if (isPublishedLate) await Promise.all(early)
          feed.publish({ ...fold, log: [] })
          await Promise.all(early)
          if (event === 'amendment') feed.amend(store.head)
          if (event === 'restart' && hasRestarts) {
            unfollow()
            windows = new MintWindows(
              storesOf({ range: async (_, mint, range) => hoursOf(store, mint, range) }),
              feed
            )
            unfollow = windows.follow()
          }
          for (const n of asks)
            t.strictSame(await answered(windows, MINTS[n]!, store), await folded(MINTS[n]!, store))
        }
        for (const mint of MINTS)
          t.strictSame(await answered(windows, mint, store), await folded(mint, store))
      }),
      randomRuns(60, 12)
    )
  })
}

t.test('a mint that is asked for again is not read again', async (t) => {
  const { store, feed, windows, reads } = following()
  const state = store.restart()
  for (let n = 0; n < 9; n++) {
    feed.publish({ ...ingest(store, state, block(n, NOON + n * 40, [buy(5n, 7n)]), OPTIONS), log: [] })
    t.strictSame(await answered(windows, TOKEN, store), await folded(TOKEN, store))
    t.equal(reads(), 1)
  }
})

/** The activity of a store in memory that also reads columns; `reads` lists what was read. */
const columnsOf = (store: MemoryStore, reads: string[] = []) => ({
  async range(_: string, mint: Pubkey, range: Range) {
    reads.push('hours')
    return hoursOf(store, mint, range)
  },
  async minutesOfMint(mint: Pubkey, { from, to, active }: MinuteRange, into: MinuteColumns) {
    reads.push('columns')
    const hours = hoursOf(store, mint, { from, to, limit: 99, ...(active !== undefined && { active }) })
    return hours.every((hour) => addHour(into, hour)) ? into.hours : null
  }
})

/** Windows over such a store, with a feed. */
function followingColumns() {
  const store = new MemoryStore()
  const feed = new CommitFeed()
  const reads: string[] = []
  const windows = new MintWindows(storesOf(columnsOf(store, reads)), feed)
  return { store, feed, windows, unfollow: windows.follow(), reads }
}

t.test('windows of a mint that is asked for once are folded from columns, and equal', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyChain, async (chain) => {
      const [store, feed] = [new MemoryStore(), new CommitFeed()]
      const state = store.restart()
      for (const block of chain) {
        feed.publish({ ...ingest(store, state, block, OPTIONS), log: [] })
        const once = new MintWindows(storesOf(columnsOf(store)), feed)
        for (const mint of MINTS)
          t.strictSame(await answered(once, mint, store, UNCOUNTED), await folded(mint, store, UNCOUNTED))
        t.equal(once.size, 0)
      }
    }),
    randomRuns(20, 6)
  )
})

t.test('a mint is rolled once it is asked for again, and then not read', async (t) => {
  const { store, feed, windows, unfollow, reads } = followingColumns()
  const state = store.restart()
  for (let n = 0; n < 5; n++) {
    feed.publish({ ...ingest(store, state, block(n, NOON + n * 40, [buy(5n, 7n)]), OPTIONS), log: [] })
    t.strictSame(await answered(windows, TOKEN, store, UNCOUNTED), await folded(TOKEN, store, UNCOUNTED))
  }
  t.strictSame(reads, ['columns', 'hours'])
  t.equal(windows.size, 1)
  unfollow()
})

t.test('a mint whose sums do not fit columns is rolled at once', async (t) => {
  const { store, feed, windows, unfollow, reads } = followingColumns()
  const state = store.restart()
  const event = buy(2n ** 60n, 7n)
  feed.publish({ ...ingest(store, state, block(0, NOON, [event]), OPTIONS), log: [] })
  t.strictSame(await answered(windows, TOKEN, store, UNCOUNTED), await folded(TOKEN, store, UNCOUNTED))
  t.strictSame(reads, ['columns', 'hours'])
  unfollow()
})

t.test('windows with traders are rolled at the first request', async (t) => {
  const { store, feed, windows, unfollow, reads } = followingColumns()
  const state = store.restart()
  feed.publish({ ...ingest(store, state, block(0, NOON, [buy(5n, 7n)]), OPTIONS), log: [] })
  t.strictSame(await answered(windows, TOKEN, store), await folded(TOKEN, store))
  t.strictSame(await answered(windows, TOKEN, store, UNCOUNTED), await folded(TOKEN, store, UNCOUNTED))
  t.strictSame(reads, ['hours'])
  unfollow()
})

t.test('no more mints are kept than the limit allows', async (t) => {
  const { store, feed, windows } = following(8_000)
  const state = store.restart()
  for (let n = 0; n < 20; n++) {
    const mint = key(50 + n)
    const events = [buy(5n, 7n, { outMint: mint })]
    feed.publish({ ...ingest(store, state, block(n, NOON + n, events), OPTIONS), log: [] })
    t.strictSame(await answered(windows, mint, store), await folded(mint, store))
    t.ok(windows.bytes <= 8_000)
  }
  t.ok(windows.size > 0)
  t.ok(windows.size < 10)
})

import fc from 'fast-check'
import t from 'tap'
import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import type { MarketStores } from '../../src/archive/market-stores.ts'
import { withArchive } from '../../src/archive/with-archive.ts'
import { MintWindows } from '../../src/data/mint-windows.ts'
import { CommitFeed } from '../../src/kernel/feed/commit-feed.ts'
import { MARKET } from '../../src/market/activity.ts'
import type { ActivityHour, ActivityOf } from '../../src/market/activity-rows.ts'
import { changeOf, foldWindow, windowHours } from '../../src/market/windows.ts'
import { list, plainHours } from '../market/plain-market.ts'
import { block, buy, key, liquidity, NOON, OPTIONS, OTHER, SOL, solSale, TOKEN } from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'
import { anySplitChain, commitsOf, splitStores } from './split-chain.ts'
import { modelStorage } from './model-storage.ts'

const MINTS = [TOKEN, OTHER, key(3), SOL]
const SPANS = { '5m': 300, '1h': 3_600, '6h': 21_600, '24h': 86_400 } as const
const EVER = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1_000 }

const hoursOf = (hours: Iterable<ActivityHour>, of: ActivityOf, owner: Pubkey): ActivityHour[] =>
  [...hours]
    .filter((hour) => hour.of === of && pubkeyMapKey(hour.owner) === pubkeyMapKey(owner))
    .sort((a, b) => a.hour - b.hour)

t.test(
  'hours of mints and of the market are those of one store, with traders and earlier prices',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(anySplitChain, async ({ chain, archived }) => {
        const { market, archive, live } = splitStores(chain, archived)
        const rows = [archive, live].flatMap(({ model }) => model.rows.all('trades'))
        const hours = plainHours(list(chain, rows, OPTIONS.cash))
        t.strictSame(
          await market.windows.hours('market', MARKET, EVER),
          hoursOf(hours.values(), 'market', MARKET)
        )
        for (const mint of MINTS)
          t.strictSame(
            (await market.windows.mintHours(mint, EVER)).hours,
            hoursOf(hours.values(), 'mint', mint)
          )
      }),
      randomRuns(100)
    )
  }
)

t.test('rolling windows of mints are those of one store at every live block', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      anySplitChain,
      fc.array(fc.nat({ max: 3 }), { minLength: 25, maxLength: 25 }),
      async ({ chain, archived }, asked) => {
        const { archive, live } = splitStores(chain, archived)
        const rows = [archive, live].flatMap(({ model }) => model.rows.all('trades'))
        const commits = commitsOf(chain.slice(archived))
        const growing = modelStorage([])
        const ends = { first: archive.model.head()!, last: archive.model.head()!, isAdjacent: true }
        const { windows } = withArchive(growing.storage, { storage: archive.storage, ...ends })
        const feed = new CommitFeed()
        const rolled = new MintWindows(() => windows, feed)
        const unfollow = rolled.follow()
        for (const [at, commit] of commits.entries()) {
          growing.model.commit(commit)
          feed.publish(commit)
          // Later blocks of the chain have no hours yet.
          const known = chain.slice(0, archived + at + 1)
          const slots = new Set(known.map(({ slot }) => slot))
          const hours = plainHours(
            list(
              known,
              rows.filter(({ slot }) => slots.has(slot)),
              OPTIONS.cash
            )
          )
          for (const mint of at === commits.length - 1 ? MINTS : [MINTS[asked[at % asked.length]!]!]) {
            const { blockTime } = commit.slot
            const expected = hoursOf(hours.values(), 'mint', mint)
            const range = windowHours(blockTime, 86_400)
            const within = expected.filter(({ hour }) => hour >= range.from && hour < range.to)
            const found = await rolled.of(mint, blockTime, SPANS, { traders: true })
            for (const [name, span] of Object.entries(SPANS)) {
              const { from, to, ...window } = foldWindow(within, blockTime, span)
              const own = found[name as keyof typeof SPANS]
              const { trades, buys, sells, volumeMicroUsd, unpriced, volumeCash, traders } = window
              t.match(
                own,
                { from, to, trades, buys, sells, volumeMicroUsd, unpriced, volumeCash, traders },
                name
              )
              t.equal(changeOf(own, 7), changeOf(window, 7), `change of ${name}`)
            }
          }
        }
        unfollow()
      }
    ),
    randomRuns(60, 12)
  )
})

/** An archive of two hours, whose border is half-way in a minute, and a live store of 30 hours. */
function longChain() {
  const start = NOON + 30
  const earlier = Array.from({ length: 12 }, (_, n) =>
    block(n + 1, start - (11 - n) * 600, [solSale(200), buy(10n ** 9n, 10n ** 9n - BigInt(n))])
  )
  const later = Array.from({ length: 31 }, (_, n) =>
    block(n + 13, start + 5 + n * 3_600, [solSale(200), buy(10n ** 9n, 9n * 10n ** 8n)])
  )
  return { chain: [...earlier, ...later], archived: earlier.length }
}

t.test('an archive before the window is not read, but for the price before the first live one', async (t) => {
  const { chain, archived } = longChain()
  const { market, archive } = splitStores(chain, archived)
  const now = chain.at(-1)!.blockTime
  archive.readsSince()
  const reading = async (read: (windows: MarketStores['windows']) => Promise<unknown>): Promise<number> => {
    await read(market.windows)
    return archive.readsSince()
  }
  const day = windowHours(now, 86_400)
  t.equal(await reading((windows) => windows.hours('market', MARKET, day)), 0)
  t.equal(await reading((windows) => windows.mintHours(TOKEN, day)), 0)
  t.equal(await reading((windows) => windows.hours('pool', key(100), day)), 0)
  t.equal(await reading((windows) => windows.archivedPools(TOKEN, day.from, 10)), 0)
  t.equal(await reading((windows) => windows.mintHours(TOKEN, windowHours(NOON + 3_600, 3_600))), 2)
})

t.test('windows of an archive that is not adjacent are those of the live store', async (t) => {
  const { chain, archived } = longChain()
  const { archive, live } = splitStores(chain, archived)
  const ends = { first: archive.model.head()!, last: archive.model.head()!, isAdjacent: false }
  const { windows } = withArchive(live.storage, { storage: archive.storage, ...ends })
  archive.readsSince()
  t.strictSame(await windows.hours('market', MARKET, EVER), live.model.activity('market', MARKET, EVER))
  t.strictSame(await windows.mintHours(TOKEN, EVER), {
    hours: live.model.activity('mint', TOKEN, EVER),
    earlierUsd: null
  })
  t.equal(archive.readsSince(), 0)
})

t.test(
  'the change of a mint starts at its archived price, also if its hour begins after it was cached',
  async (t) => {
    const day = 26 * 3_600
    const chain = [
      block(1, NOON, [solSale(200), buy(10n ** 9n, 2n * 10n ** 9n)]),
      block(2, NOON + day, [solSale(200), liquidity()]),
      block(3, NOON + day + 7_200, [solSale(200), buy(10n ** 9n, 10n ** 9n)])
    ]
    const { archive } = splitStores(chain, 1)
    const growing = modelStorage([])
    const ends = { first: archive.model.head()!, last: archive.model.head()!, isAdjacent: true }
    const { windows } = withArchive(growing.storage, { storage: archive.storage, ...ends })
    const feed = new CommitFeed()
    const rolled = new MintWindows(() => windows, feed)
    t.teardown(rolled.follow())
    const changes: unknown[] = []
    for (const commit of commitsOf(chain.slice(1))) {
      growing.model.commit(commit)
      feed.publish(commit)
      const found = await rolled.of(TOKEN, commit.slot.blockTime, SPANS, { traders: true })
      t.equal(rolled.size, 1)
      changes.push(changeOf(found['1h'], 0.2), found['1h'].startUsd)
    }
    t.same(changes, [0, 0.1, 100, 0.1])
  }
)

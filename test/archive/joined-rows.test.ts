import fc from 'fast-check'
import t from 'tap'
import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import type { ActivityHour } from '../../src/market/activity-rows.ts'
import type { TokenRow } from '../../src/market/registry-rows.ts'
import { foldRows } from '../../src/market/candles.ts'
import { legOf } from '../../src/market/legs.ts'
import type { MarketPool, MarketStores } from '../../src/archive/market-stores.ts'
import { INTERVALS, type TradeRow } from '../../src/market/rows.ts'
import { list, plainHours, plainPools, plainTokens } from '../market/plain-market.ts'
import { key, OPTIONS, OTHER, PEGGED, SOL, TETHER, TOKEN, USD_COIN } from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'
import { anySplitChain, commitsOf, splitStores } from './split-chain.ts'
import { modelStorage } from './model-storage.ts'

const MINTS = [TOKEN, OTHER, key(3), SOL]
const CASHES = [SOL, USD_COIN, TETHER, PEGGED]
const EVER = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1_000 }
const ORDERS = ['asc', 'desc'] as const

/** Reads all pools of a mint page by page. */
async function walkPools(market: MarketStores, mint: Pubkey, order: 'asc' | 'desc', limit: number) {
  const rows: MarketPool[] = []
  for (;;) {
    const last = rows.at(-1)
    const from = last === undefined ? {} : { from: last.firstCursor }
    const page = await market.pools.ofMint(mint, { ...from, order, limit })
    rows.push(...page)
    if (page.length < limit) return rows
  }
}

t.test('tokens, pools and launches are those of one store with all blocks', async (t) => {
  await fc.assert(
    fc.asyncProperty(anySplitChain, fc.integer({ min: 1, max: 4 }), async ({ chain, archived }, limit) => {
      const { market, archive, live } = splitStores(chain, archived)
      const rows = [archive, live].flatMap(({ model }) => model.rows.all('trades'))
      const story = list(chain, rows, OPTIONS.cash)
      const one = modelStorage(commitsOf(chain)).model
      const tokens = plainTokens(story)
      for (const mint of MINTS) {
        // Active hours are those of one store.
        const withoutHours = (row: TokenRow | null): object | null =>
          row && { ...row, activeHours: undefined }
        const token = tokens.get(pubkeyMapKey(mint)) ?? null
        t.strictSame(withoutHours(await market.tokens.get(mint)), withoutHours(token), 'token')
        t.strictSame(await market.launches.get(mint), one.get('launches', mint), 'launch')
      }
      const pools = new Map(
        [...plainPools(story)].map(([address, pool]) => {
          const { isArchived, isReversedLive } = standingOf(pool.pool, archive.model, live.model)
          const reserves = isArchived ? null : pool.reserves
          return [
            address,
            {
              ...pool,
              reserves,
              ...(isArchived && { isArchived }),
              ...(isReversedLive && { isReversedLive })
            }
          ]
        })
      )
      for (const [, pool] of pools) t.strictSame(await market.pools.get(pool.pool), pool, 'pool')
      for (const mint of MINTS)
        for (const order of ORDERS) {
          const sign = order === 'asc' ? 1 : -1
          const listed = [...pools.values()]
            .filter(({ base, quote, quoteListed }) =>
              [base, ...(quoteListed ? [quote] : [])].some((each) => Buffer.compare(each, mint) === 0)
            )
            .sort((a, b) => sign * (a.firstCursor - b.firstCursor))
          t.strictSame(await walkPools(market, mint, order, limit), listed, 'pools of a mint')
        }
    }),
    randomRuns(100)
  )
})

function standingOf(pool: Pubkey, archive: ReturnType<typeof modelStorage>['model'], live: typeof archive) {
  const [earlier, later] = [archive.get('pools', pool), live.get('pools', pool)]
  return {
    isArchived: later === null,
    isReversedLive: earlier !== null && later !== null && Buffer.compare(earlier.base, later.base) !== 0
  }
}

t.test('curves are those of one store, their state that of the newest part that has one', async (t) => {
  await fc.assert(
    fc.asyncProperty(anySplitChain, async ({ chain, archived }) => {
      const { market, archive, live } = splitStores(chain, archived)
      const one = modelStorage(commitsOf(chain)).model
      for (const mint of MINTS) {
        const curve = await market.curves.get(mint)
        const expected = one.get('curves', mint)
        const [earlier, later] = [archive.model.get('curves', mint), live.model.get('curves', mint)]
        const newest = later?.cursor === expected?.cursor ? later : earlier
        if (expected === null || newest === null) {
          t.equal(curve, null)
          continue
        }
        const state = { progressPct: 0, price: 0, cashUsd: 0, forSale: 0n, targetQuote: 0n, reserves: {} }
        // A trade after completion states the decimals in the live store alone.
        const decimals = expected.decimals ?? curve?.decimals ?? null
        t.strictSame({ ...curve, ...state }, { ...expected, ...state, decimals }, 'facts')
        const { progressPct, price, cashUsd, reserves } = newest
        t.match(curve, { progressPct, price, cashUsd, reserves }, 'state')
        if (Object.keys(newest.reserves).length > 0) t.strictSame(newest.reserves, expected.reserves)
      }
    }),
    randomRuns(100)
  )
})

t.test('candles, pairs and activity of pools are folds of the rows of both stores', async (t) => {
  const range = fc.record({
    from: fc.double({ min: -0.1, max: 0.7, noNaN: true }),
    to: fc.double({ min: 0.3, max: 1.1, noNaN: true }),
    limit: fc.integer({ min: 1, max: 8 })
  })
  await fc.assert(
    fc.asyncProperty(anySplitChain, range, async ({ chain, archived }, { from, to, limit }) => {
      const { market, archive, live } = splitStores(chain, archived)
      const rows = [archive, live].flatMap(({ model }) => model.rows.all('trades'))
      const times = chain.map(({ blockTime }) => blockTime)
      const [first, last] = [Math.min(...times), Math.max(...times)]
      const timeAt = (part: number): number => Math.floor(first + part * (last - first))
      const ranges = [EVER, { from: timeAt(from), to: timeAt(to), limit }]
      const within = <Row>(all: readonly Row[], startOf: (row: Row) => number, each: typeof EVER): Row[] =>
        all.filter((row) => startOf(row) >= each.from && startOf(row) < each.to).slice(-each.limit)
      for (const mint of MINTS)
        for (const cash of CASHES) {
          const ofPair = rows.filter((row) => isOf(row, mint, cash))
          const forming = ofPair.findLast(({ priceForming }) => priceForming)
          const pair = await market.pairs.get({ mint, cash })
          t.equal(pair?.last?.cursor, forming?.cursor)
          t.equal(pair === null, ofPair.length === 0)
          for (const interval of INTERVALS) {
            const candles = foldRows(ofPair, interval)
            for (const each of ranges)
              t.strictSame(
                await market.candles.range(mint, cash, interval, each),
                within(candles, ({ ts }) => ts, each)
              )
            const [candle] = candles
            if (candle !== undefined)
              t.strictSame(
                (await market.candles.get({ mint, cash, interval, ts: candle.ts }))?.candle,
                candle
              )
          }
        }
      const hours = [...plainHours(list(chain, rows, OPTIONS.cash)).values()].filter(
        ({ of }) => of === 'pool'
      )
      for (const ofPool of Map.groupBy(hours, ({ owner }) => pubkeyMapKey(owner)).values()) {
        const { owner } = ofPool[0]!
        const isReversed = (await market.pools.get(owner))?.isReversedLive === true
        for (const each of ranges)
          t.strictSame(
            withoutTokens(await market.poolActivity.range(owner, each), isReversed),
            withoutTokens(
              within(
                ofPool.toSorted((a, b) => a.hour - b.hour),
                ({ hour }) => hour,
                each
              ),
              isReversed
            )
          )
      }
      for (const mint of MINTS)
        t.equal(
          (await market.pairs.ofMint(mint)).length,
          CASHES.filter((cash) => rows.some((row) => isOf(row, mint, cash))).length
        )
    }),
    randomRuns(60)
  )
})

const isOf = (row: TradeRow, mint: Pubkey, cash: Pubkey): boolean =>
  row.cashSide !== null &&
  Buffer.compare(row.mint, mint) === 0 &&
  Buffer.compare(legOf(row, row.cashSide).mint, cash) === 0

/** Leaves out volumes of the token if they are of another token in each store. */
const withoutTokens = (hours: readonly ActivityHour[], isReversed: boolean) =>
  hours.map((hour) => ({
    ...hour,
    minutes: hour.minutes.map((minute) => (isReversed ? { ...minute, volumeToken: null } : minute))
  }))

t.test('the first slot since a time is that of one store', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      anySplitChain,
      fc.integer({ min: -90, max: 90 }),
      async ({ chain, archived }, seconds) => {
        const { market, whole } = splitStores(chain, archived)
        const steady = chain.every(({ blockTime }, at) => at === 0 || blockTime >= chain[at - 1]!.blockTime)
        if (!steady) return
        for (const { blockTime } of chain)
          t.equal(
            await market.blocks.firstSince(blockTime + seconds),
            whole.model.firstSince(blockTime + seconds)
          )
      }
    ),
    randomRuns(40)
  )
})

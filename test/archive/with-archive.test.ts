import fc from 'fast-check'
import t from 'tap'
import type { TokenSpan } from '../../src/archive/market-stores.ts'
import { tradesByToken } from '../../src/data/routes/trades-by-token.ts'
import { openSlices } from '../../src/kernel/work/slices.ts'
import { eventCursor } from '../../src/market/cursor.ts'
import type { TradeRow } from '../../src/market/rows.ts'
import type { PageRequest } from '../../storage/port.ts'
import { sampleMint, samplePool, sampleWallet, slotAt, timeAt } from '../../storage/test/sample-addresses.ts'
import { sampleBlock } from '../../storage/test/sample-blocks.ts'
import { SOL } from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'
import { virtualClock } from '../virtual-time.ts'
import { anySplitChain, splitStores, storesOf } from './split-chain.ts'

const ORDERS = ['asc', 'desc'] as const

t.test('lists of rows, pages of every size and place, are those of one store', async (t) => {
  /** Cursors at rows and between them, at the ends of blocks above all. */
  const position = fc.option(
    fc
      .record({ block: fc.integer({ min: 0, max: 20 }), offset: fc.constantFrom(-1, 0, 1, 12, 102) })
      .map(({ block, offset }) => slotAt(block) * 2 ** 20 + offset),
    { nil: undefined }
  )
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: 1, max: 19 }),
      fc.array(
        fc.record({
          from: position,
          until: position,
          order: fc.constantFrom(...ORDERS),
          limit: fc.integer({ min: 1, max: 60 })
        }),
        { minLength: 1, maxLength: 10 }
      ),
      async (seed, archived, pages) => {
        const blocks = Array.from({ length: 20 }, (_, index) => sampleBlock(seed, index))
        const { market, whole } = storesOf(blocks.slice(0, archived), blocks.slice(archived))
        for (const { from, until, ...rest } of pages) {
          const page: PageRequest = {
            ...rest,
            ...(from !== undefined && { from }),
            ...(until !== undefined && { until })
          }
          for (const mint of [sampleMint(0), sampleMint(3)])
            t.strictSame(await market.trades.ofMint(mint, page), whole.model.trades(mint, page))
          t.strictSame(
            await market.trades.ofWallet(sampleWallet(7), page),
            whole.model.walletTrades(sampleWallet(7), page)
          )
          t.strictSame(
            await market.poolEvents.ofPool(samplePool(0), page),
            whole.model.poolEvents(samplePool(0), page)
          )
        }
      }
    ),
    randomRuns(15)
  )
})

t.test(
  'a page that live rows fill is not continued, and one in the archive reads no live rows',
  async (t) => {
    const blocks = Array.from({ length: 20 }, (_, index) => sampleBlock(5, index))
    const { market, archive, live } = storesOf(blocks.slice(0, 10), blocks.slice(10))
    const mint = sampleMint(0)
    const border = (slotAt(9) + 1) * 2 ** 20
    const reads = (): readonly number[] => [archive.readsSince(), live.readsSince()]
    t.equal((await market.trades.ofMint(mint, { order: 'desc', limit: 2 })).length, 2)
    t.same(reads(), [0, 1])
    await market.trades.ofMint(mint, { order: 'desc', from: border, limit: 2 })
    t.same(reads(), [1, 0])
    await market.trades.ofMint(mint, { order: 'desc', until: border, limit: 1_000 })
    t.same(reads(), [0, 1])
    await market.trades.ofMint(mint, { order: 'asc', from: border - 1, limit: 2 })
    t.same(reads(), [0, 1])
    await market.trades.ofMint(mint, { order: 'asc', limit: 2 })
    t.same(reads(), [1, 0])
    await market.launches.page({ order: 'desc', limit: 1 })
    t.same(reads(), [0, 1])
    await market.candles.range(mint, SOL, '1m', { from: 0, to: timeAt(9) - 600, limit: 5 })
    t.same(reads(), [1, 0])
    await market.candles.range(mint, SOL, '1m', { from: timeAt(9) + 600, to: timeAt(30), limit: 5 })
    t.same(reads(), [0, 1])
    await market.blocks.firstSince(timeAt(10))
    t.same(reads(), [0, 1])
  }
)

t.test('rows that are imported after the end of the served archive are in no page', async (t) => {
  const blocks = Array.from({ length: 20 }, (_, index) => sampleBlock(5, index))
  const { market, archive } = storesOf(blocks.slice(0, 10), blocks.slice(12))
  const mint = sampleMint(0)
  const lists = () => Promise.all(ORDERS.map((order) => market.trades.ofMint(mint, { order, limit: 1_000 })))
  const imported = (): number => archive.model.trades(mint, { order: 'asc', limit: 1_000 }).length
  const [before, count] = [await lists(), imported()]
  for (const block of blocks.slice(10, 12)) archive.model.commit(block)
  t.ok(imported() > count)
  t.strictSame(await lists(), before)
})

t.test('tokens, and the trades of all tokens, are those of one store', async (t) => {
  await fc.assert(
    fc.asyncProperty(anySplitChain, fc.integer({ min: 1, max: 40 }), async ({ chain, archived }, limit) => {
      const { market, whole, archive, live } = splitStores(chain, archived)
      const mints = whole.model.tokens().map(({ mint }) => mint)
      mints.sort((a, b) => Buffer.compare(a, b))
      const listed: TokenSpan[] = []
      for (let isMore = true; isMore;) {
        const last = listed.at(-1)
        const page = await market.tokens.list({ ...(last !== undefined && { after: last.mint }), limit })
        listed.push(...page)
        isMore = page.length === limit
      }
      t.strictSame(
        listed.map(({ mint }) => mint),
        mints
      )
      for (const { mint, firstTime, lastTrade } of listed) {
        const [earlier, later] = [archive, live].map(({ model }) => model.get('tokens', mint))
        t.equal(firstTime, (earlier ?? later)!.firstTime)
        t.strictSame(lastTrade, later?.lastTrade ?? earlier?.lastTrade)
      }
      const rows: TradeRow[] = []
      const tools = { clock: virtualClock(), slices: openSlices }
      for (let after: string | null | undefined; after !== null;) {
        const query = { from: 0, to: 4_000_000_000, limit, ...(after !== undefined && { after }) }
        const page = await tradesByToken(market, query, tools)
        rows.push(...page.rows)
        after = page.nextCursor
      }
      const all = { order: 'asc', limit: 10_000 } as const
      t.strictSame(
        rows,
        mints
          .flatMap((mint) => whole.model.trades(mint, all))
          .filter((row) => eventCursor(row) === row.cursor)
      )
    }),
    randomRuns(15)
  )
})

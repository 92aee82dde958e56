import fc from 'fast-check'
import t, { type Test } from 'tap'
import { STATS } from '../../src/data/bodies/stats.ts'
import { VENUE_IDS } from '../../src/chain/venue-id.ts'
import type { DecodedBlock } from '../../src/market/block.ts'
import { BLOCK_SLOT, fixtureBlock, testWithFixtures } from '../fixtures.ts'
import { anyChain, block, buy, key, launch, NOON, solSale } from '../market/world.ts'
import { recordedBlocks } from '../service/recorded-folder.ts'
import { followMarket, isNear } from '../http/follow-market.ts'
import { marketApp, type MarketApp } from '../http/market-app.ts'
import { decodedBlock, type MarketOracle } from './market-oracle.ts'

const WINDOWS = { '1h': 3_600, '24h': 86_400 } as const
/** Up to this number, traders are counted exactly, within an hour and in all. */
const EXACT = 256

type Sums = Record<string, number | null>
interface StatsBody {
  readonly sol_price_usd: number | null
  readonly sol_price: { readonly usd: number; readonly age_seconds: number | null } | null
  readonly updated_at: string | null
  readonly windows: Record<keyof typeof WINDOWS, Sums>
  readonly totals: Sums
  readonly venues: readonly string[]
}

async function statsOf(t: Test, app: MarketApp): Promise<StatsBody> {
  const { status, body } = await app.get('/v1/stats')
  t.equal(status, 200)
  t.same(STATS.strict().safeParse(body).error, undefined, 'the body is as documented')
  return body as unknown as StatsBody
}

function change(before: number | null, now: number | null): number | null {
  return before === null || now === null || before === 0 ? null : ((now - before) / before) * 100
}

/** Compares the whole answer of the endpoint with the events. */
async function compare(t: Test, app: MarketApp, oracle: MarketOracle): Promise<void> {
  const body = await statsOf(t, app)
  t.equal(body.updated_at, new Date(oracle.headTime * 1000).toISOString().slice(0, 19).replace('T', ' '))
  t.ok(isNear(body.sol_price_usd, oracle.solUsd), `a SOL is worth ${oracle.solUsd}`)
  for (const [name, seconds] of Object.entries(WINDOWS)) {
    const found = body.windows[name as keyof typeof WINDOWS]
    const now = oracle.market(seconds)
    t.equal(found.unpriced_trades, now.unpriced_trades)
    t.match(found, { trades: now.trades, launches: now.launches, active_tokens: oracle.mints(seconds).size })
    t.ok(
      isNear(found.traders, now.traders, now.traders > EXACT ? now.traders * 0.1 : 0),
      `${now.traders} traders`
    )
    t.ok(isNear(found.volume_usd, now.volume_usd, now.trades * 1e-6), `${now.volume_usd} USD`)
    t.ok(isNear(found.volume_sol, now.volume_sol), `${now.volume_sol} SOL`)
    const before = oracle.reachesBefore(seconds) ? oracle.market(seconds, oracle.headTime - seconds) : null
    for (const field of ['trades', 'volume_usd', 'volume_sol', 'launches'] as const) {
      const expected = change(before?.[field] ?? null, now[field])
      t.ok(isNear(found[`${field}_change_pct`], expected, 1e-3), `${field} changed by ${expected} %`)
    }
  }
  const all = oracle.market(Infinity)
  t.equal(body.totals.unpriced_trades, all.unpriced_trades)
  t.match(body.totals, { trades: all.trades, launches: all.launches, tokens: oracle.tokens })
  t.ok(isNear(body.totals.volume_usd, all.volume_usd || null, all.trades * 1e-6) || all.trades === 0)
  t.ok(isNear(body.totals.volume_sol, all.volume_sol))
  t.ok(isNear(body.totals.traders, all.traders, all.traders > EXACT ? all.traders * 0.08 : 0))
}

const follow = (t: Test, chain: readonly DecodedBlock[], heads: (index: number) => boolean) =>
  followMarket(t, chain, heads, compare)

testWithFixtures(t, 'of the recorded block, the stats equal a plain fold of its events', async (t) => {
  await follow(t, [decodedBlock({ slot: BLOCK_SLOT, block: fixtureBlock() })], () => true)
})

testWithFixtures(
  t,
  'of 60 hours of recorded transactions, the stats at several heads equal a plain fold of their events',
  async (t) => {
    const chain = recordedBlocks(120).map(({ slot, block }, index) =>
      decodedBlock({ slot, block: { ...block, blockTime: NOON + index * 1_787 } })
    )
    await follow(t, chain, (index) => index % 17 === 0 || index === chain.length - 1)
  }
)

t.test(
  'of chains whose times jump past the windows, the stats equal a plain fold at every block',
  async (t) => {
    for (const chain of fc.sample(anyChain, { numRuns: 12, seed: 3 })) {
      await t.test(`${chain.length} blocks`, (t) => follow(t, chain, () => true))
    }
  }
)

t.test('with nothing indexed all sums are 0, and what is not known is null', async (t) => {
  const body = await statsOf(t, await marketApp(t))
  t.match(body, { sol_price_usd: null, sol_price: null, updated_at: null, venues: [...VENUE_IDS] })
  const none = { trades: 0, volume_usd: 0, volume_sol: 0, traders: 0, launches: 0 }
  t.match(body.totals, { ...none, tokens: 0 })
  for (const window of Object.values(body.windows)) {
    t.match(window, { ...none, active_tokens: 0, trades_change_pct: null, volume_usd_change_pct: null })
  }
})

t.test(
  'a window loses a minute when the head enters the next one, and counts each trader once',
  async (t) => {
    const app = await marketApp(t)
    const sale = (mint: number, user: number) =>
      buy(10n ** 9n, 10n ** 6n, { outMint: key(mint), user: key(user) })
    await app.commit(block(1, NOON, [solSale(150), sale(1, 5), sale(2, 5), launch({ baseMint: key(2) })]))
    await app.commit(block(2, NOON + 3_599, [sale(1, 6)]))
    t.match((await statsOf(t, app)).windows['1h'], {
      trades: 4,
      volume_usd: 600,
      volume_sol: 3,
      active_tokens: 3,
      traders: 3,
      launches: 1
    })
    await app.commit(block(3, NOON + 3_600, []))
    t.match((await statsOf(t, app)).windows, {
      '1h': {
        trades: 1,
        volume_usd: 150,
        active_tokens: 1,
        traders: 1,
        launches: 0,
        trades_change_pct: null
      },
      '24h': { trades: 4, volume_usd: 600, active_tokens: 3, traders: 3, launches: 1 }
    })
    await app.commit(block(4, NOON + 7_199, [sale(1, 6), sale(1, 6)]))
    t.match(
      (await statsOf(t, app)).windows['1h'],
      {
        trades: 2,
        trades_change_pct: -50,
        launches_change_pct: -100,
        volume_usd: null,
        volume_usd_change_pct: null
      },
      'against the hour before, which is indexed whole'
    )
  }
)

t.test('the price of SOL says its minute and its age, and is null after an hour without one', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(1, NOON + 5, [solSale(150)]), block(2, NOON + 600, []))
  t.match(await statsOf(t, app), {
    sol_price_usd: 150,
    sol_price: {
      usd: 150,
      minute: '2026-08-24 12:10:00',
      source_minute: '2026-08-24 12:00:00',
      age_seconds: 600
    }
  })
  await app.commit(block(3, NOON + 3_660, []))
  t.match(await statsOf(t, app), { sol_price_usd: null, sol_price: null })
})

t.test('trades without a known value give no volume in USD', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(1, NOON, [buy(10n ** 9n, 10n ** 6n)]))
  const { windows, totals } = await statsOf(t, app)
  t.match(windows['1h'], { trades: 1, volume_usd: null, volume_sol: 1 })
  t.match(totals, { trades: 1, volume_usd: null, volume_sol: 1 })
})

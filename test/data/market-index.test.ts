import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import type { ChainEvent } from '../../src/chain/events.ts'
import { block, buy, key, launch, NOON, solSale } from '../market/world.ts'
import { until } from '../until.ts'
import { IndexFleet, type IndexGateway } from './index-fleet.ts'

const sol = (n: number): bigint => BigInt(n) * 1_000_000_000n

/** Launches of coins and a trade of each, whose volumes differ. */
function coins(first: number, count: number): ChainEvent[] {
  return Array.from({ length: count }, (_, at) => {
    const n = first + at
    const [mint, pool] = [key(n), key(50_000 + n)]
    const names = { symbol: `C${n}`, name: `Coin ${n % 7} of grain` }
    return [
      launch({ baseMint: mint, curve: pool, pool, ...names }),
      buy(sol(1 + (n % 50)), 10n ** 6n, { outMint: mint, pool, user: key(90_000 + (n % 5)) })
    ]
  }).flat()
}

const ADDRESSES = [pubkeyToBase58(key(201)), pubkeyToBase58(key(50_201)), pubkeyToBase58(key(90_001))]
const URLS = [
  '/v1/stats',
  ...['1h', '4h', '24h'].map((window) => `/v1/trending?window=${window}`),
  '/v1/trending?sort=trades&exclude_cash=true&limit=100',
  ...['c2', 'coin', 'grain', 'coin 3', 'sol', 'nothing', 'c2&limit=50'].map((q) => `/v1/search?q=${q}`),
  ...ADDRESSES.map((address) => `/v1/search?q=${address}`)
]

async function equalAnswers(fleet: IndexFleet, gateways: readonly IndexGateway[]): Promise<string[]> {
  const differing: string[] = []
  for (const url of URLS) {
    const answers = await Promise.all(gateways.map((gateway) => fleet.ask(gateway, url)))
    const [first] = answers
    if (first!.status !== 200) differing.push(`${url} ${first!.text}`)
    for (const each of answers)
      if (JSON.stringify(each) !== JSON.stringify(first))
        differing.push(`${url}\n${first!.text}\n${each.text}`)
  }
  return differing
}

t.test(
  'gateways that hold no names and rankings answer with the same bytes and tags as those that do, at every block',
  async (t) => {
    const fleet = await IndexFleet.open(t)
    await fleet.market.commit(block(1, NOON - 90_000, [solSale(100), ...coins(201, 3)]))
    const [one, two, three, four] = ['a', 'b', 'c', 'd'].map((id) => fleet.start(id))
    await fleet.loaded(one!, two!)
    t.strictSame(
      fleet.gateways.map(({ announced }) => announced),
      ['loaded', 'loaded', 'free', 'free']
    )
    let slot = 1
    for (const [at, time] of [NOON - 4_000, NOON - 70, NOON, NOON + 3_700].entries()) {
      await fleet.market.commit(block(++slot, time, [solSale(100 + at), ...coins(210 + 40 * at, 40)]))
      t.strictSame(await equalAnswers(fleet, [one!, two!, three!, four!]), [], `at block ${slot}`)
    }
    t.ok(fleet.server.answered > URLS.length, `${fleet.server.answered} questions were answered`)
    t.match(JSON.parse((await fleet.ask(four!, '/v1/search?q=coin')).text), {
      tokens_searched: 163,
      complete: true
    })
  }
)

t.test('what a gateway that asks holds is the same for ten times as many mints', async (t) => {
  const held: number[][] = []
  for (const mints of [60, 600])
    await t.test(`${mints} mints`, async (t) => {
      const fleet = await IndexFleet.open(t)
      const [one, two, three] = ['a', 'b', 'c'].map((id) => fleet.start(id))
      await fleet.loaded(one!, two!)
      for (let at = 0; at < mints; at += 60)
        await fleet.market.commit(block(2 + at, NOON + at, [solSale(100), ...coins(201 + at, 60)]))
      for (const url of URLS) t.equal((await fleet.ask(three!, url)).status, 200, url)
      held.push([one!, two!, three!].map(({ entries }) => entries))
    })
  const [few, many] = held
  t.comment(`entries of two holders and of one that asks: ${few!.join(', ')}; ${many!.join(', ')}`)
  t.equal(few![2], 0)
  t.equal(many![2], 0)
  for (const holder of [0, 1]) t.ok(many![holder]! > 9 * few![holder]!)
})

t.test(
  'after the end of the first holder the second answers at once, and a third takes its place',
  async (t) => {
    const fleet = await IndexFleet.open(t)
    await fleet.market.commit(block(1, NOON, [solSale(100), ...coins(201, 30)]))
    const [one, two, three, four] = ['a', 'b', 'c', 'd'].map((id) => fleet.start(id))
    await fleet.loaded(one!, two!)
    t.equal((await fleet.ask(four!, '/v1/search?q=c201')).status, 200)
    const before = await fleet.ask(one!, '/v1/search?q=grain')
    await one!.kill()
    // Nobody has heard of the end: the second holder waits for the first one's answer, and then gives its own.
    t.strictSame(await fleet.ask(four!, '/v1/search?q=grain'), before)
    await fleet.pass(4)
    t.equal(three!.place.isHeld, true)
    t.equal(four!.place.isHeld, false)
    await fleet.loaded(two!, three!)
    await fleet.market.commit(block(2, NOON + 60, [solSale(100), ...coins(300, 10)]))
    t.strictSame(await equalAnswers(fleet, [two!, three!, four!]), [])
    t.equal(four!.entries, 0)
  }
)

t.test('a gateway that holds them no longer frees them, and asks', async (t) => {
  const fleet = await IndexFleet.open(t)
  await fleet.market.commit(block(1, NOON, [solSale(100), ...coins(201, 30)]))
  const [one, two] = ['a', 'b'].map((id) => fleet.start(id))
  await fleet.loaded(one!, two!)
  const late = fleet.start('c')
  await two!.kill()
  await fleet.pass(4)
  await fleet.loaded(one!, late)
  t.ok(late.entries > 0)
  // It comes back as the process that has run longest would: it was only cut off.
  const back = fleet.start('b', -1)
  await fleet.loaded(back)
  await fleet.pass(11)
  await until(() => late.entries === 0)
  t.strictSame(
    [one!, back, late].map(({ place }) => place.isHeld),
    [true, true, false]
  )
  t.strictSame(await equalAnswers(fleet, [one!, back, late]), [])
})

t.test('without notifications answers are found in the store', async (t) => {
  const fleet = await IndexFleet.open(t)
  await fleet.market.commit(block(1, NOON, [solSale(100), ...coins(201, 10)]))
  const [one, two, three] = ['a', 'b', 'c'].map((id) => fleet.start(id))
  await fleet.loaded(one!, two!)
  fleet.server.notifies = false
  for (const url of ['/v1/stats', '/v1/search?q=coin'])
    t.strictSame(await fleet.ask(three!, url), await fleet.ask(one!, url))
})

t.test('an unavailable store is the reason that a request for names gets', async (t) => {
  const fleet = await IndexFleet.open(t)
  await fleet.market.commit(block(1, NOON, [solSale(100), ...coins(201, 10)]))
  const [one, two, three] = ['a', 'b', 'c'].map((id) => fleet.start(id))
  await fleet.loaded(one!, two!)
  fleet.server.isAway = true
  t.match(await fleet.ask(three!, '/v1/search?q=coin'), { status: 503, text: /storage_unavailable/ })
  t.equal((await fleet.ask(one!, '/v1/search?q=coin')).status, 200, 'the first holder needs no other')
  fleet.server.isAway = false
  t.equal((await fleet.ask(three!, '/v1/search?q=coin')).status, 200)
})

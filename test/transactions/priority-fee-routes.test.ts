import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { PRIORITY_FEES } from '../../src/transactions/bodies/priority-fees.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { buildApp } from '../../src/edge/routes/app.ts'
import { partsOf } from '../http/app-of.ts'
import { priorityFeeRoutes } from '../../src/transactions/routes/priority-fees.ts'
import { processMetrics } from '../products/process-metrics.ts'
import { PriorityFees } from '../../src/transactions/priority-fees.ts'
import type { FeeStatistics, FeeSummary } from '../../src/transactions/ports.ts'
import { block, buy, NOON } from '../market/world.ts'
import { marketApp, type MarketApp } from '../http/market-app.ts'

const FEES: FeeSummary = { samples: 7, slots: [5, 9], p25: 0, p50: 10, p75: 20, p90: 30, max: 18_446_744 }

interface World {
  readonly market: MarketApp
  readonly app: FastifyInstance
  readonly key: string
  /** Accounts of each computation, in base58. */
  readonly asked: string[][]
  answer: FeeSummary
  version: number
}

async function world(t: Test): Promise<World> {
  const market = await marketApp(t)
  const asked: string[][] = []
  const fees: FeeStatistics = {
    get version() {
      return made.version
    },
    upToDate: async () => undefined,
    of: (accounts) => {
      asked.push(accounts.map(pubkeyToBase58))
      return made.answer
    }
  }
  const { deps } = market
  const app = buildApp(
    { ...deps, metrics: processMetrics(deps.decoding) },
    partsOf({ fees }, [priorityFeeRoutes])
  )
  t.teardown(() => app.close())
  const made: World = { market, app, key: await market.makeKey(['tx:send']), asked, answer: FEES, version: 0 }
  return made
}

async function ask({ app, key }: World, query = '', apiKey = key) {
  const response = await app.inject({ url: `/v1/priority-fees${query}`, headers: { 'x-api-key': apiKey } })
  const body = response.json<Record<string, unknown> & { code: string; detail: string }>()
  return { status: response.statusCode, body }
}

const accountsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => pubkeyToBase58(new Uint8Array(32).fill(at + 1)))

void t.test('fees have the documented form, over all transactions or those of accounts', async (t) => {
  const it = await world(t)
  const all = await ask(it)
  t.strictSame(all, {
    status: 200,
    body: {
      samples: 7,
      slot_range: [5, 9],
      micro_lamports_per_cu: { p25: 0, p50: 10, p75: 20, p90: 30, max: 18_446_744 }
    }
  })
  t.ok(PRIORITY_FEES.strict().safeParse(all.body).success)
  const accounts = accountsOf(128)
  t.equal((await ask(it, `?accounts=${accounts.join(',')}`)).status, 200)
  t.strictSame(it.asked, [[], accounts])
})

void t.test('no data is samples 0', async (t) => {
  const it = await world(t)
  it.answer = new PriorityFees().of([])
  const { status, body } = await ask(it)
  t.equal(status, 200)
  t.match(body, { samples: 0, slot_range: null, micro_lamports_per_cu: { p25: 0, max: 0 } })
  t.ok(PRIORITY_FEES.strict().safeParse(body).success)
})

void t.test('a process that takes no transactions serves the fees of its blocks', async (t) => {
  const { market, key, ...it } = await world(t)
  const app = buildApp(
    {
      ...market.deps,
      metrics: processMetrics(market.deps.decoding)
    },
    partsOf({ fees: { upToDate: async () => undefined, of: () => FEES, version: 0 } }, [priorityFeeRoutes])
  )
  t.teardown(() => app.close())
  t.match(await ask({ ...it, market, key, app }), { status: 200, body: { samples: 7 } })
})

void t.test('a query that is wrong is refused, with the field and the address', async (t) => {
  const it = await world(t)
  const [good] = accountsOf(1)
  const refused = async (query: string, code: string, detail: RegExp): Promise<void> => {
    const { status, body } = await ask(it, query)
    t.equal(status, 400, query.slice(0, 40))
    t.equal(body.code, code)
    t.match(body.detail, detail)
  }
  await refused(`?accounts=${accountsOf(129).join(',')}`, 'invalid_parameter', /accounts .*at most 128.*129/)
  await refused('?accounts=', 'invalid_address', /accounts .*index 0 is not an address/)
  await refused(`?accounts=${good},`, 'invalid_address', /index 1 is not an address/)
  await refused(`?accounts=${good},0OIl,${good}`, 'invalid_address', /index 1 is not an address/)
  await refused(`?accounts=${good}, ${good}`.replaceAll(' ', '%20'), 'invalid_address', /index 1/)
  await refused(`?accounts=${good}&accounts=${good}`, 'invalid_parameter', /accounts must be given once/)
  await refused(`?account=${good}`, 'invalid_parameter', /account is not a parameter/)
  t.strictSame(it.asked, [], 'nothing was computed')
})

void t.test('a key needs the scope tx:send', async (t) => {
  const it = await world(t)
  t.equal((await ask(it, '', await it.market.makeKey(['data:read']))).status, 403)
})

void t.test('an answer is computed once a block', async (t) => {
  const it = await world(t)
  for (let i = 0; i < 3; i++) await ask(it)
  t.equal(it.asked.length, 1)
  it.answer = { ...FEES, samples: 8 }
  await it.market.commit(block(100, NOON, [buy(1_000n, 1_000n)]))
  t.match((await ask(it)).body, { samples: 8 })
  t.equal(it.asked.length, 2)
  it.version++
  it.answer = { ...FEES, samples: 9 }
  t.match((await ask(it)).body, { samples: 9 }, 'and when another process tells of a block')
})

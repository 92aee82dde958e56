import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import type { Trade } from '../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import {
  EXAMPLE_LAUNCH,
  EXAMPLE_POOL,
  EXAMPLE_SIGNATURE,
  EXAMPLE_WALLET,
  exampleValues
} from '../../src/edge/routes/example-values.ts'
import { block, key, launch, NOON, solSale } from '../market/world.ts'
import { marketApp } from '../http/market-app.ts'

const saleIn = (pool: number, user: number): Trade => ({ ...solSale(150), pool: key(pool), user: key(user) })

t.test('the pool is the one of the newest trades of SOL with the most seconds', async (t) => {
  const app = await marketApp(t)
  // The old pool trades in every second, a new one in the last two seconds more often.
  const steady = Array.from({ length: 30 }, (_, at) => block(1 + at, NOON + at, [saleIn(101, 310 + at)]))
  const burst = [30, 31].map((at) =>
    block(1 + at, NOON + at, [
      ...(at === 30 ? [saleIn(101, 399)] : []),
      ...Array.from({ length: 20 }, () => saleIn(102, 301))
    ])
  )
  await app.commit(...steady, ...burst)
  const values = await exampleValues(app.deps)
  t.equal(values.get(EXAMPLE_POOL), pubkeyToBase58(key(101)))
  t.equal(values.get(EXAMPLE_WALLET), pubkeyToBase58(key(399)), 'with the trader of its newest trade')
  t.equal(values.get(EXAMPLE_SIGNATURE), encodeBase58(burst[0]!.entries[0]!.signature))
  const { body } = await app.get(`/v1/pools/${values.get(EXAMPLE_POOL)}/candles?interval=1s&limit=30`)
  t.equal(body.data.length, 30, 'its chart of seconds is whole')
})

t.test('of pools with as many seconds the pool of the newer trade counts', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(1, NOON, [saleIn(101, 301)]), block(2, NOON + 1, [saleIn(102, 302)]))
  t.equal((await exampleValues(app.deps)).get(EXAMPLE_POOL), pubkeyToBase58(key(102)))
})

t.test('examples stay as they are for data that the store lacks', async (t) => {
  const app = await marketApp(t)
  t.same([...(await exampleValues(app.deps))], [])
  await app.commit(block(1, NOON, [launch()]))
  t.notOk((await exampleValues(app.deps)).has(EXAMPLE_POOL), 'a launch trades no SOL')
  t.notOk((await exampleValues(app.deps)).has(EXAMPLE_LAUNCH), 'and does not trade yet')
})

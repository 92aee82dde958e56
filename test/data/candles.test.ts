import fc from 'fast-check'
import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { testWithFixtures } from '../fixtures.ts'
import { anyChain, block, buy, NOON, solSale, TOKEN } from '../market/world.ts'
import { randomRuns } from '../random-runs.ts'
import { cycle, marketApp, type MarketApp } from '../http/market-app.ts'
import { candlesJson, INTERVALS, type CandleQuestion } from './oracle-candles.ts'
import { Reader, same } from './oracle-compare.ts'
import { Oracle } from './oracle-market.ts'
import { dealtChain } from '../http/recorded-chain.ts'

const MINT = pubkeyToBase58(TOKEN)

testWithFixtures(t, 'candles of every pair that was recorded are folds of its trades', async (t) => {
  const app = await marketApp(t)
  const reader = await Reader.of(app)
  const chain = dealtChain(30, 7)
  await app.commit(...chain)
  const { rows, headTime } = new Oracle(chain)
  const pairs = Map.groupBy(
    rows.filter(({ cash }) => cash !== null),
    ({ mint, cash }) => `${mint}/candles?cash=${cash!}&limit=1000`
  )
  t.ok(pairs.size > 100, `${pairs.size} pairs`)
  const middle = headTime - 15 * 3600 + 7
  for (const [pair, own] of pairs) {
    const compare = async (question: CandleQuestion): Promise<void> => {
      const { interval, currency, raw, fill, from, to } = question
      const range = `${from === undefined ? '' : `&from=${from}`}${to === undefined ? '' : `&to=${to}`}`
      const path = `/v1/tokens/${pair}&interval=${interval}&currency=${currency}&raw=${raw ? 1 : 0}&fill=${fill}${range}`
      same(t, await reader.list(path), candlesJson(own, question, headTime).slice(-1000), path)
    }
    for (const interval of INTERVALS)
      await compare({ interval, currency: 'native', raw: false, fill: 'none' })
    await compare({ interval: '15m', currency: 'usd', raw: true, fill: 'none', from: middle })
    await compare({ interval: '5m', currency: 'native', raw: true, fill: 'previous' })
    await compare({
      interval: '5m',
      currency: 'usd',
      raw: false,
      fill: 'previous',
      from: middle,
      to: headTime - 1234
    })
  }
})

/** Pages from the newest candle back. Returns candles oldest first. */
async function walkBack(app: MarketApp, path: string, limitOf: () => number): Promise<unknown[]> {
  const pages: (readonly unknown[])[] = []
  for (let after = ''; ;) {
    const { body, status, text } = await app.get(`${path}&limit=${limitOf()}${after}`)
    if (status !== 200) throw new Error(text)
    pages.unshift(body.data)
    if (body.nextCursor === null) return pages.flat()
    after = `&after=${body.nextCursor}`
  }
}

t.test('candles walked back with any limits are the candles at once, in every mode', async (t) => {
  const app = await marketApp(t)
  const chain = fc.sample(anyChain, { seed: 3, numRuns: 1 })[0]!
  await app.commit(
    block(299_999_990, NOON - 7200, [solSale(200), buy(10n ** 9n, 10n ** 9n)]),
    ...chain.filter(({ blockTime }) => blockTime < NOON + 40_000)
  )
  const modes = fc.record({
    interval: fc.constantFrom('1m', '5m', '1h', '1d'),
    currency: fc.constantFrom('native', 'usd'),
    raw: fc.constantFrom('0', '1'),
    fill: fc.constantFrom('none', 'previous'),
    from: fc.option(fc.integer({ min: NOON - 9000, max: NOON + 9000 }), { nil: undefined, freq: 1 }),
    length: fc.option(fc.integer({ min: 1, max: 20_000 }), { nil: undefined, freq: 1 })
  })
  const limits = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 4 })
  let most = 0
  await fc.assert(
    fc.asyncProperty(modes, limits, async ({ from, length, ...mode }, sizes) => {
      const to = length === undefined ? undefined : (from ?? NOON) + length
      const query = Object.entries({ ...mode, from, to }).flatMap(([name, value]) =>
        value === undefined ? [] : [`${name}=${value}`]
      )
      const path = `/v1/tokens/${MINT}/candles?${query.join('&')}`
      const { body } = await app.get(`${path}&limit=1000`)
      const walked = await walkBack(app, path, cycle(sizes))
      most = Math.max(most, body.data.length)
      return JSON.stringify(walked) === JSON.stringify(body.data)
    }),
    randomRuns(30, 9)
  )
  t.ok(most > 100, `${most} candles`)
})

t.test('filled candles begin with the first known price and end with the bucket of the head', async (t) => {
  const app = await marketApp(t)
  await app.commit(
    block(300_000_000, NOON, [buy(10n ** 9n, 10n ** 9n)]),
    block(300_000_001, NOON + 190, [buy(999n, 10n ** 9n)]),
    block(300_000_002, NOON + 250, [])
  )
  const candles = async (query: string) => {
    const { body } = await app.get(`/v1/tokens/${MINT}/candles?${query}`)
    return body.data.map(({ ts_ms, close, trades, closed }) => [
      (Number(ts_ms) / 1000 - NOON) / 60,
      close,
      trades,
      closed
    ])
  }
  t.strictSame(await candles('fill=none'), [[0, 0.001, 1, true]])
  const filled = [
    [0, 0.001, 1, true],
    [1, 0.001, 0, true],
    [2, 0.001, 0, true],
    [3, 0.001, 1, true],
    [4, 0.001, 0, false]
  ]
  t.strictSame(await candles('fill=previous'), filled, 'dust has a flat candle with what it traded')
  t.strictSame(await candles('fill=previous&limit=2'), filled.slice(3))
  t.strictSame(
    await candles(`fill=previous&from=${NOON + 61}`),
    filled.slice(2),
    'an earlier close is looked up'
  )
  t.strictSame(await candles(`fill=previous&to=${NOON + 61}`), filled.slice(0, 2))
  t.strictSame(await candles(`fill=previous&to=${NOON}`), [], 'before the first price')
  t.strictSame(await candles(`fill=previous&from=${NOON + 300}`), [], 'after the head')
  await app.commit(block(300_000_003, NOON + 301, []))
  t.strictSame(
    await candles(`fill=previous&from=${NOON + 300}`),
    [[5, 0.001, 0, false]],
    'until the head is there'
  )
  t.strictSame((await candles('fill=previous')).at(-1), [5, 0.001, 0, false])
  t.strictSame((await candles('fill=previous')).at(-2), [4, 0.001, 0, true])
})

t.test(
  'a candle is closed as soon as the head has passed it, also where it was asked for before',
  async (t) => {
    const app = await marketApp(t)
    await app.commit(block(300_000_000, NOON, [buy(10n ** 9n, 10n ** 9n)]))
    const closed = async () =>
      (await app.get(`/v1/tokens/${MINT}/candles?interval=1m`)).body.data.map((row) => row.closed)
    t.strictSame(await closed(), [false])
    await app.commit(block(300_000_001, NOON + 59, []))
    t.strictSame(await closed(), [false])
    await app.commit(block(300_000_002, NOON + 60, []))
    t.strictSame(await closed(), [true])
  }
)

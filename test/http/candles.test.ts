import t from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { marketApp } from './market-app.ts'
import { candlesJson, INTERVALS, type CandleQuestion } from './oracle-candles.ts'
import { list, same } from './oracle-compare.ts'
import { Oracle } from './oracle-market.ts'
import { dealtChain } from './recorded-chain.ts'

testWithFixtures(t, 'candles of every pair that was recorded are folds of its trades', async (t) => {
  const app = await marketApp(t)
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
      same(t, await list(app, path), candlesJson(own, question, headTime).slice(-1000), path)
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

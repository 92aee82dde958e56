import t, { type Test } from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { marketApp } from '../http/market-app.ts'
import { tradeJson, walletTradeJson } from './oracle-bodies.ts'
import { Reader, same } from './oracle-compare.ts'
import { Oracle } from './oracle-market.ts'
import { dealtChain, recordedChain } from '../http/recorded-chain.ts'

testWithFixtures(
  t,
  'trades, wallets, launches and curves of all that was recorded are what happened',
  async (t) => {
    const app = await marketApp(t)
    const reader = await Reader.of(app)
    const chain = recordedChain()
    await app.commit(...chain)
    const oracle = new Oracle(chain)
    t.ok(oracle.rows.length > 200, `${oracle.rows.length} trades`)

    t.ok(oracle.mints.length > 100, `${oracle.mints.length} mints`)
    for (const mint of oracle.mints) {
      const expected = oracle.rowsOf(mint).map(tradeJson)
      const path = `/v1/tokens/${mint}/trades?limit=1000`
      same(t, await reader.list(path), expected.toReversed(), path)
      same(t, await reader.list(`${path}&order=asc`), expected, `${path} in rising order`)
    }

    const wallets = Map.groupBy(
      oracle.rows.filter(({ isFirst }) => isFirst),
      ({ user }) => user
    )
    t.ok(wallets.size > 80, `${wallets.size} wallets`)
    for (const [wallet, rows] of wallets) {
      const path = `/v1/wallets/${wallet}/trades?limit=1000`
      same(t, await reader.list(path), rows.map(walletTradeJson).toReversed(), path)
    }

    for (const status of ['', 'created', 'trading', 'graduated']) {
      const path = `/v1/launches?limit=500${status === '' ? '' : `&status=${status}`}`
      const expected = oracle.launches(status === '' ? undefined : status)
      if (status === '') t.ok(expected.length > 5, `${expected.length} launches`)
      same(t, await reader.list(path), expected, path)
    }

    let curves = 0
    for (const mint of oracle.mints) {
      const path = `/v1/tokens/${mint}/bonding-curve`
      const expected = oracle.curve(mint)
      if (expected !== null) curves++
      same(t, await reader.object(path), expected, path)
    }
    t.ok(curves > 20, `${curves} curves`)
    await sameState(t, reader, oracle)
  }
)

testWithFixtures(t, 'overview, price, pools and minutes follow what is traded, at every head', async (t) => {
  const app = await marketApp(t)
  const reader = await Reader.of(app)
  const chain = dealtChain(30, 7)
  const heads = [10, 40, 75, chain.length]
  let done = 0
  for (const head of heads) {
    await app.commit(...chain.slice(done, head))
    done = head
    await sameState(t, reader, new Oracle(chain.slice(0, head)))
  }
  t.ok(new Oracle(chain).poolsOf('So11111111111111111111111111111111111111112').length > 5)
})

/** Compares all state of mints and pools at the head. */
async function sameState(t: Test, reader: Reader, oracle: Oracle): Promise<void> {
  let priced = 0
  for (const mint of oracle.mints) {
    const path = `/v1/tokens/${mint}`
    same(t, await reader.object(path), oracle.token(mint), path)
    const price = oracle.price(mint)
    if (price !== null) priced++
    same(t, await reader.object(`${path}/price`), price, `${path}/price`)
    same(t, await reader.list(`${path}/pools?limit=500`), oracle.poolsOf(mint), `${path}/pools`)
  }
  for (const pool of oracle.pools) {
    const path = `/v1/pools/${pool}/activity?limit=1440`
    same(t, await reader.object(path), oracle.activity(pool), path)
  }
  t.ok(priced > 10, `${priced} of ${oracle.mints.length} mints have a price, ${oracle.pools.length} pools`)
}

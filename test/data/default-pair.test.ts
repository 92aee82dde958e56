import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { USDC, USDT, WSOL } from '../../src/market/cash.ts'
import { block, buy, NOON, PEGGED, solSale, TETHER, TOKEN, USD_COIN } from '../market/world.ts'
import { marketApp, type MarketApp } from '../http/market-app.ts'

const MINT = pubkeyToBase58(TOKEN)
const dollars = (amount: bigint, inMint = USD_COIN) =>
  buy(amount * 10n ** 6n, 10n ** 9n, { inMint, inDecimals: 6 })

async function shown(app: MarketApp, mint: string, query = '') {
  const { status, body, text } = await app.get(`/v1/tokens/${mint}/candles${query}`)
  if (status !== 200) throw new Error(text)
  return { cash: body['cash_mint'], candles: body.data.length }
}

t.test('candles of closed buckets without cash follow the pair of the largest volume', async (t) => {
  const app = await marketApp(t)
  const closed = `?to=${NOON + 60}`
  await app.commit(
    block(1, NOON, [dollars(50n), dollars(30n, TETHER)]),
    block(2, NOON + 600, [dollars(1n, PEGGED)])
  )
  t.match(await shown(app, MINT, closed), { cash: USDC, candles: 1 })
  await app.commit(block(3, NOON + 700, [dollars(40n, TETHER)]))
  t.match(await shown(app, MINT, closed), { cash: USDT, candles: 1 }, 'USDT has more volume now')
})

t.test('wrapped SOL that trades for USDT alone is shown in USDT', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(1, NOON, [solSale(100, 10n ** 9n, TETHER)]))
  t.match(await shown(app, WSOL), { cash: USDT, candles: 1 })
})

t.test('a pair with wrapped SOL that never formed a price gives way to one that did', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(1, NOON, [buy(999n, 10n ** 9n), dollars(50n)]))
  t.match(await shown(app, MINT), { cash: USDC, candles: 1 })
})

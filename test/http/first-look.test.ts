import t from 'tap'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { USDC, USDT, WSOL } from '../../src/market/cash.ts'
import {
  block,
  buy,
  curve,
  launch,
  NOON,
  OTHER,
  PEGGED,
  POOL,
  sell,
  SOL,
  solSale,
  TETHER,
  TOKEN,
  USD_COIN
} from '../market/world.ts'
import { marketApp } from './market-app.ts'

const MINT = pubkeyToBase58(TOKEN)
const CASH = [
  { mint: WSOL, symbol: 'SOL', name: 'Wrapped SOL', decimals: 9 },
  { mint: USDC, symbol: 'USDC', name: 'USD Coin', decimals: 6 },
  { mint: USDT, symbol: 'USDT', name: 'USDT', decimals: 6 }
]

/** Returns a buy of the token for a dollar mint. */
const forDollars = (dollars: Pubkey, amount: bigint) =>
  buy(amount, 1_000_000n, { inMint: dollars, inDecimals: 6 })

t.test('wrapped SOL, USDC and USDT are known to a store that has nothing', async (t) => {
  const app = await marketApp(t)
  for (const names of CASH) {
    const token = await app.get(`/v1/tokens/${names.mint}`)
    t.match(token, { status: 200, body: { ...names, metadata: names, price: null } }, names.symbol)
    const price = await app.get(`/v1/tokens/${names.mint}/price`)
    const usd = names.symbol === 'SOL' ? null : 1
    t.match(price, {
      status: 200,
      body: { mint: names.mint, price: null, price_usd: usd, confidence: 'stale' }
    })
  }
  t.equal((await app.get(`/v1/tokens/${MINT}`)).status, 404, 'others are not')
})

t.test('candles without a cash are of wrapped SOL where the token has such a pair', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(1, NOON, [forDollars(USD_COIN, 10n ** 12n), buy(10n ** 9n, 10n ** 6n)]))
  const { body } = await app.get(`/v1/tokens/${MINT}/candles`)
  t.match(body, { cash_mint: WSOL })
  t.equal(body.data.length, 1)
  const dollars = (await app.get(`/v1/tokens/${MINT}/candles?cash=${USDC}`)).body
  t.match(dollars, { cash_mint: USDC })
  t.equal(dollars.data.length, 1)
})

t.test('candles of a token without a pair with SOL are of its pair of the largest volume', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(1, NOON, [forDollars(USD_COIN, 5_000_000n), forDollars(TETHER, 6_000_000n)]))
  t.equal((await app.get(`/v1/tokens/${MINT}/candles`)).body.cash_mint, USDT)
  await app.commit(block(2, NOON + 60, [forDollars(PEGGED, 20_000_000n)]))
  const largest = (await app.get(`/v1/tokens/${MINT}/candles`)).body
  t.match(largest, { cash_mint: pubkeyToBase58(PEGGED) }, 'a block that changes which, changes the answer')
  t.equal(largest.data.length, 1)
})

t.test('candles of wrapped SOL are of USDC, and of an unknown token empty and of wrapped SOL', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(1, NOON, [solSale(200, 10n ** 12n, TETHER), solSale(201)]))
  t.match((await app.get(`/v1/tokens/${WSOL}/candles`)).body, { cash_mint: USDC, data: [{ open: 201 }] })
  const unknown = (await app.get(`/v1/tokens/${pubkeyToBase58(OTHER)}/candles`)).body
  t.strictSame(unknown, { cash_mint: WSOL, data: [], nextCursor: null })
})

t.test('further pages of candles without a cash stay with the pair of the first page', async (t) => {
  const app = await marketApp(t)
  await app.commit(
    block(1, NOON, [forDollars(USD_COIN, 5_000_000n)]),
    block(2, NOON + 60, [forDollars(USD_COIN, 6_000_000n)])
  )
  const first = (await app.get(`/v1/tokens/${MINT}/candles?limit=1`)).body
  await app.commit(block(3, NOON + 120, [buy(10n ** 9n, 10n ** 6n)]))
  const second = await app.get(`/v1/tokens/${MINT}/candles?limit=1&after=${first.nextCursor}`)
  t.match(second.body, { cash_mint: USDC, data: [{ open: 5 }] })
  const other = await app.get(`/v1/tokens/${WSOL}/candles?limit=1&after=${first.nextCursor}`)
  t.match(other, { status: 400, body: { code: 'invalid_cursor' } }, 'of another list it is refused')
})

const CURVE = { venue: 'pumpfun' } as const
/** Reserves of a curve that began with 30 SOL and 1,000 virtual tokens, 800 of them for sale, and has sold 250. */
const RESERVES = {
  out: 550_000_000n,
  in: 10_000_000_000n,
  virtualOut: 750_000_000n,
  virtualIn: 40_000_000_000n
}

t.test('supply is that of the launch, and market cap counts what the curve has sold', async (t) => {
  const app = await marketApp(t)
  await app.commit(
    block(1, NOON - 60, [solSale(200)]),
    block(2, NOON, [
      launch({ ...CURVE, supply: 1_000_000_000n }),
      curve('create', { ...CURVE, reserves: { realBase: 800_000_000n } }),
      buy(10_000_000_000n, 250_000_000n, { ...CURVE, reserves: RESERVES })
    ])
  )
  const { body } = await app.get(`/v1/tokens/${MINT}`)
  const usd = (10 / 250) * 200
  t.match(body, {
    supply: 1000,
    circulating_supply: 250,
    metadata: { supply: 1000, supply_raw: '1000000000' },
    market_cap_usd: 250 * usd,
    fdv_usd: 1000 * usd,
    liquidity_usd: 10 * 200
  })
  const said = { market_cap_usd: body.market_cap_usd, liquidity_usd: body.liquidity_usd }
  t.match((await app.get(`/v1/tokens/${MINT}/price`)).body, said)
  await app.commit(block(3, NOON + 1, [curve('complete', CURVE), curve('migrate', CURVE)]))
  const graduated = (await app.get(`/v1/tokens/${MINT}`)).body
  t.match(graduated, { circulating_supply: 1000, market_cap_usd: 1000 * usd, liquidity_usd: null })
})

t.test('reserves and liquidity of a pool are those after its newest trade, if it states them', async (t) => {
  const app = await marketApp(t)
  const reserves = { in: 4_000_000n, out: 20_000_000_000n }
  await app.commit(
    block(1, NOON - 60, [solSale(100)]),
    block(2, NOON, [sell(1_000_000n, 5_000_000_000n, { reserves })])
  )
  const pools = () => app.get(`/v1/tokens/${MINT}/pools`).then(({ body }) => body.data)
  t.match(await pools(), [
    {
      pool: pubkeyToBase58(POOL),
      base_reserve: 4,
      base_reserve_raw: '4000000',
      quote_reserve: 20,
      quote_reserve_raw: '20000000000',
      liquidity_usd: (4 * 5 + 20) * 100
    }
  ])
  t.equal((await app.get(`/v1/tokens/${MINT}`)).body.liquidity_usd, 4000)
  await app.commit(block(3, NOON + 1, [sell(1_000_000n, 5_000_000_000n, { outMint: SOL })]))
  t.match(await pools(), [{ base_reserve: null, quote_reserve_raw: null, liquidity_usd: null }])
})

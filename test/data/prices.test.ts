import t from 'tap'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { USDC, WSOL } from '../../src/market/cash.ts'
import { block, buy, key, NOON, OTHER, sell, solSale, TOKEN, trade } from '../market/world.ts'
import { marketApp } from '../http/market-app.ts'

const SLOT = 300_000_000
const SOL = 1_000_000_000n
const SWAPPED = key(70)
const textsOf = (...mints: readonly Pubkey[]): string[] => mints.map(pubkeyToBase58)

t.test('prices of several tokens are those of each alone, in the order asked, each once', async (t) => {
  const app = await marketApp(t)
  const wanted = [...textsOf(OTHER, key(71), TOKEN), WSOL, ...textsOf(SWAPPED, TOKEN, key(71)), USDC]
  const ask = async () => (await app.get(`/v1/prices?mints=${wanted.join(',')}`)).body
  const missing = textsOf(OTHER, key(71), TOKEN, SWAPPED)
  t.match(await ask(), { data: [{ mint: WSOL }, { mint: USDC }], missing }, 'cash alone in an empty store')
  await app.commit(
    block(SLOT, NOON, [solSale(200), buy(SOL, 10n ** 9n), buy(SOL, 10n ** 9n, { outMint: OTHER })]),
    block(SLOT + 1, NOON + 7, [
      sell(10n ** 9n, 2n * SOL),
      trade({ inMint: SWAPPED, inDecimals: 2, pool: key(50) })
    ])
  )
  const check = async () => {
    const { tenant, data, missing } = await ask()
    t.equal(tenant, 'acme')
    const known = [...textsOf(OTHER, TOKEN), WSOL, USDC]
    t.strictSame(missing, textsOf(key(71), SWAPPED))
    const alone = await Promise.all(
      known.map(async (mint) => (await app.get(`/v1/tokens/${mint}/price`)).body)
    )
    t.strictSame(data, alone)
  }
  await check()
  await app.commit(block(SLOT + 2, NOON + 9, [sell(10n ** 9n, 3n * SOL)]))
  await check()
  await app.commit(block(SLOT + 3, NOON + 11, []))
  await check()
})

t.test('bad lists of mints are refused and name the field', async (t) => {
  const app = await marketApp(t)
  const many = (count: number) => Array.from({ length: count }, (_, at) => pubkeyToBase58(key(1000 + at)))
  t.match((await app.get(`/v1/prices?mints=${many(100).join(',')}`)).status, 200)
  const refuses = async (query: string, code: string, detail: RegExp) =>
    t.match((await app.get(`/v1/prices${query}`)).body, { status: 400, code, detail })
  await refuses(`?mints=${many(101).join(',')}`, 'invalid_parameter', /^mints must be at most 100.*101/)
  await refuses('', 'invalid_parameter', /^mints /)
  await refuses('?mints=', 'invalid_address', /^mints .*index 0 /)
  await refuses(`?mints=${WSOL},${USDC},x`, 'invalid_address', /^mints .*index 2 /)
  await refuses(`?mints=${WSOL},${USDC},`, 'invalid_address', /^mints .*index 2 /)
  await refuses(`?mints=${WSOL}&mints=${USDC}`, 'invalid_parameter', /^mints /)
  await refuses(`?mints=${WSOL}&limit=3`, 'invalid_parameter', /^limit /)
})

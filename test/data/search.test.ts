import t, { type Test } from 'tap'
import { SEARCH } from '../../src/data/bodies/search.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { USDC, WSOL } from '../../src/market/cash.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { EXAMPLE_SIGNATURE } from '../../src/edge/routes/example-values.ts'
import { mintData } from '../accounts/account-data.ts'
import { fakeAccounts } from '../accounts/fake-account-node.ts'
import { block, buy, key, launch, NOON, OTHER, POOL, solSale, TOKEN } from '../market/world.ts'
import { fakeTransactions } from '../transactions/fake-transactions.ts'
import { marketApp, type MarketApp } from '../http/market-app.ts'

const text = (n: number): string => pubkeyToBase58(key(n))
const sol = (n: bigint): bigint => n * 1_000_000_000n

async function searched(t: Test, app: MarketApp, query: string) {
  const { status, body, text } = await app.get(`/v1/search?${query}`)
  t.equal(status, 200, text)
  t.same(SEARCH.strict().safeParse(body).error, undefined, 'the answer is as documented')
  return body.data
}

/** Addresses of the hits of a search. */
async function addresses(t: Test, app: MarketApp, query: string): Promise<unknown[]> {
  return (await searched(t, app, query)).map(({ address }) => address)
}

t.test(
  'tokens come by their volume of the last day, then by the closeness of the match, then by address',
  async (t) => {
    const app = await marketApp(t)
    const named = (n: number, symbol: string, name: string) =>
      launch({ baseMint: key(n), curve: key(100 + n), pool: key(100 + n), symbol, name })
    const traded = (n: number, amount: bigint) =>
      buy(sol(amount), 10n ** 6n, { outMint: key(n), pool: key(100 + n) })
    await app.commit(
      block(1, NOON, [
        solSale(100),
        named(11, 'GRAIN', 'Exact'),
        named(12, 'GRAINS', 'Prefix'),
        named(13, 'MIGRAINE', 'Inside'),
        named(15, 'X', 'Some Grain here'),
        named(14, 'Y', 'More Grain here'),
        named(16, 'OTHER', 'Other'),
        traded(12, 1n),
        traded(13, 2n)
      ])
    )
    const hits = await searched(t, app, 'q=grain')
    t.match(hits, [
      { kind: 'token', address: text(13), symbol: 'MIGRAINE', name: 'Inside', match: 'substring' },
      { address: text(12), symbol: 'GRAINS', volume_24h_usd: 100, match: 'symbol_prefix' },
      { address: text(11), volume_24h_usd: 0, match: 'symbol', venue: null },
      { address: text(14), match: 'word_prefix' },
      { address: text(15), match: 'word_prefix' }
    ])
    t.equal(hits.length, 5)
    t.equal(hits[0]!['volume_24h_usd'], 200)
    t.strictSame(await addresses(t, app, 'q=GrAiN&limit=2'), [text(13), text(12)])
    const { body } = await app.get('/v1/search?q=grain&limit=1')
    t.match(body, { tenant: 'acme', tokens_searched: 6, complete: true })
    await app.commit(block(2, NOON + 60, [traded(11, 9n)]))
    t.strictSame(await addresses(t, app, 'q=grain&limit=1'), [text(11)], 'a trade changes the order')
    await app.commit(block(3, NOON + 2 * 86_400, []))
    t.strictSame(
      await addresses(t, app, 'q=grain&limit=1'),
      [text(11)],
      'volumes of another day do not count'
    )
    t.match(await searched(t, app, 'q=grain&limit=1'), [{ volume_24h_usd: 0 }])
  }
)

t.test('trades without a known value leave the volume unknown', async (t) => {
  const app = await marketApp(t)
  await app.commit(block(1, NOON, [launch(), buy(sol(1n), 10n ** 6n)]))
  t.match(await searched(t, app, 'q=grn'), [{ volume_24h_usd: null, unpriced_trades_24h: 1 }])
  await app.commit(block(2, NOON + 60, [solSale(100), buy(sol(1n), 10n ** 6n)]))
  t.match(await searched(t, app, 'q=grn'), [{ volume_24h_usd: 100, unpriced_trades_24h: 1 }])
  t.match(await searched(t, app, `q=${pubkeyToBase58(POOL)}`), [
    { kind: 'pool', volume_24h_usd: 100, unpriced_trades_24h: 1 }
  ])
})

t.test('well-known mints are found without any launch', async (t) => {
  const app = await marketApp(t)
  t.match(await searched(t, app, 'q=usd%20coin'), [
    { kind: 'token', address: USDC, symbol: 'USDC', match: 'name' }
  ])
  t.match(await searched(t, app, `q=${WSOL}`), [
    { kind: 'token', address: WSOL, symbol: 'SOL', match: 'address' }
  ])
})

t.test('an address is found as all that the index knows it as, without its case being ignored', async (t) => {
  const accounts = fakeAccounts()
  const app = await marketApp(t, undefined, { accounts })
  await app.commit(
    block(1, NOON, [
      solSale(100),
      launch(),
      buy(sol(3n), 10n ** 6n),
      buy(sol(1n), 10n ** 6n, { outMint: OTHER })
    ])
  )
  t.match(await searched(t, app, `q=${pubkeyToBase58(TOKEN)}`), [
    { kind: 'token', symbol: 'GRN', name: 'Grain', venue: null, volume_24h_usd: 300, match: 'address' }
  ])
  t.match(await searched(t, app, `q=%20${pubkeyToBase58(POOL)}`), [
    { kind: 'pool', symbol: 'GRN', venue: 'pumpswap', volume_24h_usd: 400, match: 'address' }
  ])
  const wallet = await searched(t, app, `q=${text(300)}`)
  t.match(wallet, [{ kind: 'wallet', address: text(300), symbol: null, volume_24h_usd: null }])
  t.strictSame(await searched(t, app, `q=${pubkeyToBase58(OTHER)}`), [
    {
      ...{ kind: 'token', address: pubkeyToBase58(OTHER), symbol: null, name: null, venue: null },
      ...{ volume_24h_usd: 100, match: 'address' }
    }
  ])
  t.strictSame(await searched(t, app, `q=${text(77)}`), [], 'an unknown address is an empty list')
  accounts.node.put(key(77), {
    owner: TOKEN_PROGRAM_KEYS['spl-token'],
    data: mintData({ supply: 1n, decimals: 6 })
  })
  await accounts.mints.read([key(77)])
  app.nowMs += 1_000
  t.match(
    await searched(t, app, `q=${text(77)}`),
    [{ kind: 'token' }],
    'once its account is read, it is a token'
  )
  t.equal((await app.get(`/v1/search?q=${pubkeyToBase58(TOKEN).toLowerCase()}`)).status, 200)
})

t.test('a signature is found at the node; while that is away, nobody says that it is unknown', async (t) => {
  const transactions = fakeTransactions()
  const app = await marketApp(t, undefined, { transactions })
  t.strictSame(await searched(t, app, `q=${EXAMPLE_SIGNATURE}`), [])
  transactions.chain.set(EXAMPLE_SIGNATURE, {
    slot: 1,
    confirmations: null,
    err: null,
    commitment: 'finalized'
  })
  app.nowMs += 1_000
  t.match(await searched(t, app, `q=${EXAMPLE_SIGNATURE}`), [
    { kind: 'transaction', address: EXAMPLE_SIGNATURE, symbol: null, match: 'signature' }
  ])
  transactions.fault = { kind: 'unreachable', detail: 'gone' }
  app.nowMs += 1_000
  t.match(await app.get(`/v1/search?q=${EXAMPLE_SIGNATURE}`), {
    status: 502,
    body: { code: 'upstream_error' }
  })
})

t.test('without a node no signature is found', async (t) => {
  const app = await marketApp(t, undefined, { transactions: null })
  t.strictSame(await searched(t, app, `q=${EXAMPLE_SIGNATURE}`), [])
})

t.test('a text that is too short or too long is refused by name, and so are wrong limits', async (t) => {
  const app = await marketApp(t)
  for (const [query, detail] of [
    ['', /^q /],
    ['q=', /^q must have 2 to 100 characters/],
    ['q=a', /^q must have 2 to 100 characters/],
    ['q=%20a%20', /^q /],
    ['q=%24a', /^q /],
    ['q=%E2%80%8B%E2%80%8B', /^q /],
    [`q=${'a'.repeat(300)}`, /^q /],
    [`q=${'a'.repeat(101)}`, /^q /],
    ['q=ab&q=cd', /^q /],
    ['q=ab&limit=51', /^limit /],
    ['q=ab&limit=0', /^limit /],
    ['q=ab&offset=1', /^offset /]
  ] as const) {
    const { status, body } = await app.get(`/v1/search?${query}`)
    t.match({ status, body }, { status: 400, body: { code: 'invalid_parameter', detail } }, query)
  }
  for (const query of [
    `q=${'a'.repeat(100)}`,
    'q=%E7%8C%AB',
    'q=%F0%9F%90%B6',
    'q=%00%00a%22%5C',
    'q=.*',
    'q=%25%25'
  ])
    t.strictSame(await searched(t, app, query), [], query)
})

t.test('the answer says that names are still being read', async (t) => {
  const app = await marketApp(t)
  app.deps.names.isLoaded = false
  t.match((await app.get('/v1/search?q=usdc')).body, {
    complete: false,
    tokens_searched: 0,
    data: [{ symbol: 'USDC' }]
  })
})

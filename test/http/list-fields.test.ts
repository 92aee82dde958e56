import t from 'tap'
import { SCOPES } from '../../src/access/scopes.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import type { Endpoint } from '../../src/kernel/http/endpoint.ts'
import { pickFields } from '../../src/kernel/http/list/row-fields.ts'
import { block, buy, key, launch, NOON, POOL, sell, TOKEN } from '../market/world.ts'
import { marketApp, type MarketApp } from './market-app.ts'

const MINT = pubkeyToBase58(TOKEN)
const WALLET = pubkeyToBase58(key(60))
const PARAMS: Readonly<Record<string, string>> = {
  mint: MINT,
  pool: pubkeyToBase58(POOL),
  wallet: WALLET,
  programId: WALLET,
  id: '1'
}
const QUERIES: Readonly<Record<string, string>> = {
  '/v1/search': `q=${MINT}`,
  '/v1/trades': `from=${NOON}&to=${NOON + 100}`,
  '/v1/candles': `from=${NOON - 60}&to=${NOON + 100}`,
  '/v1/prices': `mints=${MINT}`,
  '/v1/admin/keys': 'tenant=acme'
}
/** Lists that have rows on the app of this test. The others depend on nodes, or on what tenants make. */
const WITH_ROWS = [
  '/v1/launches',
  '/v1/trades',
  '/v1/candles',
  '/v1/tokens/{mint}/trades',
  '/v1/tokens/{mint}/candles',
  '/v1/tokens/{mint}/pools',
  '/v1/pools/{pool}/trades',
  '/v1/wallets/{wallet}/trades',
  '/v1/search',
  '/v1/prices',
  '/v1/trending',
  '/v1/admin/keys',
  '/v1/admin/tenants',
  '/v1/admin/tenants/usage',
  '/v1/admin/nodes'
]

async function filledApp(t: Parameters<typeof marketApp>[0]): Promise<{ app: MarketApp; key: string }> {
  const app = await marketApp(t)
  await app.commit(
    block(300_000_001, NOON, [launch({ baseMint: TOKEN }), buy(10n ** 9n, 10n ** 9n, { user: key(60) })]),
    block(300_000_002, NOON + 70, [sell(10n ** 8n, 10n ** 8n, { user: key(60) }), buy(10n ** 9n, 10n ** 9n)])
  )
  return { app, key: await app.makeKey(SCOPES) }
}

const listsOf = ({ app }: MarketApp): readonly Endpoint[] =>
  app.served.flatMap(({ endpoint }) => (endpoint.rowFields === null ? [] : [endpoint]))

function urlOf({ path, examples }: Endpoint, more: string): string {
  const { params = {} } = examples[0] ?? {}
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => PARAMS[name] ?? params[name]!)
  const query = QUERIES[path] ?? new URLSearchParams({ ...examples[0]?.query, limit: '' }).toString()
  const kept = query
    .split('&')
    .filter((each) => each !== 'limit=')
    .concat(more === '' ? [] : [more])
  return kept.length === 0 ? filled : `${filled}?${kept.join('&')}`
}

t.test(
  'every list gives the fields that a request names, in its order, and refuses others by name',
  async (t) => {
    const { app, key } = await filledApp(t)
    await app.app.ready()
    const lists = listsOf(app)
    t.ok(lists.length >= 26, `${lists.length} lists`)
    const withRows = new Set<string>()
    for (const list of lists) {
      const known = list.rowFields!
      const ask = (more: string) => app.get(urlOf(list, more), { 'x-api-key': key })
      const whole = await ask('')
      const chosen = [known.at(-1)!, ...known.slice(0, 3)].filter((name, at, all) => all.indexOf(name) === at)
      const some = await ask(`fields=${chosen.join(',')}`)
      t.equal(some.status, whole.status, `${list.path} ${some.text.slice(0, 200)}`)
      if (whole.status === 200) {
        t.equal(
          JSON.stringify(some.body.data),
          JSON.stringify(whole.body.data.map((row) => pickFields(row, chosen))),
          list.path
        )
        if (whole.body.data.length > 0) withRows.add(list.path)
      }
      for (const [bad, named] of [
        ['no_such_field', '"no_such_field"'],
        [`${known[0]},${known[0]}`, `${known[0]} twice`],
        ['', '""'],
        ['x'.repeat(2_001), 'at most 2000 characters']
      ] as const) {
        const refused = await ask(`fields=${bad}`)
        t.equal(refused.status, 400, `${list.path} ${bad.slice(0, 20)}`)
        t.match(refused.body.detail, named, list.path)
      }
      t.match((await ask('fields=no_such_field')).body.detail, known[0])
    }
    for (const path of WITH_ROWS) t.ok(withRows.has(path), `${path} has rows here`)
  }
)

t.test('every single field of a trade is rendered as in the whole row', async (t) => {
  const { app } = await filledApp(t)
  for (const path of [
    `/v1/tokens/${MINT}/trades`,
    `/v1/wallets/${WALLET}/trades`,
    `/v1/pools/${pubkeyToBase58(POOL)}/trades`
  ]) {
    const whole = (await app.get(path)).body.data
    t.ok(whole.length >= 2)
    for (const name of Object.keys(whole[0]!))
      t.strictSame(
        (await app.get(`${path}?fields=${name}`)).body.data,
        whole.map((row) => pickFields(row, [name])),
        `${path} ${name}`
      )
  }
})

t.test('cached answers of different fields and formats are different answers', async (t) => {
  const { app } = await filledApp(t)
  const path = `/v1/tokens/${MINT}/trades`
  const headers = { 'x-api-key': app.key }
  const asked = [
    [path, {}],
    [`${path}?fields=price`, {}],
    [`${path}?fields=price,slot`, {}],
    [`${path}?fields=slot,price`, {}],
    [`${path}?format=csv`, {}],
    [`${path}?format=ndjson`, {}],
    [path, { accept: 'text/csv' }],
    [path, { accept: 'application/x-ndjson' }],
    [`${path}?format=json`, { accept: 'text/csv' }],
    [`${path}?fields=price`, { accept: 'text/csv' }]
  ] as const
  const first = []
  for (const [url, more] of asked) first.push(await app.get(url, { ...headers, ...more }))
  for (const [at, [url, more]] of [...asked.entries()].toReversed()) {
    const again = await app.get(url, { ...headers, ...more })
    t.equal(again.text, first[at]!.text, `${url} ${JSON.stringify(more)}`)
    t.equal(again.type, first[at]!.type)
    t.match(again.headers.vary, /\bAccept\b(?!-)/, 'Accept is in Vary')
    t.equal(
      (await app.get(url, { ...headers, ...more, 'if-none-match': String(again.headers.etag) })).status,
      304
    )
  }
  t.equal(first[4]!.text, first[6]!.text, 'Accept and format mean the same')
  t.equal(first[5]!.text, first[7]!.text)
  t.equal(first[8]!.text, first[0]!.text, 'format wins over Accept')
  t.equal(first[4]!.type, 'text/csv; charset=utf-8; header=present')
  t.equal(first[9]!.text.split('\r\n')[0], 'price')
  t.match((await app.get(`${path}?format=xml`, headers)).body, { status: 400, code: 'invalid_parameter' })
})

import t, { type Test } from 'tap'
import { METAPLEX_PROGRAM, metaplexAddress } from '../../src/accounts/metaplex.ts'
import type { KnownOffChain, OffChainSource } from '../../src/accounts/ports.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { METADATA_BATCH } from '../../src/accounts/bodies/metadata.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { WSOL } from '../../src/market/cash.ts'
import { extended, key, metaplexData, mintData, tokenAccountData } from './account-data.ts'
import { fakeAccounts } from './fake-account-node.ts'
import { settle } from '../virtual-time.ts'
import { marketApp } from '../http/market-app.ts'

const CLASSIC = TOKEN_PROGRAM_KEYS['spl-token']
const NEW = TOKEN_PROGRAM_KEYS['token-2022']
const text = (number: number): string => pubkeyToBase58(key(number))

async function world(t: Test) {
  const clock = { now: () => app.nowMs, setTimeout: () => undefined, clearTimeout: () => undefined }
  const accounts = fakeAccounts(clock)
  const app = await marketApp(t, undefined, { accounts })
  app.nowMs = 1_700_000_000_000
  return { app, node: accounts.node }
}

t.test('metadata states what the accounts state, and how old that is', async (t) => {
  const { app, node } = await world(t)
  const data = mintData({ supply: 2n ** 64n - 1n, decimals: 6, freezeAuthority: key(3) })
  node.put(key(1), { owner: CLASSIC, data })
  const names = { mint: key(1), name: 'Süß', symbol: 'S', uri: 'https://example.org', authority: key(4) }
  node.put(metaplexAddress(key(1)), { owner: METAPLEX_PROGRAM, data: metaplexData(names) })
  const first = await app.get(`/v1/metadata/${text(1)}`)
  t.equal(first.status, 200)
  t.match(first.body, {
    mint: text(1),
    name: 'Süß',
    symbol: 'S',
    uri: 'https://example.org',
    name_source: 'metaplex',
    decimals: 6,
    supply: 18446744073709.55,
    supply_raw: '18446744073709551615',
    mint_authority: null,
    freeze_authority: text(3),
    token_program: 'spl-token',
    extensions: [],
    transfer_fee_bps: null,
    update_authority: text(4),
    mutable: true,
    slot: 1_000,
    updated_at: '2023-11-14 22:13:20',
    age_seconds: 0
  })
  node.fault = { kind: 'unreachable', detail: 'gone' }
  app.nowMs += 60_000
  t.match((await app.get(`/v1/metadata/${text(1)}`)).body, {
    slot: 1_000,
    age_seconds: 60,
    supply_raw: '18446744073709551615'
  })
  const away = await app.get(`/v1/metadata/${text(2)}`)
  t.match(away, { status: 502, body: { code: 'upstream_error' } })
  t.ok(away.headers['retry-after'])
})

t.test('an address that is no mint is not found, with the reason', async (t) => {
  const { app, node } = await world(t)
  node.put(key(1), { owner: key(9), data: new Uint8Array(82) })
  node.put(key(2), { owner: CLASSIC, data: tokenAccountData({ mint: key(1), owner: key(2), amount: 1n }) })
  for (const [number, reason] of [
    [1, /owned by another program/],
    [2, /not a mint/],
    [3, /does not exist/]
  ] as const)
    t.match(await app.get(`/v1/metadata/${text(number)}`), {
      status: 404,
      body: { code: 'token_not_found', detail: reason }
    })
  t.match(await app.get('/v1/metadata/abc'), { status: 400, body: { code: 'invalid_address' } })
})

t.test('several mints come in the order asked, each once, with those that are none', async (t) => {
  const { app, node } = await world(t)
  const mint = (supply: bigint) => ({
    owner: NEW,
    data: extended(mintData({ supply, decimals: 0 }), 'mint', [])
  })
  for (const number of [1, 2, 3]) node.put(key(number), mint(BigInt(number)))
  const asked = [3, 9, 1, 3, 9, 2].map(text).join(',')
  const { status, body } = await app.get(`/v1/metadata?mints=${asked}`)
  t.equal(status, 200)
  t.same(
    body.data.map(({ supply_raw }) => supply_raw),
    ['3', '1', '2']
  )
  t.same(body.missing, [text(9)])
  t.equal(node.asked.length, 1)
  const many = (count: number): string => Array.from({ length: count }, (_, at) => text(at + 1)).join(',')
  t.equal((await app.get(`/v1/metadata?mints=${many(100)}`)).status, 200)
  const refused = async (query: string, code: string, detail: RegExp) =>
    t.match(
      await app.get(`/v1/metadata${query}`),
      { status: 400, body: { code, detail } },
      query.slice(0, 30)
    )
  await refused(`?mints=${many(101)}`, 'invalid_parameter', /mints .*at most 100.*101/)
  await refused(`?mints=${text(1)},x`, 'invalid_address', /mints .*index 1/)
  await refused('', 'invalid_parameter', /mints/)
  await refused('?mints=', 'invalid_address', /mints .*index 0/)
})

t.test('token accounts of a wallet are those of both programs, with or without empty ones', async (t) => {
  const { app, node } = await world(t)
  node.put(key(1), { owner: CLASSIC, data: mintData({ supply: 100n, decimals: 2 }) })
  const held = { owner: key(7), state: 1 }
  node.put(key(20), {
    owner: CLASSIC,
    data: tokenAccountData({ ...held, mint: key(1), amount: 5n, state: 2 })
  })
  node.put(key(21), {
    owner: NEW,
    data: extended(
      tokenAccountData({ ...held, mint: key(2), amount: 6n, delegate: key(5), delegatedAmount: 4n }),
      'account',
      [[7, new Uint8Array()]]
    )
  })
  node.put(key(22), { owner: CLASSIC, data: tokenAccountData({ ...held, mint: key(1), amount: 0n }) })
  const path = `/v1/wallets/${text(7)}/token-accounts`
  const { body } = await app.get(path)
  const sorted = [text(20), text(21)].toSorted()
  t.same(
    body.data.map(({ pubkey }) => pubkey),
    sorted
  )
  t.match(
    body.data.find(({ pubkey }) => pubkey === text(20)),
    {
      mint: text(1),
      owner: text(7),
      amount: 0.05,
      amount_raw: '5',
      decimals: 2,
      state: 'frozen',
      delegate: null,
      is_native: false,
      program: 'spl-token',
      extensions: []
    }
  )
  t.match(
    body.data.find(({ pubkey }) => pubkey === text(21)),
    {
      amount: null,
      decimals: null,
      amount_raw: '6',
      delegate: text(5),
      delegated_amount_raw: '4',
      program: 'token-2022',
      extensions: ['immutable_owner']
    }
  )
  t.equal((await app.get(`${path}?include_zero=true`)).body.data.length, 3)
  t.same((await app.get(`/v1/wallets/${text(8)}/token-accounts`)).body.data, [])
  t.equal((await app.get(`${path}?include_zero=1`)).body.data.length, 3, 'a flag may be a number too')
  t.match(await app.get(`${path}?include_zero=yes`), { status: 400, body: { detail: /include_zero/ } })
  node.fault = { kind: 'timeout', afterMs: 3_000 }
  app.nowMs += 2_000
  t.match(await app.get(path), { status: 504, body: { code: 'upstream_timeout' } })
})

t.test('the overview has what the accounts state once they are read, and asks no node itself', async (t) => {
  const { app, node } = await world(t)
  node.put(key(1), {
    owner: CLASSIC,
    data: mintData({ supply: 1_500_000n, decimals: 6, mintAuthority: key(2) })
  })
  const path = `/v1/tokens/${text(1)}`
  t.equal((await app.get(path)).status, 404, 'nothing is known before the account is read')
  for (let turn = 0; turn < 5; turn++) await settle()
  const { status, body } = await app.get(path)
  t.equal(status, 200)
  t.match(body, {
    supply: 1.5,
    supply_slot: 1_000,
    circulating_supply: 1.5,
    token_program: 'spl-token',
    metadata: { mint_authority: text(2), supply_raw: '1500000', slot: 1_000 }
  })
  node.gate = new Promise(() => undefined)
  app.nowMs += 60_000
  t.equal((await app.get(path)).status, 200, 'a node that hangs delays nothing')
  t.equal((await app.get(`/v1/tokens/${WSOL}/price`)).status, 200)
})

t.test(
  'a process without a node refuses routes of accounts by its lack, and serves the others',
  async (t) => {
    const app = await marketApp(t, undefined, { accounts: null })
    for (const path of [
      `/v1/metadata/${WSOL}`,
      `/v1/metadata?mints=${WSOL}`,
      `/v1/wallets/${WSOL}/token-accounts`
    ])
      t.match(await app.get(path), { status: 503, body: { code: 'not_served_here' } })
    t.equal((await app.get(`/v1/tokens/${WSOL}`)).status, 200)
  }
)

t.test(
  'the fields behind a URI are in an answer where the operator has allowed it, with a state of their own',
  async (t) => {
    const fields = { image: 'https://a.example/1.png', description: 'Text', website: null, twitter: null }
    const asked: (readonly string[])[] = []
    const offChain: OffChainSource = {
      read: async (uris) => {
        asked.push(uris)
        return uris.map((uri): KnownOffChain => {
          if (uri.endsWith('pending')) return { kind: 'pending' }
          const readAtMs = 1_700_000_000_000 - 90_000
          if (uri.endsWith('failed')) return { kind: 'failed', error: 'too_large', readAtMs }
          return { kind: 'read', fields: { ...fields, telegram: null, discord: null }, readAtMs }
        })
      }
    }
    const clock = { now: () => app.nowMs, setTimeout: () => undefined, clearTimeout: () => undefined }
    const accounts = fakeAccounts(clock, offChain)
    const app = await marketApp(t, undefined, { accounts })
    app.nowMs = 1_700_000_000_000
    for (const [number, uri] of [
      [1, 'https://a.example/read'],
      [2, 'https://a.example/pending'],
      [3, 'https://a.example/failed'],
      [4, ''],
      [5, 'https://a.example/read']
    ] as const) {
      accounts.node.put(key(number), { owner: CLASSIC, data: mintData({ supply: 1n, decimals: 6 }) })
      const names = { mint: key(number), name: 'A', symbol: 'A', uri, authority: key(9) }
      accounts.node.put(metaplexAddress(key(number)), { owner: METAPLEX_PROGRAM, data: metaplexData(names) })
    }
    const { body } = await app.get(`/v1/metadata?mints=${[1, 2, 3, 4, 5].map(text).join(',')}`)
    t.equal(METADATA_BATCH.safeParse(body).error, undefined)
    const read = { state: 'read', error: null, ...fields, updated_at: '2023-11-14 22:11:50', age_seconds: 90 }
    t.match(
      body.data.map(({ off_chain }) => off_chain),
      [
        read,
        { state: 'pending', image: null, updated_at: null, age_seconds: null },
        { state: 'failed', error: 'too_large', image: null, age_seconds: 90 },
        { state: 'none', error: null, image: null, age_seconds: null },
        read
      ]
    )
    t.strictSame(asked, [['read', 'pending', 'failed'].map((state) => `https://a.example/${state}`)])
    t.match((await app.get(`/v1/metadata/${text(1)}`)).body, { off_chain: read })
    t.match((await app.get(`/v1/tokens/${text(1)}`)).body, { metadata: { off_chain: null } })
  }
)

t.test('without the word of the operator nothing is fetched', async (t) => {
  const { app, node } = await world(t)
  node.put(key(1), { owner: CLASSIC, data: mintData({ supply: 1n, decimals: 6 }) })
  t.strictSame((await app.get(`/v1/metadata/${text(1)}`)).body['off_chain'], null)
})

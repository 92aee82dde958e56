import t, { type Test } from 'tap'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import {
  holderMintsIn,
  HOLDER_MINTS_PARTITION,
  NO_LIST,
  holderProgressIn,
  type HolderListState
} from '../../src/holders/holder-mint.ts'
import { wholeList } from '../../src/holders/list-rows.ts'
import { POLL_MS } from '../../src/holders/routes/first-reading.ts'
import { LIST_DEADLINE_MS, LIST_WAIT_MS } from '../../src/holders/routes/holders.ts'
import { ANSWER_MS } from '../../src/accounts/routes/account-services.ts'
import { WSOL } from '../../src/market/cash.ts'
import { isOnCurve, programAddress } from '../../src/signing/program-address.ts'
import { extended, key, mintData, tokenAccountData } from '../accounts/account-data.ts'
import { fakeAccounts } from '../accounts/fake-account-node.ts'
import { WORK_PRICES } from '../../src/kernel/work/work-units.ts'
import { until } from '../until.ts'
import { marketApp } from '../http/market-app.ts'

const CLASSIC = TOKEN_PROGRAM_KEYS['spl-token']
const MINT = key(1)
/** An address of a number above 255. */
function id(number: number): Pubkey {
  const address = key(7)
  new DataView(address.buffer).setUint16(0, number)
  return address
}

const PATH = `/v1/tokens/${pubkeyToBase58(MINT)}/holders`

async function world(t: Test) {
  const accounts = fakeAccounts()
  // The wait for an unread list fails, and a list that is being read is awaited as long as the read takes.
  const wait = { ms: 100 }
  const timerMs = (ms: number): number =>
    ms === LIST_WAIT_MS ? wait.ms : ms === LIST_DEADLINE_MS ? wait.ms + 60_000 : ms === POLL_MS ? 5 : ms
  const app = await marketApp(t, undefined, { accounts, timerMs })
  const { node } = accounts
  node.put(MINT, { owner: CLASSIC, data: mintData({ supply: 1_000n, decimals: 1 }) })
  const { documents, holders } = app.storage
  const { save: progress } = await holderProgressIn(documents).claim(1)
  const put = async (state: Partial<HolderListState>): Promise<void> => {
    const stored = await holderMintsIn(documents).get(HOLDER_MINTS_PARTITION, [pubkeyToBase58(MINT)])
    await holderMintsIn(documents).putHot(stored!, 1, { ...NO_LIST, ...state })
  }
  /** Stores a list at slot 10: owner n has n accounts of 10 n base units each, and the burn address 100. */
  const fill = async (): Promise<void> => {
    const balances = Array.from({ length: 5 }, (_, i) => i + 1).flatMap((n) =>
      Array.from({ length: n }, (_, at): readonly [Pubkey, { owner: Pubkey; amount: bigint }] => [
        key(100 + n * 10 + at),
        { owner: key(10 + n), amount: BigInt(n) * 10n }
      ])
    )
    balances.push([key(99), { owner: new Uint8Array(32), amount: 100n }])
    for (const rows of wholeList(balances, 10, 7)) await holders.put({ mint: MINT, reading: 1 }, rows)
    await progress({ slot: 10, oldestSlot: 10, atMs: Date.now(), rollbacks: 0 })
    await put({ state: 'live', reading: 1, fromSlot: 10, accounts: 16 })
  }
  return { app, node, put, fill, progress, wait }
}

t.test('a list is begun by the first ask, and served without the node from then on', async (t) => {
  const { app, node, put, fill } = await world(t)
  node.fault = { kind: 'unreachable', detail: 'gone' }
  t.match(await app.get(PATH), { status: 502, body: { code: 'upstream_error' } })
  node.fault = null
  const loading = await app.get(PATH)
  t.match(loading, { status: 503, body: { code: 'index_loading' } })
  t.ok(loading.headers['retry-after'])
  await put({ fault: 'the node does not answer' })
  t.match(await app.get(PATH), { status: 502, body: { code: 'upstream_error' } })
  await fill()
  const { calls } = node
  node.fault = { kind: 'unreachable', detail: 'gone' }
  const { status, body } = await app.get(`${PATH}?limit=2`)
  t.equal(status, 200)
  t.match(body, {
    decimals: 1,
    supply: 65,
    supply_raw: '650',
    supply_slot: 10,
    held: 65,
    held_raw: '650',
    holders_count: 6,
    token_accounts_count: 16,
    slot: 10,
    stale_reason: null,
    data: [
      {
        rank: 1,
        owner: pubkeyToBase58(key(15)),
        amount: 25,
        amount_raw: '250',
        token_accounts: 5,
        is_burn: false
      },
      { rank: 2, owner: pubkeyToBase58(key(14)), amount_raw: '160', token_accounts: 4 }
    ]
  })
  const found = body as unknown as {
    concentration: Record<string, number> & { adjusted: Record<string, number> }
  }
  const { concentration } = found
  const close = (actual: number, expected: number, what: string): void =>
    void t.ok(Math.abs(actual - expected) < 1e-9, `${what}: ${actual}, expected ${expected}`)
  const amounts = [250, 160, 100, 90, 40, 10]
  close(concentration['top1_pct']!, (250 / 650) * 100, 'top 1')
  close(concentration['top5_pct']!, (640 / 650) * 100, 'top 5')
  close(concentration['top100_pct']!, 100, 'top 100')
  close(
    concentration['hhi']!,
    amounts.reduce((sum, each) => sum + (each / 650) ** 2, 0),
    'hhi'
  )
  const pairs = amounts.flatMap((a) => amounts.map((b) => Math.abs(a - b)))
  close(concentration['gini']!, pairs.reduce((sum, each) => sum + each, 0) / (2 * 36 * (650 / 6)), 'gini')
  close(concentration.adjusted['excluded_pct']!, (100 / 650) * 100, 'excluded')
  close(
    concentration.adjusted['hhi']!,
    [250, 160, 90, 40, 10].reduce((sum, each) => sum + (each / 550) ** 2, 0),
    'adjusted'
  )
  t.equal(node.calls, calls, 'no call of the node')
  t.match((await app.get(`/v1/tokens/${pubkeyToBase58(MINT)}`)).body, {
    holders: { count: 6, top10_pct: 100, top10_adjusted_pct: 100 }
  })
})

t.test('the first ask waits for its list, and a refusal says how far it is', async (t) => {
  const { app, put, fill, wait } = await world(t)
  const told = async (): Promise<string> => {
    const { status, body } = await app.get(PATH)
    t.strictSame([status, body.code], [503, 'index_loading'])
    return body.detail
  }
  t.match(await told(), /other lists are read before it$/)
  await put({ begun: 1 })
  t.match(await told(), /the node has not answered yet$/)
  await put({ begun: 1, accounts: 7_000 })
  t.match(await told(), /7000 accounts are stored so far$/)
  await put({ begun: 1, accounts: 9_000, fromSlot: 12, state: 'live' })
  t.match(await told(), /its 9000 accounts are stored, and the index has yet to reach slot 12$/)
  wait.ms = 300_000
  const waiting = app.get(PATH)
  await fill()
  t.match(await waiting, { status: 200, body: { slot: 10, holders_count: 6 } })
})

t.test('pages follow each other at one slot, by owner and by account', async (t) => {
  const { app, put, fill, progress } = await world(t)
  await holderMintsIn(app.storage.documents).insert({
    mint: pubkeyToBase58(MINT),
    decimals: 1,
    tokenProgram: 'spl-token',
    askedAtMs: Date.now()
  })
  await fill()
  for (const by of ['owner', 'token_account']) {
    const whole = (await app.get(`${PATH}?by=${by}`)).body.data
    const paged: unknown[] = []
    for (let next: string | null = ''; next !== null;) {
      const page = await app.get(`${PATH}?by=${by}&limit=4${next === '' ? '' : `&after=${next}`}`)
      paged.push(...page.body.data)
      next = page.body.nextCursor
    }
    t.strictSame(paged, whole, by)
    t.strictSame((await app.get(`${PATH}?by=${by}&offset=3&limit=2`)).body.data, whole.slice(3, 5))
  }
  t.strictSame((await app.get(`${PATH}?min_pct=16`)).body.data.length, 2)
  t.strictSame((await app.get(`${PATH}?offset=50`)).body.data, [], 'past the end')
  const first = (await app.get(`${PATH}?limit=2`)).body
  await progress({ slot: 12, oldestSlot: 10, atMs: Date.now(), rollbacks: 0 })
  const second = `${PATH}?limit=2&after=${first.nextCursor}`
  t.match(await app.get(second), { status: 200, body: { slot: 10, data: [{ rank: 3 }, { rank: 4 }] } })
  t.match(await app.get(`${second}&by=token_account`), { status: 400, body: { code: 'invalid_cursor' } })
  await progress({ slot: 12, oldestSlot: 11, atMs: Date.now(), rollbacks: 0 })
  t.match(await app.get(second), { status: 410, body: { code: 'cursor_expired' } })
  await put({ state: 'stale', reading: 1, fromSlot: 10, slot: 12, reason: 'blocks are missing' })
  t.match((await app.get(PATH)).body, { slot: 12, stale_reason: 'blocks are missing' })
})

t.test('what is no token has no holders, and bad parameters are named', async (t) => {
  const { app, node } = await world(t)
  node.put(key(78), { owner: key(9), data: new Uint8Array(82) })
  node.put(key(79), { owner: CLASSIC, data: tokenAccountData({ mint: MINT, owner: key(2), amount: 1n }) })
  for (const [number, what] of [
    [77, 'no account'],
    [78, 'an account of another program'],
    [79, 'a token account']
  ] as const) {
    const none = await app.get(`/v1/tokens/${pubkeyToBase58(key(number))}/holders`)
    const body = { holders_count: 0, decimals: null, concentration: null, data: [] }
    t.match(none, { status: 200, body }, what)
  }
  for (const [query, field] of [
    ['limit=101', 'limit'],
    ['limit=0', 'limit'],
    ['offset=9990&limit=100', 'offset'],
    ['min_pct=101', 'min_pct'],
    ['min_pct=x', 'min_pct'],
    ['by=mint', 'by']
  ] as const)
    t.match(
      await app.get(`${PATH}?${query}`),
      { status: 400, body: { code: 'invalid_parameter', detail: new RegExp(field) } },
      query
    )
  t.match(await app.get('/v1/tokens/x/holders'), { status: 400, body: { code: 'invalid_address' } })
  t.match(await app.get(`${PATH}?after=AAAA`), { status: 400, body: { code: 'invalid_cursor' } })
})

t.test('holdings are those of the first page on all pages, the most valuable one first', async (t) => {
  const { app, node } = await world(t)
  const wallet = key(50)
  const path = `/v1/wallets/${pubkeyToBase58(wallet)}/holdings`
  t.match((await app.get(path)).body, { total_value_usd: 0, data: [], nextCursor: null })
  node.put(wallet, { owner: new Uint8Array(32), data: new Uint8Array(), lamports: 2_500_000_000n })
  for (let n = 0; n < 320; n++) {
    const mint = id(200 + n)
    node.put(mint, { owner: CLASSIC, data: mintData({ supply: 12_000n, decimals: 2 }) })
    node.put(id(1_500 + n), { owner: CLASSIC, data: tokenAccountData({ mint, owner: wallet, amount: 100n }) })
  }
  const second = extended(tokenAccountData({ mint: id(200), owner: wallet, amount: 7n }), 'account', [])
  node.put(id(900), { owner: TOKEN_PROGRAM_KEYS['token-2022'], data: second })
  const first = (await app.get(`${path}?limit=50`)).body
  t.match(first, { holdings_count: 321, total_value_usd: 0, unvalued_holdings: 321, slot: 1_000 })
  t.match(first.data[0], { mint: WSOL, is_native: true, amount: 2.5, token_program: null })
  node.put(id(901), { owner: CLASSIC, data: tokenAccountData({ mint: MINT, owner: wallet, amount: 9n }) })
  node.fault = { kind: 'unreachable', detail: 'gone' }
  const mints = first.data.map((each) => each['mint'])
  for (let next = first.nextCursor; next !== null;) {
    const { body } = await app.get(`${path}?limit=47&after=${next}`)
    t.equal(body.unvalued_holdings, 321)
    mints.push(...body.data.map((each) => each['mint']))
    next = body.nextCursor
  }
  t.equal(mints.length, 321)
  t.equal(new Set(mints).size, 321)
  t.strictSame(mints.slice(1), mints.slice(1).toSorted(), 'without prices by mint')
  t.equal((await app.get(`${path}?limit=50`)).body.nextCursor, first.nextCursor, 'repeated for a second')
  app.nowMs += ANSWER_MS
  t.match(await app.get(`${path}?limit=50`), { status: 502, body: { code: 'upstream_error' } })
  const cursor = first.nextCursor!
  t.match(await app.get(`${path}?show_native=false&after=${cursor}`), { status: 400 })
  t.match(await app.get(`${path}?limit=51`), { status: 400, body: { detail: /limit/ } })
})

t.test('a wallet off the curve is one like others, and one without anything is empty', async (t) => {
  const { app, node } = await world(t)
  const vault = programAddress(['vault'], CLASSIC)
  t.notOk(isOnCurve(vault))
  const path = `/v1/wallets/${pubkeyToBase58(vault)}`
  t.match((await app.get(`${path}/token-accounts`)).body, { data: [], nextCursor: null })
  t.match((await app.get(`${path}/holdings?show_native=false`)).body, { holdings_count: 0, data: [] })
  node.put(key(60), { owner: CLASSIC, data: tokenAccountData({ mint: MINT, owner: vault, amount: 5n }) })
  const held = { mint: pubkeyToBase58(MINT), amount: 0.5, amount_raw: '5', value_usd: null }
  t.match((await app.get(`${path}/holdings`)).body, { holdings_count: 1, data: [held] })
  app.nowMs += ANSWER_MS
  t.match((await app.get(`${path}/token-accounts`)).body.data, [{ owner: pubkeyToBase58(vault) }])
})

t.test('the request that has a list read pays for its accounts, even if it is answered before', async (t) => {
  const { app, fill } = await world(t)
  const [first, second] = [await app.makeKey(['data:read']), await app.makeKey(['data:read'])]
  const read = (by: string) => app.get(PATH, { 'x-api-key': by })
  const used = (by: string): number => {
    const { workNames, workPerMinute } = app.keys.find(by)!
    return workPerMinute - app.deps.limits.work.look(workNames.key, workPerMinute, app.nowMs).left
  }
  t.match(await read(first), { status: 503, body: { code: 'index_loading' } })
  t.equal((await read(second)).status, 503)
  const before = used(first)
  await fill()
  await until(() => used(first) >= before + 16 * WORK_PRICES.holder)
  const answer = await read(second)
  t.equal(answer.status, 200)
  t.ok(Number(answer.headers['x-work-units']) < 16 * WORK_PRICES.holder, 'later ones pay for their rows')
})

t.test('an answer that has waited for its list states what the list cost', async (t) => {
  const { app, fill, wait } = await world(t)
  wait.ms = 60_000
  const answer = app.get(PATH)
  const asked = holderMintsIn(app.storage.documents)
  await until(async () => (await asked.get(HOLDER_MINTS_PARTITION, [pubkeyToBase58(MINT)])) !== null)
  await fill()
  const { status, headers } = await answer
  t.equal(status, 200)
  t.ok(Number(headers['x-work-units']) >= 16 * WORK_PRICES.holder)
})

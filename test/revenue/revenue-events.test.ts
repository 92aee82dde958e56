import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { USDC } from '../../src/market/cash.ts'
import type { LedgerEntry } from '../../src/revenue/ledger-entry.ts'
import { block, key, NOON } from '../market/world.ts'
import type { Row } from '../http/market-app.ts'
import {
  ALICE,
  BOB,
  CAROL,
  entry,
  GRAIN,
  revenueClient,
  signatureOf,
  type LedgerBlock,
  type RevenueClient
} from './revenue-client.ts'
import { randomRuns } from '../random-runs.ts'

const PATH = '/v1/revenue/events'

/** Returns all rows of a query, paged with a limit. */
async function walk(app: RevenueClient, query: string, limit: number): Promise<Row[]> {
  const rows: Row[] = []
  for (let after: string | null = null; ;) {
    const joint = query === '' ? '' : `${query}&`
    const next: string = after === null ? '' : `&after=${after}`
    const { status, body, text } = await app.send('GET', `${PATH}?${joint}limit=${limit}${next}`)
    if (status !== 200) throw new Error(text)
    rows.push(...body.data)
    if (body.data.length < limit && body.nextCursor !== null) throw new Error('a page is short')
    if (body.nextCursor === null) return rows
    after = body.nextCursor
  }
}

const idsOf = (rows: readonly Row[]): unknown[] => rows.map(({ id }) => id)

/** Returns the entries of a block: each in its own transaction, with a signature of the slot. */
function entriesOf(slot: number, count: number, fields: Partial<LedgerEntry> = {}): LedgerEntry[] {
  return Array.from({ length: count }, (_, n) =>
    entry({ signature: signatureOf(slot * 1_000 + n), txIndex: n, ...fields })
  )
}

/** Watches three addresses whose ledgers have several rows in common blocks, transactions and pieces. */
async function filled(t: Test): Promise<RevenueClient> {
  const app = await revenueClient(t)
  const slots = [10, 11, 20, 30, 31, 32, 33, 34, 35, 36, 37, 38]
  for (const address of [ALICE, BOB, CAROL]) await app.watch(address, 1, { label: `L${address}` })
  await app.ledger(
    ALICE,
    slots.map((slot) => ({ slot, entries: entriesOf(slot, 3, { account: ALICE }) }))
  )
  await app.ledger(BOB, [
    { slot: 11, entries: entriesOf(11, 95, { account: BOB }) },
    { slot: 33, entries: entriesOf(33, 2, { account: BOB }) }
  ])
  await app.ledger(CAROL, [
    {
      slot: 20,
      entries: [entry({ account: CAROL }), entry({ account: GRAIN, index: 1, isNative: false })]
    }
  ])
  await app.blocks(...slots)
  return app
}

t.test('a row of the ledger has its change, its cause and its address', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE, 1, { label: 'Fees', role: 'fee_wallet' })
  const token = {
    mint: USDC,
    account: CAROL,
    isNative: false,
    decimals: 6,
    pre: 9_000_000n,
    post: 1n,
    index: 1
  }
  await app.ledger(ALICE, [
    {
      slot: 7,
      entries: [
        entry({ feeUsd: 0.00075, feePayer: ALICE }),
        entry({
          ...token,
          kind: 'other',
          counterparty: null,
          confidence: 'none',
          ixIndex: null,
          valueUsd: null
        })
      ]
    }
  ])
  const { status, body } = await app.send('GET', PATH)
  t.equal(status, 200)
  const cursors = body.data.map(({ cursor }) => cursor)
  const common = {
    address: ALICE,
    label: 'Fees',
    role: 'fee_wallet',
    fee_lamports: 5_000,
    signature: signatureOf(1),
    slot: 7,
    ts: '2026-08-24 12:00:07',
    ts_ms: (NOON + 7) * 1_000
  }
  t.strictSame(body, {
    tenant: 'acme',
    data: [
      {
        id: `${signatureOf(1)}:${ALICE}:${CAROL}:${USDC}`,
        cursor: cursors[0],
        ...common,
        account: CAROL,
        is_native: false,
        mint: USDC,
        symbol: 'USDC',
        decimals: 6,
        delta: -8.999999,
        delta_raw: '-8999999',
        pre_raw: '9000000',
        post_raw: '1',
        value_usd: null,
        direction: 'out',
        kind: 'other',
        fee_payer: BOB,
        attributed_fee_usd: null,
        counterparty: null,
        counterparty_confidence: 'none',
        ix_index: null
      },
      {
        id: `${signatureOf(1)}:${ALICE}:${ALICE}`,
        cursor: cursors[1],
        ...common,
        account: ALICE,
        is_native: true,
        mint: 'So11111111111111111111111111111111111111112',
        symbol: 'SOL',
        decimals: 9,
        delta: 1,
        delta_raw: '1000000000',
        pre_raw: '5000000000',
        post_raw: '6000000000',
        value_usd: 150,
        direction: 'in',
        kind: 'transfer',
        fee_payer: ALICE,
        attributed_fee_usd: 0.00075,
        counterparty: BOB,
        counterparty_confidence: 'exact',
        ix_index: 0
      }
    ],
    nextCursor: null,
    complete_to: null
  })
  t.not(cursors[0], cursors[1])
})

t.test('pages of any size have every row once, in both orders', async (t) => {
  const app = await filled(t)
  const newest = await walk(app, '', 1_000)
  t.equal(newest.length, 36 + 97 + 2)
  t.equal(new Set(idsOf(newest)).size, newest.length)
  const places = newest.map(({ slot, signature }) => [slot, signature])
  t.same(
    places.map(([slot]) => slot),
    places.map(([slot]) => slot as number).toSorted((a, b) => b - a)
  )
  for (const limit of [1, 2, 7, 40, 134, 135, 136]) {
    t.strictSame(await walk(app, '', limit), newest, `desc ${limit}`)
    t.strictSame(await walk(app, 'order=asc', limit), newest.toReversed(), `asc ${limit}`)
  }
  t.equal((await app.send('GET', PATH)).body.data.length, 100, 'a hundred by default')
})

t.test('the cursor of a row continues behind it in either order', async (t) => {
  const app = await filled(t)
  const newest = await walk(app, '', 1_000)
  for (const at of [0, 1, 50, 98, newest.length - 1]) {
    const after = `after=${newest[at]!.cursor}&limit=1000`
    const older = await app.send('GET', `${PATH}?${after}`)
    t.strictSame(older.body.data, newest.slice(at + 1))
    const newer = await app.send('GET', `${PATH}?${after}&order=asc`)
    t.strictSame(newer.body.data, newest.slice(0, at).toReversed())
    t.equal(newer.body.nextCursor, null)
  }
  await app.ledger(CAROL, [{ slot: 40, entries: entriesOf(40, 1) }])
  const { body } = await app.send('GET', `${PATH}?order=asc&after=${newest[0]!.cursor}`)
  t.match(body.data, [{ slot: 40, address: CAROL }], 'a row that came since')
})

t.test('filters select by address and block time, and pages of them are full', async (t) => {
  const app = await filled(t)
  const all = await walk(app, '', 1_000)
  const cases: [query: string, matches: (row: Row) => boolean][] = [
    [`address=${BOB}`, ({ address }) => address === BOB],
    [`from=${NOON + 20}`, ({ slot }) => Number(slot) >= 20],
    [`to=${NOON + 20}`, ({ slot }) => Number(slot) < 20],
    [`from=${NOON + 11}&to=${NOON + 12}`, ({ slot }) => slot === 11],
    [`from=2026-08-24T12:00:31Z&to=${NOON + 34}`, ({ slot }) => Number(slot) >= 31 && Number(slot) < 34],
    [`from=${NOON + 33}&address=${BOB}`, ({ slot, address }) => address === BOB && slot === 33],
    [`from=${NOON + 39}`, () => false],
    [`from=${NOON + 100}`, () => false],
    [`to=${NOON}`, () => false],
    ['to=5', () => false],
    [`from=${NOON + 12}&to=${NOON + 20}`, () => false]
  ]
  for (const [query, matches] of cases) {
    const expected = all.filter(matches)
    for (const limit of [1, 3, 1_000])
      t.strictSame(await walk(app, query, limit), expected, `${query}, ${limit}`)
    t.strictSame(await walk(app, `${query}&order=asc`, 4), expected.toReversed(), query)
  }
})

t.test('a row is found by its own time where block times fall from slot to slot', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE)
  const times = [100, 102, 101, 103, 102, 104]
  await app.ledger(
    ALICE,
    times.map((time, n) => ({ slot: 10 + n, blockTime: NOON + time, entries: entriesOf(n, 1) }))
  )
  await app.commit(...times.map((time, n) => block(10 + n, NOON + time, [])))
  const slots = async (query: string) => (await walk(app, `${query}&order=asc`, 1)).map(({ slot }) => slot)
  t.same(await slots(`from=${NOON + 102}`), [11, 13, 14, 15])
  t.same(await slots(`to=${NOON + 102}`), [10, 12])
  t.same(await slots(`from=${NOON + 102}&to=${NOON + 103}`), [11, 14])
})

t.test('any ledger is paged without loss, and its deltas sum up to its balances', async (t) => {
  const app = await revenueClient(t)
  let run = 0
  const change = fc.record({ account: fc.constantFrom(ALICE, GRAIN), amount: fc.bigInt(0n, 10n ** 12n) })
  const blocks = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 5 }), fc.array(change, { minLength: 1, maxLength: 90 })),
    {
      minLength: 1,
      maxLength: 8
    }
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(blocks, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 60 }),
      async (ledgers, limit) => {
        const tenant = `t${run++}`
        await app.keys.createTenant(tenant, 1)
        const send = await app.as({ tenant })
        const own: RevenueClient = { ...app, send }
        const addresses = ledgers.map((_, n) => pubkeyToBase58(key(100_000 + 10 * run + n)))
        for (const [n, ledger] of ledgers.entries()) {
          await app.ledger(addresses[n]!, ledgerOf(ledger))
          await app.watch(addresses[n]!, null, {}, send)
        }
        t.strictSame((await walk(own, '', 1)).length, 0, 'nothing before the start')
        for (const address of addresses) await app.begin(tenant, address, 1)
        const all = await walk(own, '', 1_000)
        const count = ledgers.flatMap((ledger) => ledger.flatMap(([, changes]) => changes)).length
        t.equal(all.length, count)
        t.strictSame(await walk(own, '', limit), all)
        const ascending = await walk(own, 'order=asc', limit)
        t.strictSame(ascending, all.toReversed())
        for (const address of addresses) {
          for (const account of [ALICE, GRAIN]) {
            const rows = ascending.filter((row) => row.address === address && row.account === account)
            const sum = rows.reduce((total, row) => total + BigInt(String(row.delta_raw)), 0n)
            const [first, last] = [rows[0], rows.at(-1)]
            if (first !== undefined)
              t.equal(sum, BigInt(String(last!.post_raw)) - BigInt(String(first.pre_raw)))
          }
        }
      }
    ),
    randomRuns(12)
  )
})

/** Returns blocks whose entries continue the balances of their accounts. */
function ledgerOf(
  blocks: readonly (readonly [number, readonly { readonly account: string; readonly amount: bigint }[]])[]
): LedgerBlock[] {
  const balances = new Map<string, bigint>()
  let slot = 0
  let n = 0
  return blocks.map(([distance, changes]) => {
    slot += distance
    const entries = changes.map(({ account, amount: post }, txIndex) => {
      const pre = balances.get(account) ?? 0n
      balances.set(account, post)
      return entry({ signature: signatureOf(n++), txIndex, account, isNative: account === ALICE, pre, post })
    })
    return { slot, entries }
  })
}

t.test('rows before the start of an address are not shown, and rows of another tenant neither', async (t) => {
  const app = await revenueClient(t)
  await app.keys.createTenant('rival', 1)
  const rival = await app.as({ tenant: 'rival' })
  await app.watch(ALICE, 20)
  await app.ledger(
    ALICE,
    [10, 20, 30].map((slot) => ({ slot, entries: entriesOf(slot, 1) }))
  )
  const slots = async (send = app.send) => (await send('GET', PATH)).body.data.map(({ slot }) => slot)
  t.same(await slots(), [30, 20])
  t.same(await slots(rival), [])
  t.match(await rival('GET', `${PATH}?address=${ALICE}`), { status: 404, body: { code: 'watch_not_found' } })
  await app.watch(ALICE, 30, { label: 'Theirs' }, rival)
  t.match((await rival('GET', PATH)).body.data, [{ slot: 30, label: 'Theirs' }])
  const { body } = await app.send('GET', `${PATH}?limit=1`)
  t.match(await rival('GET', `${PATH}?after=${body.nextCursor}`), {
    status: 400,
    body: { code: 'invalid_cursor' }
  })
  await app.watch(BOB, null)
  await app.ledger(BOB, [{ slot: 40, entries: entriesOf(40, 1) }])
  t.same(await slots(), [30, 20], 'an address that has not begun has no rows')
  await app.send('DELETE', `/v1/revenue/accounts/${ALICE}`)
  t.same(await slots(), [])
})

/** Returns a cursor with a valid checksum, of any text. */
function forged(list: string, text: string): string {
  const sum = (bytes: Uint8Array | string) => {
    const four = Buffer.alloc(4)
    four.writeUInt32BE(crc32(bytes))
    return four
  }
  const body = Buffer.concat([Buffer.of(3), sum(list), Buffer.from(text)])
  return Buffer.concat([body, sum(body)]).toString('base64url')
}

t.test('a forged cursor is refused unless it names a place', async (t) => {
  const app = await filled(t)
  const place = (...words: unknown[]): string => JSON.stringify(words)
  const after = (text: string) => app.send('GET', `${PATH}?after=${forged('revenue:acme', text)}`)
  t.match(await after(place('33', '1', '0', ALICE)), { status: 200 })
  for (const text of [
    ...['', '{', 'null', '7', '{}', '[]', '["33"]'],
    place('33', '1', ALICE),
    place('33', '1', 'x', ALICE),
    place('33', '1.5', '0', ALICE),
    place('-1', '1', '0', ALICE),
    place('1e99', '1', '0', ALICE),
    place(33, 1, 0, ALICE),
    place('33', '1', '0', null),
    place('33', '1', '0', '0', ALICE)
  ])
    t.match(await after(text), { status: 400, body: { code: 'invalid_cursor' } }, text)
})

t.test('a bad parameter is refused with its name', async (t) => {
  const app = await filled(t)
  const { nextCursor } = (await app.send('GET', `${PATH}?limit=1`)).body
  const altered = `${nextCursor!.slice(0, -6)}AAAAAA`
  const cases: [query: string, code: string, detail: RegExp][] = [
    ...['0', '1001', '-1', 'x', ''].map(
      (limit) =>
        [`limit=${limit}`, 'invalid_parameter', /^limit must be .* 1 and 1000/] as [string, string, RegExp]
    ),
    ['order=up', 'invalid_parameter', /^order must be one of desc, asc/],
    ['address=x', 'invalid_address', /^address must be a base58/],
    ['from=noon', 'invalid_parameter', /^from must be a time/],
    ['to=2026-02-30', 'invalid_parameter', /^to must be a time/],
    ['from=20&to=20', 'invalid_parameter', /^from must be before to/],
    ['after=x', 'invalid_cursor', /^after is not a cursor of this list/],
    [`after=${altered}`, 'invalid_cursor', /^after /],
    ['after=', 'invalid_cursor', /^after /],
    ['window=60', 'invalid_parameter', /^window is not a parameter/],
    ['limit=1&limit=2', 'invalid_parameter', /^limit must be given once/]
  ]
  for (const [query, code, detail] of cases)
    t.match(await app.send('GET', `${PATH}?${query}`), { status: 400, body: { code, detail } }, query)
  t.match(await app.send('GET', `${PATH}?address=${GRAIN}`), { status: 404 })
})

t.test('rows are filtered by mint, kind and role, and exported as a table', async (t) => {
  const app = await revenueClient(t)
  for (const [address, role] of [
    [ALICE, 'treasury'],
    [BOB, 'fee_wallet']
  ] as const)
    await app.watch(address, 1, { role })
  const kinds = ['fee', 'swap', 'transfer'] as const
  for (const address of [ALICE, BOB])
    await app.ledger(
      address,
      Array.from({ length: 40 }, (_, at) => ({
        slot: 10 + at,
        entries: entriesOf(10 + at, 100, {
          account: address,
          kind: kinds[at % 3]!,
          ...(at % 2 === 0 ? { mint: USDC, isNative: false } : {})
        })
      }))
    )
  await app.blocks(...Array.from({ length: 40 }, (_, at) => 10 + at))
  await app.endAt(49)
  const all = await walk(app, '', 1000)
  t.equal(all.length, 8_000)
  for (const [query, matches] of [
    ['kind=fee', ({ kind }: Row) => kind === 'fee'],
    [`mint=${USDC}`, ({ mint }: Row) => mint === USDC],
    [`mint=${USDC}&kind=swap`, ({ mint, kind }: Row) => mint === USDC && kind === 'swap'],
    ['role=treasury', ({ role }: Row) => role === 'treasury'],
    ['role=treasury&kind=reward', () => false],
    ['role=none', () => false]
  ] as const) {
    const found: Row[] = []
    for (let after = ''; ;) {
      const { status, body } = await app.send('GET', `${PATH}?${query}&limit=700${after}`)
      t.equal(status, 200)
      found.push(...body.data)
      if (body.nextCursor === null) break
      after = `&after=${body.nextCursor}`
    }
    t.strictSame(idsOf(found), idsOf(all.filter(matches)), query)
    const table = await app.get(`${PATH}?${query}&from=0&to=${NOON + 100}&format=ndjson&order=asc`, {
      'x-api-key': await app.makeKey(['revenue'])
    })
    const lines = table.text.split('\n').slice(0, -1)
    t.strictSame(
      lines.map((line) => JSON.parse(line) as unknown),
      all.filter(matches).toReversed(),
      `${query} exported, oldest first`
    )
  }
  for (const bad of ['kind=none', 'mint=x', 'role=Treasury'])
    t.equal((await app.send('GET', `${PATH}?${bad}`)).status, 400, bad)
})

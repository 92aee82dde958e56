import t, { type Test } from 'tap'
import { BACKFILL_JOB, newJob, type BackfillJob } from '../../src/revenue/backfill-document.ts'
import type { WatchHistory } from '../../src/revenue/watch-history.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import { Documents } from '../../storage/documents.ts'
import { NOON } from '../market/world.ts'
import { packArchive, putEarlierArchive } from './earlier-archive.ts'
import { ALICE, BOB, entry, revenueClient, signatureOf, type RevenueClient } from './revenue-client.ts'

const ACCOUNTS = '/v1/revenue/accounts'
const COVERAGE = '/v1/revenue/coverage'
const EVENTS = '/v1/revenue/events'
const OWNER = { tenant: 'acme', address: ALICE }

/** Archives rows of Alice at some slots, and their sums; as pages, or as documents of an earlier version. */
async function archive(
  app: RevenueClient,
  slots: readonly number[],
  history: Partial<WatchHistory>,
  isPaged = true
) {
  const parts = slots.map((slot) => ({
    slot,
    blockTime: NOON + slot,
    entries: [entry({ signature: signatureOf(slot), txIndex: slot % 3 })]
  }))
  const registry = new WatchedAddresses(app.storage.documents)
  const watched = await registry.get('acme', ALICE)
  const archived = history.archived ?? watched.history!.archived
  const generation = (watched.history?.generation ?? 0) + 1
  if (isPaged) await packArchive(app.storage, OWNER, parts, archived)
  else await putEarlierArchive(app.storage.documents, OWNER, parts, generation)
  await registry.changeHistory(watched, (now) => ({ ...now, ...history, generation, isPaged }))
}

/** Stores the checkpoint of Alice's request. */
async function putJob(app: RevenueClient, fields: Partial<BackfillJob>): Promise<void> {
  const { history } = await new WatchedAddresses(app.storage.documents).get('acme', ALICE)
  const jobs = new Documents(app.storage.documents, BACKFILL_JOB)
  const job = { ...newJob(OWNER, history!.requestedAtMs), ...fields }
  const outcome = await jobs.insert(job)
  if (outcome.ok) return
  const all = await jobs.all((await import('../../src/access/tenant-shard.ts')).tenantShard('acme'))
  await jobs.change(all[0]!, () => job)
}

/** Returns the first watched address of an answer. */
const first = (body: Record<string, unknown>, list: string): Record<string, unknown> =>
  (body[list] as Record<string, unknown>[])[0]!

t.test('a watch takes the start of its ledger as a slot, unix seconds or a time', async (t) => {
  const app = await revenueClient(t)
  const sinceOf = async (since: unknown) => {
    const { status } = await app.send('POST', ACCOUNTS, { address: ALICE, since })
    t.ok(status < 300, JSON.stringify(since))
    return (await new WatchedAddresses(app.storage.documents).get('acme', ALICE)).history!.since
  }
  t.strictSame(await sinceOf(0), { slot: 0, ts: null })
  t.strictSame(await sinceOf('350000000'), { slot: 350_000_000, ts: null })
  t.strictSame(await sinceOf(999_999_999), { slot: 999_999_999, ts: null })
  t.strictSame(await sinceOf(1_700_000_000), { slot: null, ts: 1_700_000_000 })
  t.strictSame(await sinceOf('1700000000'), { slot: null, ts: 1_700_000_000 })
  t.strictSame(await sinceOf('2026-08-01'), { slot: null, ts: Date.parse('2026-08-01') / 1_000 })
  t.strictSame(await sinceOf('2026-08-01T10:00:00Z'), {
    slot: null,
    ts: Date.parse('2026-08-01T10:00Z') / 1_000
  })
  for (const since of [-1, 1.5, 'yesterday', '', {}, [], true, 1_787_572_800_000, '2026-02-30', 1e300]) {
    for (const path of [ACCOUNTS, `${ACCOUNTS}/${ALICE}/backfill`]) {
      const { status, body } = await app.send('POST', path, { address: ALICE, since })
      const refused = { status: 400, body: { code: 'invalid_parameter', detail: /since/ } }
      t.match({ status, body }, refused, JSON.stringify(since))
    }
  }
  const future = await app.send('POST', ACCOUNTS, { address: ALICE, since: '2099-01-01' })
  t.match(future, { status: 400, body: { detail: 'since must not be in the future' } })
})

t.test('a backfill needs a watch, a start, and the scope', async (t) => {
  const app = await revenueClient(t)
  const path = `${ACCOUNTS}/${ALICE}/backfill`
  t.match(await app.send('POST', path, { since: 0 }), { status: 404, body: { code: 'watch_not_found' } })
  await app.watch(ALICE, 100, { label: 'Fees', role: 'fee_wallet' })
  t.match(await app.send('POST', path, {}), { status: 400, body: { detail: /since/ } })
  const { status, body } = await app.send('POST', path, { since: 0 })
  t.match(
    { status, body },
    { status: 200, body: { label: 'Fees', role: 'fee_wallet', status: 'backfilling' } }
  )
  await app.keys.createTenant('rival', 1)
  const rival = await app.as({ tenant: 'rival' })
  t.match(await rival('POST', path, { since: 0 }), { status: 404 }, 'another tenant does not watch it')
})

t.test('while a history is read, the status says so, and the slots are a gap', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE, 100, { since: 10 })
  await app.endAt(200)
  await app.blocks(200)
  const account = async () => first((await app.send('GET', ACCOUNTS)).body, 'data')
  t.match(await account(), { status: 'backfilling', progress: { phase: 'starting', from_slot: null } })
  await putJob(app, {
    phase: 'reading',
    sinceSlot: 10,
    run: { from: 10, to: 99, fromTs: null, toTs: null },
    signatures: 300,
    transactions: 200,
    rows: 150,
    accounts: 5,
    accountsDone: 2,
    reachedSlot: 55,
    note: 'the archive node limits the rate of requests'
  })
  t.match(await account(), {
    status: 'backfilling',
    progress: {
      phase: 'reading',
      from_slot: 10,
      to_slot: 99,
      reached_slot: 55,
      token_accounts: 5,
      token_accounts_done: 2,
      signatures: 300,
      transactions: 200,
      rows: 150,
      note: 'the archive node limits the rate of requests'
    }
  })
  const { body } = await app.send('GET', COVERAGE)
  const gap = { from_slot: 10, to_slot: 99, reason: 'between_archive_and_live' }
  t.match(first(body, 'addresses'), {
    status: 'backfilling',
    archive: null,
    gaps: [gap],
    complete: false,
    complete_from_slot: 100
  })
  t.match(body, { archive_end: null, gap_between_archive_and_live: { ...gap, addresses: 1 } })
})

t.test('archived rows are in lists, sums and coverage, once the ledger equals the chain', async (t) => {
  for (const isPaged of [true, false])
    await t.test(isPaged ? 'as pages' : 'as documents of an earlier version', (t) => shown(t, isPaged))
})

async function shown(t: Test, isPaged: boolean): Promise<void> {
  const app = await revenueClient(t)
  await app.watch(ALICE, 100, { since: 10 })
  await app.watch(BOB, 100)
  const times = { fromTs: NOON + 10, toTs: NOON + 99 }
  await archive(app, [20, 30, 60, 99], { archived: [{ from: 10, to: 99, ...times }] }, isPaged)
  await app.ledger(ALICE, [
    { slot: 60, entries: [entry({ signature: signatureOf(60), kind: 'other' })] },
    { slot: 120, entries: [entry({ signature: signatureOf(120) })] }
  ])
  await app.endAt(200)
  await app.blocks(100, 120, 200)
  await putJob(app, { phase: 'done', sinceSlot: 10, check: { slot: 150, count: 0, differences: [] } })

  t.match(first((await app.send('GET', `${COVERAGE}?address=${ALICE}`)).body, 'addresses'), {
    status: 'active',
    archive: { from: { slot: 10, ts_ms: (NOON + 10) * 1_000 }, to: { slot: 99 } },
    gaps: [],
    complete: true,
    complete_from_slot: 10
  })
  t.match((await app.send('GET', COVERAGE)).body, {
    archive_end: { slot: 99 },
    live_start: { slot: 100 },
    gap_between_archive_and_live: null
  })
  const rows = async (query: string) => {
    const { data } = (await app.send('GET', `${EVENTS}?${query}`)).body as unknown as {
      data: { slot: number; source?: string; kind: string; cursor: string }[]
    }
    return data
  }
  const all = await rows(`address=${ALICE}&order=asc`)
  t.strictSame(
    all.map(({ slot, source, kind }) => [slot, source, kind]),
    [
      [20, 'archive', 'transfer'],
      [30, 'archive', 'transfer'],
      [60, 'archive', 'transfer'],
      [99, 'archive', 'transfer'],
      [120, undefined, 'transfer']
    ],
    'each once, and the live rows of another watch are not shown'
  )
  const paged: number[] = []
  for (let after = ''; ;) {
    const page = await rows(`address=${ALICE}&limit=2${after}`)
    paged.push(...page.map(({ slot }) => slot))
    if (page.length < 2) break
    after = `&after=${page.at(-1)!.cursor}`
  }
  t.strictSame(paged, [120, 99, 60, 30, 20])
  t.strictSame(
    (await rows(`address=${ALICE}&order=asc&from=${NOON + 30}&to=${NOON + 99}`)).map(({ slot }) => slot),
    [30, 60],
    'by the block times of the archive'
  )
  t.match(first((await app.send('GET', ACCOUNTS)).body, 'data'), { progress: null })
  const accounts = (await app.send('GET', ACCOUNTS)).body.data as unknown as readonly {
    address: string
    events: number
  }[]
  t.equal(accounts.find(({ address }) => address === ALICE)!.events, 5)
  const totals = async (window: number) => (await app.send('GET', `/v1/revenue/totals?window=${window}`)).body
  t.match(await totals(80), { totals: { events: 1 } }, 'live rows alone')
  t.notHas(await totals(80), 'source')
  t.match(await totals(170), { totals: { events: 4 }, source: 'archive' })
  t.match(await totals(86_400), { totals: { events: 5 }, source: 'archive' })
}

t.test('what a node lacks is a gap, and a ledger that differs from the chain is not complete', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE, 100, { since: 10 })
  await archive(app, [60], { archived: [{ from: 40, to: 99, fromTs: null, toTs: NOON + 99 }] })
  await app.endAt(200)
  await app.blocks(200)
  const unavailable = [{ from: 10, to: 39, fromTs: null, toTs: null }]
  await putJob(app, { phase: 'done', sinceSlot: 10, unavailable })
  const coverage = async () => (await app.send('GET', COVERAGE)).body
  t.match(first(await coverage(), 'addresses'), {
    status: 'active',
    archive: { from: { slot: 40, ts: null } },
    gaps: [{ from_slot: 10, to_slot: 39, reason: 'upstream_missing' }],
    complete: false,
    complete_from_slot: 40
  })
  t.match(await coverage(), { gap_between_archive_and_live: null })
  const differences = [{ account: ALICE, mint: ALICE, isNative: false, ledger: '1', chain: '2' }]
  await archive(app, [20], { archived: [{ from: 10, to: 99, fromTs: null, toTs: null }] })
  await putJob(app, { phase: 'checking', sinceSlot: 10, check: { slot: 150, count: 1, differences } })
  t.match(first(await coverage(), 'addresses'), { status: 'backfilling', gaps: [], complete: false })
  t.match(first((await app.send('GET', ACCOUNTS)).body, 'data'), {
    status: 'backfilling',
    progress: { phase: 'checking', differences: 1 }
  })
  // Rewards before the first row of a stake account are in no sum, so the comparison finds no difference.
  const holes = [{ reason: 'rewards-absent' as const, from: 10, to: 99, blocks: null }]
  const equal = { slot: 150, count: 0, differences: [] }
  await putJob(app, { phase: 'done', sinceSlot: 10, holes, check: equal })
  t.match(first(await coverage(), 'addresses'), {
    status: 'active',
    gaps: [],
    holes: [{ reason: 'rewards-absent', from_slot: 10, to_slot: 99, blocks: null }],
    complete: false,
    complete_from_slot: 100
  })
  await putJob(app, {
    phase: 'checking',
    sinceSlot: 10,
    unread: { count: 2, from: 50, to: 70 },
    check: { slot: 150, count: 1, differences }
  })
  t.match(first(await coverage(), 'addresses'), {
    status: 'active',
    gaps: [{ from_slot: 50, to_slot: 70, reason: 'upstream_missing' }],
    complete: false
  })
})

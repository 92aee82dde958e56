import t from 'tap'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { LEDGER_GAP, ledgerGapsAfter, type LedgerGap } from '../../src/revenue/ledger-gap.ts'
import { Documents } from '../../storage/documents.ts'
import { key, NOON } from '../market/world.ts'
import { ALICE, BOB, CAROL, revenueClient, type RevenueClient } from './revenue-client.ts'

const PATH = '/v1/revenue/coverage'

/** Stores a gap of the ledger. */
async function addLedgerGap(app: RevenueClient, gap: Partial<LedgerGap> & Pick<LedgerGap, 'from' | 'to'>) {
  const gaps = new Documents(app.storage.documents, LEDGER_GAP)
  const outcome = await gaps.insert({ fromTs: null, toTs: null, reason: 'ingest_down', ...gap })
  if (!outcome.ok) throw new Error(outcome.reason)
}

const addIndexGap = (app: RevenueClient, from: number, to: number) =>
  app.storage.coverage.addGap({ from, to, reason: 'missing', detail: 'no node has it', atMs: NOON * 1_000 })

/** Returns the addresses of an answer. */
const addressesOf = (body: unknown) =>
  (
    body as {
      addresses: {
        address: string
        gaps: { from_slot: number }[]
        gaps_left_out: number
        complete: boolean
      }[]
    }
  ).addresses

t.test('an address is covered from its start, without the gaps of the index and of the ledger', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE, 100, { label: 'A', role: 'tip' })
  await app.watch(BOB, 500)
  await app.watch(CAROL, null)
  await addIndexGap(app, 10, 99)
  await addIndexGap(app, 300, 300)
  await addLedgerGap(app, { from: 90, to: 120, fromTs: NOON + 90, toTs: NOON + 120 })
  await addLedgerGap(app, { from: 400, to: 499, reason: 'upstream_missing' })
  const { body } = await app.send('GET', PATH)
  t.strictSame(body, {
    addresses: [
      {
        address: ALICE,
        label: 'A',
        role: 'tip',
        status: 'active',
        live_from: { slot: 100, ts: '2026-08-24 12:01:39', ts_ms: (NOON + 99) * 1_000 },
        archive: null,
        gaps: [
          {
            from_slot: 90,
            to_slot: 120,
            from_ts: '2026-08-24 12:01:30',
            to_ts: '2026-08-24 12:02:00',
            reason: 'ingest_down'
          },
          { from_slot: 300, to_slot: 300, from_ts: null, to_ts: null, reason: 'upstream_missing' },
          { from_slot: 400, to_slot: 499, from_ts: null, to_ts: null, reason: 'upstream_missing' }
        ],
        gaps_left_out: 0,
        complete: false
      },
      {
        address: BOB,
        label: BOB,
        role: 'other',
        status: 'active',
        live_from: { slot: 500, ts: '2026-08-24 12:08:19', ts_ms: (NOON + 499) * 1_000 },
        archive: null,
        gaps: [],
        gaps_left_out: 0,
        complete: true
      },
      {
        address: CAROL,
        label: CAROL,
        role: 'other',
        status: 'starting',
        live_from: null,
        archive: null,
        gaps: [],
        gaps_left_out: 0,
        complete: false
      }
    ].sort((a, b) => (a.address < b.address ? -1 : 1)),
    archive_end: null,
    live_start: { slot: 100, ts: '2026-08-24 12:01:39', ts_ms: (NOON + 99) * 1_000 },
    gap_between_archive_and_live: null
  })
})

t.test('the gaps of the ledger that end at or after a slot are listed by their first slot', async (t) => {
  const app = await revenueClient(t)
  for (const [from, to] of [
    [700, 710],
    [5, 9],
    [20, 30]
  ] as const)
    await addLedgerGap(app, { from, to })
  const from = async (slot: number) =>
    (await ledgerGapsAfter(app.storage.documents, slot)).map((gap) => gap.from)
  t.same(await from(0), [5, 20, 700])
  t.same(await from(9), [5, 20, 700])
  t.same(await from(10), [20, 700])
  t.same(await from(711), [])
})

t.test(
  'an address lists a thousand gaps of those past a thousand earlier ones, and counts the others',
  async (t) => {
    const app = await revenueClient(t)
    await app.watch(ALICE, 5_000)
    for (let n = 0; n < 2_250; n++) await addIndexGap(app, 4 * n, 4 * n + 1)
    const [alice] = addressesOf((await app.send('GET', PATH)).body)
    t.match(alice, { complete: false, gaps_left_out: 0 })
    t.same([alice!.gaps.length, alice!.gaps[0]!.from_slot], [1_000, 5_000])
    await addIndexGap(app, 9_000, 9_001)
    t.match(addressesOf((await app.send('GET', PATH)).body), [{ gaps_left_out: 1 }])
  }
)

t.test('many addresses share the gaps of an answer, and one alone lists its own', async (t) => {
  const app = await revenueClient(t)
  for (let n = 0; n < 20; n++) await app.watch(pubkeyToBase58(key(4_000 + n)))
  for (let n = 0; n < 501; n++) await addIndexGap(app, 10 * n + 1, 10 * n + 2)
  const all = addressesOf((await app.send('GET', PATH)).body)
  t.same(new Set(all.map(({ gaps, gaps_left_out }) => `${gaps.length} ${gaps_left_out}`)), new Set(['500 1']))
  const one = addressesOf((await app.send('GET', `${PATH}?address=${all[3]!.address}`)).body)
  t.same(
    one.map(({ address, gaps }) => [address, gaps.length]),
    [[all[3]!.address, 501]]
  )
})

t.test('an address that the tenant does not watch has no coverage', async (t) => {
  const app = await revenueClient(t)
  await app.keys.createTenant('rival', 1)
  const rival = await app.as({ tenant: 'rival' })
  await app.watch(ALICE)
  t.strictSame((await rival('GET', PATH)).body, {
    addresses: [],
    archive_end: null,
    live_start: null,
    gap_between_archive_and_live: null
  })
  t.match(await rival('GET', `${PATH}?address=${ALICE}`), { status: 404, body: { code: 'watch_not_found' } })
  t.match(await rival('GET', `${PATH}?address=x`), { status: 400, body: { code: 'invalid_address' } })
  t.match(await rival('GET', `${PATH}?limit=1`), { status: 400, body: { detail: /^limit is not/ } })
})

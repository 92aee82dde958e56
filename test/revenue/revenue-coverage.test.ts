import t from 'tap'
import { ledgerProgressIn } from '../../src/revenue/ledger-progress.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { LedgerGaps, type LedgerGap } from '../../src/revenue/ledger-gap.ts'
import { key, NOON } from '../market/world.ts'
import { ALICE, BOB, CAROL, revenueClient, type RevenueClient } from './revenue-client.ts'

const PATH = '/v1/revenue/coverage'

/** Stores a gap of the ledger. */
const addGap = (app: RevenueClient, gap: Partial<LedgerGap> & Pick<LedgerGap, 'from' | 'to'>) =>
  new LedgerGaps(app.storage.documents).add({ fromTs: null, toTs: null, reason: 'ingest_down', ...gap })

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

t.test('an address is covered from its start, but for the gaps of the ledger since then', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE, 100, { label: 'A', role: 'tip' })
  await app.watch(BOB, 500)
  await app.watch(CAROL, null)
  await addGap(app, { from: 10, to: 89 })
  await addGap(app, { from: 300, to: 300, reason: 'upstream_missing' })
  await addGap(app, { from: 90, to: 120, fromTs: NOON + 90, toTs: NOON + 120 })
  await addGap(app, { from: 400, to: 499 })
  await app.endAt(700)
  await app.blocks(701)
  const { body } = await app.send('GET', PATH)
  t.strictSame(body, {
    complete_to: { slot: 700, ts: '2026-08-24 12:11:40', ts_ms: (NOON + 700) * 1_000 },
    indexed_to: { slot: 701, ts: '2026-08-24 12:11:41', ts_ms: (NOON + 701) * 1_000 },
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
          { from_slot: 400, to_slot: 499, from_ts: null, to_ts: null, reason: 'ingest_down' }
        ],
        gaps_left_out: 0,
        holes: [],
        complete_from_slot: 500,
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
        holes: [],
        complete_from_slot: 500,
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
        holes: [],
        complete_from_slot: null,
        complete: false
      }
    ].sort((a, b) => (a.address < b.address ? -1 : 1)),
    archive_end: null,
    live_start: { slot: 100, ts: '2026-08-24 12:01:39', ts_ms: (NOON + 99) * 1_000 },
    gap_between_archive_and_live: null
  })
})

t.test('a ledger is complete as long as it ends near the newest indexed block', async (t) => {
  const app = await revenueClient(t)
  const isComplete = async (): Promise<unknown> =>
    addressesOf((await app.send('GET', PATH)).body).map(({ complete }) => complete)
  await app.watch(ALICE, 100)
  t.strictSame(await isComplete(), [false], 'no end is stored')
  await app.endAt(120)
  await app.blocks(145)
  t.strictSame(await isComplete(), [true])
  await app.blocks(146)
  t.strictSame(await isComplete(), [false], 'the index is further ahead than the ledger stores its end')
  t.match((await app.send('GET', PATH)).body, { complete_to: { slot: 120 }, indexed_to: { slot: 146 } })
  await app.endAt(146)
  t.strictSame(await isComplete(), [true])
})

t.test(
  'what blocks do not state is a hole of the ledgers that had begun, and keeps them incomplete',
  async (t) => {
    const app = await revenueClient(t)
    await app.watch(ALICE, 100)
    await app.watch(BOB, 201)
    await app.endAt(300, [{ reason: 'rewards-absent', from: 90, to: 200, blocks: 3 }])
    const found = addressesOf((await app.send('GET', PATH)).body) as { address: string }[]
    const of = (address: string) => found.find((each) => each.address === address)
    t.match(of(ALICE), {
      holes: [{ reason: 'rewards-absent', from_slot: 90, to_slot: 200, blocks: 3 }],
      complete_from_slot: 201,
      complete: false
    })
    t.match(of(BOB), { holes: [], complete_from_slot: 201, complete: true })
    await addGap(app, { from: 250, to: 299 })
    t.match(addressesOf((await app.send('GET', PATH)).body), [
      { complete_from_slot: 300 },
      { complete_from_slot: 300 }
    ])
    await addGap(app, { from: 300, to: 310 })
    t.match(
      addressesOf((await app.send('GET', PATH)).body),
      [{ complete_from_slot: null }, { complete_from_slot: null }],
      'a gap reaches the end'
    )
  }
)

t.test(
  'a ledger of a version that read no rewards has that hole, and is complete from its end on',
  async (t) => {
    const app = await revenueClient(t)
    await app.watch(ALICE, 100)
    const holes = [{ reason: 'rewards-absent', from_slot: 0, to_slot: 300, blocks: null }]
    const { save } = await ledgerProgressIn(app.storage.documents).claim(1)
    await save({ slot: 300, blockhash: null, blockTime: NOON + 300, documentsTo: -1 })
    t.match(addressesOf((await app.send('GET', PATH)).body), [
      { holes, complete_from_slot: null, complete: false }
    ])
    await app.watch(BOB, 301)
    await app.endAt(301, [{ reason: 'rewards-absent', from: 0, to: 300, blocks: null }])
    const found = addressesOf((await app.send('GET', PATH)).body)
    t.match(
      found.find(({ address }) => address === ALICE),
      { holes, complete_from_slot: 301, complete: false },
      'the first block after the upgrade'
    )
    t.match(
      found.find(({ address }) => address === BOB),
      { holes: [], complete_from_slot: 301, complete: true },
      'an address that is watched after the upgrade'
    )
  }
)

t.test('an address lists a thousand gaps, and counts the others', async (t) => {
  const app = await revenueClient(t)
  await app.watch(ALICE, 5_000)
  for (let n = 0; n < 2_250; n++) await addGap(app, { from: 4 * n, to: 4 * n + 1 })
  const [alice] = addressesOf((await app.send('GET', PATH)).body)
  t.match(alice, { complete: false, gaps_left_out: 0 })
  t.same([alice!.gaps.length, alice!.gaps[0]!.from_slot], [1_000, 5_000])
  await addGap(app, { from: 9_000, to: 9_001 })
  t.match(addressesOf((await app.send('GET', PATH)).body), [{ gaps_left_out: 1 }])
})

t.test('many addresses share the gaps of an answer, and one alone lists its own', async (t) => {
  const app = await revenueClient(t)
  for (let n = 0; n < 20; n++) await app.watch(pubkeyToBase58(key(4_000 + n)))
  for (let n = 0; n < 501; n++) await addGap(app, { from: 10 * n + 1, to: 10 * n + 2 })
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
    complete_to: null,
    indexed_to: null,
    addresses: [],
    archive_end: null,
    live_start: null,
    gap_between_archive_and_live: null
  })
  t.match(await rival('GET', `${PATH}?address=${ALICE}`), { status: 404, body: { code: 'watch_not_found' } })
  t.match(await rival('GET', `${PATH}?address=x`), { status: 400, body: { code: 'invalid_address' } })
  t.match(await rival('GET', `${PATH}?limit=1`), { status: 400, body: { detail: /^limit is not/ } })
})

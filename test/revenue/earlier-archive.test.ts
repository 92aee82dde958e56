import t, { type Test } from 'tap'
import {
  ARCHIVE_PIECE,
  ARCHIVE_SUM,
  archivePartition,
  STAGED_PIECE
} from '../../src/revenue/archive-document.ts'
import type { ArchivedPart } from '../../src/revenue/archive-writer.ts'
import { slotsBetween } from '../../src/revenue/archived-times.ts'
import { ledgerEntryBody } from '../../src/revenue/bodies/ledger-entry.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import type { SlotRange } from '../../src/revenue/slot-ranges.ts'
import { Documents } from '../../storage/documents.ts'
import { NOON } from '../market/world.ts'
import { until } from '../until.ts'
import { startBackfill } from './history-world.ts'
import { packArchive, putEarlierArchive } from './earlier-archive.ts'
import { ALICE, entry, GRAIN, revenueClient, signatureOf, type RevenueClient } from './revenue-client.ts'

const OWNER = { tenant: 'acme', address: ALICE }
const LIVE_FROM = 5_000
const HEAD = 5_200

/** The first range of slots is archived by an earlier version, the second one by this one. */
const FIRST = { from: 2_000, to: LIVE_FROM - 1 }
const SECOND = { from: 100, to: FIRST.from - 1 }

const PATHS = [
  '/v1/revenue/totals?window=86400',
  '/v1/revenue/totals?window=1200',
  '/v1/revenue/totals?window=3600',
  '/v1/revenue/accounts',
  '/v1/revenue/coverage',
  '/v1/revenue/events?limit=1000&order=asc',
  '/v1/revenue/events?limit=9',
  `/v1/revenue/events?limit=1000&from=${NOON + 2_040}&to=${NOON + 3_999}`,
  // A slot at each end: the first is included, the last is not.
  `/v1/revenue/events?limit=1000&from=${NOON + 2_037}&to=${NOON + 3_998}`,
  `/v1/revenue/events?limit=1000&kind=swap&to=${NOON + 4_000}`,
  '/v1/revenue/events?format=csv&limit=1000'
]

/** Rows of three transactions at each 37th slot of a range: of SOL, and of a token with or without a price. */
function partsIn({ from, to }: SlotRange): ArchivedPart[] {
  const parts: ArchivedPart[] = []
  for (let slot = from; slot <= to; slot += 37)
    parts.push({
      slot,
      blockTime: NOON + slot,
      entries: [0, 4, 7].map((txIndex) =>
        entry({
          txIndex,
          signature: signatureOf(slot * 10 + txIndex),
          ...(txIndex === 4 && { account: GRAIN, mint: GRAIN, isNative: false, decimals: 6, kind: 'swap' }),
          post: 6_000_000_000n + BigInt(slot),
          valueUsd: slot % 2 === 0 ? 12.5 : null
        })
      )
    })
  return parts
}

/** Watches an address whose history is archived by `fill`, and returns the answers. */
async function answersOf(
  t: Test,
  archived: readonly SlotRange[],
  isPaged: boolean,
  fill: (app: RevenueClient) => Promise<void>
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>()
  await t.test('a store', async (t) => {
    const app = await revenueClient(t)
    await app.watch(ALICE, LIVE_FROM, { since: archived[0]!.from })
    await app.ledger(ALICE, [{ slot: 5_100, entries: [entry({ signature: signatureOf(1) })] }])
    await fill(app)
    const registry = new WatchedAddresses(app.storage.documents)
    await registry.changeHistory(await registry.get('acme', ALICE), (now) => ({
      ...now,
      generation: 1,
      isPaged,
      archived: archived.map((range) => ({ ...range, fromTs: null, toTs: null }))
    }))
    await app.endAt(HEAD)
    await app.blocks(LIVE_FROM, 5_100, HEAD)
    for (const path of PATHS) {
      const { status, text } = await app.send('GET', path)
      answers.set(path, `${status} ${text.replaceAll(/"created_at":"[^"]*"/g, '')}`)
    }
  })
  return answers
}

t.test('an archive of an earlier version gives the bytes of a new one', async (t) => {
  const made = await answersOf(t, [FIRST], true, (app) =>
    // In any order.
    packArchive(app.storage, OWNER, partsIn(FIRST).toReversed(), [FIRST])
  )
  const earlier = await answersOf(t, [FIRST], false, (app) =>
    putEarlierArchive(app.storage.documents, OWNER, partsIn(FIRST), 1)
  )
  for (const [path, answer] of made) t.equal(earlier.get(path), answer, path)
  t.match(made.get(PATHS[0]!), /^200 .*"events":247/)
})

t.test(
  'it becomes pages with the next range, and gives the bytes of one that was pages from the start',
  async (t) => {
    const whole = { from: SECOND.from, to: FIRST.to }
    const parts = [...partsIn(SECOND), ...partsIn(FIRST)]
    const made = await answersOf(t, [whole], true, (app) => packArchive(app.storage, OWNER, parts, [whole]))
    const moved = await answersOf(t, [whole], true, async ({ storage }) => {
      await putEarlierArchive(storage.documents, OWNER, partsIn(FIRST), 1)
      const begun = partsIn(SECOND).map((part) => ({ ...part, entries: part.entries.slice(1, 2) }))
      await packArchive(storage, OWNER, begun, [SECOND], [FIRST])
      // A repeat, as after a crash, with further transactions of packed slots and rows that are stored already.
      await packArchive(storage, OWNER, parts, [whole], [whole])
      const partition = archivePartition(OWNER)
      t.strictSame(await new Documents(storage.documents, ARCHIVE_PIECE).all(partition), [])
      t.strictSame(await new Documents(storage.documents, ARCHIVE_SUM).all(partition), [])
      const staged = new Documents(storage.documents, STAGED_PIECE)
      for (const bucket of [0, 1, 2]) t.strictSame(await staged.all(`${partition}/${bucket}`), [])
    })
    for (const [path, answer] of made) t.equal(moved.get(path), answer, path)
  }
)

t.test(
  'rows that are imported into archived slots are shown and counted once their slots are named again',
  async (t) => {
    const app = await revenueClient(t)
    await app.watch(ALICE, LIVE_FROM)
    await app.endAt(HEAD)
    await app.blocks(LIVE_FROM, HEAD)
    const running = startBackfill(null, app.storage)
    t.teardown(() => running.stop())
    const ranges = [{ from_slot: FIRST.from, to_slot: FIRST.to }]
    const [template] = partsIn(FIRST)
    const bodies = [0, 4, 7].map((txIndex) => {
      const row = { ...template!.entries.find((each) => each.txIndex === txIndex)!, address: ALICE }
      const place = { slot: FIRST.from, blockTime: NOON - 10_000 }
      return {
        ...ledgerEntryBody({ ...row, ...place }, { label: 'Fees', role: 'other', symbol: null }),
        ...{ slot: place.slot, tx_index: txIndex, index: 0 }
      }
    })
    const slots = async (): Promise<number> => {
      const { body } = await app.send('GET', '/v1/revenue/events?limit=10')
      return (body.data as unknown as unknown[]).length
    }
    for (const [at, body] of bodies.entries()) {
      const sent = await app.send('POST', `/v1/revenue/accounts/${ALICE}/archive`, { rows: [body], ranges })
      t.match(sent, { status: 200, body: { stored: 1, repeated: 0 } })
      await until(async () => (await slots()) === at + 1, `row ${at}`)
      const totals = await app.send('GET', '/v1/revenue/accounts')
      t.match(totals.text, new RegExp(`"events":${at + 1}\\b`))
      const repeated = await app.send('POST', `/v1/revenue/accounts/${ALICE}/archive`, { rows: [body] })
      t.match(repeated, { status: 200, body: { stored: 0, repeated: 1 } })
    }
  }
)

t.test('the slots between two block times are those of the pages with such times', async (t) => {
  const { storage } = await revenueClient(t)
  const parts = partsIn(FIRST)
  await packArchive(storage, OWNER, parts, [FIRST])
  const ends = [0, 1_999, 2_000, 2_001, 2_037, 3_000, 3_998, 3_999, 4_960, 4_961, 9_999].map(
    (slot) => NOON + slot
  )
  for (const from of ends)
    for (const to of [...ends, Infinity]) {
      const found = await slotsBetween(storage.ledger, archivePartition(OWNER), { from, to })
      const wanted = parts.filter(({ blockTime }) => blockTime >= from && blockTime < to)
      const read = parts.filter(({ slot }) => found !== null && slot >= found.from && slot <= found.to)
      t.strictSame(
        read.map(({ slot }) => slot),
        wanted.map(({ slot }) => slot),
        `${from} to ${to}`
      )
    }
})

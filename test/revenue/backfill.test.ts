import t from 'tap'
import { historyGaps } from '../../src/revenue/history-gaps.ts'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import {
  changesOf,
  jobIn,
  nodeOf,
  placed,
  startBackfill,
  TENANT,
  watchSince,
  whole
} from './history-world.ts'
import { sumsEqual } from './ledger-shape.ts'
import { LedgerWorld } from './ledger-world.ts'

t.test(
  'rows of the history are those that live capture would have given, closed accounts included',
  async (t) => {
    const world = await LedgerWorld.open(t, 31)
    await world.slots(120)
    const addresses = world.wallets.slice(0, 4)
    for (const address of addresses) await watchSince(world, address)
    await world.settled('begun')
    const { node } = await nodeOf(t, world.bank)
    const running = startBackfill(node, world.storage)
    t.teardown(() => running.stop())
    await whole(world, addresses)
    await world.settled('at the end')
    for (const watched of await world.watched()) {
      const { address, captureFrom, history } = watched
      t.match(history, { archived: [{ from: 0, to: captureFrom!.slot - 1 }], generation: 1 })
      const rows = await world.rowsOf([watched])
      t.strictSame(rows.map(placed), changesOf(world.bank, address, 0, world.bank.slot('processed')), address)
      const isArchived = (row: (typeof rows)[number]): boolean => row.slot < captureFrom!.slot
      const archived = rows.filter(isArchived).length
      t.ok(archived > 10, `${archived} archived rows`)
      t.ok(rows.every((row) => (row.source === 'archive') === isArchived(row)))
      t.match(await jobIn(world.storage, address), {
        phase: 'done',
        unavailable: [],
        unread: null,
        holes: []
      })
    }
  }
)

t.test(
  'a ledger that begins later has the rows since then, and an earlier start adds those before',
  async (t) => {
    const world = await LedgerWorld.open(t, 32)
    await world.slots(80)
    const [address] = world.wallets as [string]
    await watchSince(world, address, { slot: 60, ts: null })
    await world.settled('begun')
    const { node } = await nodeOf(t, world.bank)
    const running = startBackfill(node, world.storage)
    t.teardown(() => running.stop())
    await whole(world, [address])
    const since = async (slot: number, generation: number): Promise<void> => {
      const [watched] = await world.watched()
      t.match(watched!.history, {
        archived: [{ from: slot, to: watched!.captureFrom!.slot - 1 }],
        generation
      })
      await world.settled('settled')
      const rows = await world.rowsOf([watched!])
      const head = world.bank.slot('processed')
      t.strictSame(rows.map(placed), changesOf(world.bank, address, slot, head), `since ${slot}`)
      await sumsEqual(t, world, watched!, rows, `since ${slot}`)
    }
    await since(60, 1)
    await watchSince(world, address, { slot: 10, ts: null })
    running.backfill.hint()
    await whole(world, [address])
    await since(10, 2)
    await watchSince(world, address, { slot: 40, ts: null })
    running.backfill.hint()
    await whole(world, [address])
    await since(10, 2)
  }
)

t.test('rows of another tenant, and rows that an overlap would repeat, are there once', async (t) => {
  const world = await LedgerWorld.open(t, 34)
  await world.slots(20)
  const [address] = world.wallets as [string]
  await world.watch(address, 'b')
  await world.settled('begun')
  await world.slots(40)
  await watchSince(world, address)
  await world.settled('begun for the other')
  const { node } = await nodeOf(t, world.bank)
  const running = startBackfill(node, world.storage)
  t.teardown(() => running.stop())
  await whole(world, [address])
  await world.settled('at the end')
  const [watched] = await world.watched()
  const [other] = await world.watched('b')
  t.ok(other!.captureFrom!.slot < watched!.captureFrom!.slot - 30)
  const rows = await world.rowsOf([watched!])
  const head = world.bank.slot('processed')
  t.strictSame(rows.map(placed), changesOf(world.bank, address, 0, head))
  await sumsEqual(t, world, watched!, rows, 'of the tenant with history')
  const live = await world.rowsOf([other!])
  t.strictSame(live.map(placed), changesOf(world.bank, address, other!.captureFrom!.slot, head))
})

t.test(
  'a watch that ended and begins again has its earlier rows, and the history fills the time between',
  async (t) => {
    const world = await LedgerWorld.open(t, 35)
    await world.slots(20)
    const [address] = world.wallets as [string]
    const watches = () => new WatchedAddresses(world.storage.documents)
    await world.watch(address)
    await world.settled('begun')
    await world.slots(20)
    await world.settled('before the end')
    const [first] = await world.watched()
    const shown = await world.rowsOf([first!])
    const { slot, blockTime } = await world.progress
    const before = shown.filter((row) => row.slot <= slot!)
    await watches().unwatch(TENANT, address, { slot: slot!, blockTime })
    world.follower.hint()
    t.strictSame(await world.watched(), [])
    await world.slots(20)
    await world.watch(address)
    await world.settled('begun again')
    await world.slots(10)
    await world.settled('at the end')
    const [again] = await world.watched()
    const absence = again!.history!.absences[0]!
    t.match(again, { captureFrom: first!.captureFrom, history: { since: null, archived: [], resumes: null } })
    t.match(absence, { from: slot! + 1, fromTs: blockTime })
    t.match(historyGaps(again!, null), [{ from: slot! + 1, to: absence.to, reason: 'not_registered' }])
    const rows = await world.rowsOf([again!])
    t.strictSame(rows.slice(0, before.length), before, 'the rows of the first watch')
    t.ok(rows.slice(before.length).every((row) => row.slot > absence.to))
    t.strictSame(await world.gaps(), [], 'no other ledger has a gap')
    await sumsEqual(t, world, again!, rows, 'with an absence')

    await watchSince(world, address, { slot: first!.captureFrom!.slot, ts: null })
    const { node } = await nodeOf(t, world.bank)
    const running = startBackfill(node, world.storage)
    t.teardown(() => running.stop())
    await whole(world, [address])
    await world.settled('with the absence')
    const [filled] = await world.watched()
    t.strictSame(historyGaps(filled!, await jobIn(world.storage, address)), [])
    const all = await world.rowsOf([filled!])
    const head = world.bank.slot('processed')
    t.strictSame(all.map(placed), changesOf(world.bank, address, first!.captureFrom!.slot, head))
    const isAbsent = ({ slot: at }: { slot: number }): boolean => at >= absence.from && at <= absence.to
    t.ok(
      all.every((row) => (row.source === 'archive') === isAbsent(row)),
      'live rows stay live'
    )
    await sumsEqual(t, world, filled!, all, 'with the absence filled')
  }
)

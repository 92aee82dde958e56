import t from 'tap'
import { IS_LONG } from '../random-runs.ts'
import { until } from '../service/asking.ts'
import { blockOfText } from '../followers/block-text.ts'
import { ledgerEqual } from './ledger-shape.ts'
import { LedgerWorld } from './ledger-world.ts'

const ROUNDS = IS_LONG ? 200 : 12
const DEATHS = IS_LONG ? 200 : 10

t.test('entries lead from one balance to the next, through forks, skipped slots and restarts', async (t) => {
  const world = await LedgerWorld.open(t, 1)
  const [first, second, third, late] = world.wallets as [string, string, string, string]
  for (const address of [first, second, third]) await world.watch(address)
  await world.slots(6)
  await ledgerEqual(t, world, 'at the start')
  for (let round = 0; round < ROUNDS; round++) {
    const fault = world.choices.below(4)
    if (fault === 0) world.bank.faults.fork('drop')
    if (fault === 1) world.bank.faults.fork('replace')
    if (fault === 2) world.bank.faults.skip(1 + world.choices.below(3))
    if (round === 5) await world.watch(late)
    await world.slots(1 + world.choices.below(6))
    await ledgerEqual(t, world, `round ${round}`)
  }
  t.ok(world.bank.faults.fired.forks > 2, `${world.bank.faults.fired.forks} forks`)
  t.ok((await world.counted('millrace_ledger_rollbacks_total')) > 2, 'forks were rolled back')
  // A waiting fault would be a fork across the restart, which this index does not report.
  await world.slots(8)
  for (const lateSlots of [0, 1, 6]) {
    await world.settled('before the restart')
    await world.restart(lateSlots, 3)
    await world.slots(3)
    await ledgerEqual(t, world, `after a restart ${lateSlots} slots later`)
  }
  t.strictSame(await world.gaps(), [])
})

t.test('a ledger is whole after a death before or after any write', async (t) => {
  const world = await LedgerWorld.open(t, 2)
  for (const address of world.wallets.slice(0, 3)) await world.watch(address)
  await world.slots(4)
  let entries = 0
  for (let death = 0; death < DEATHS; death++) {
    await world.settled(`before death ${death}`)
    world.dying.dieAtWrite(1 + world.choices.below(12), death % 2 === 0 ? 'before' : 'after')
    if (death % 5 === 4) world.bank.faults.fork('drop')
    await world.died()
    await world.slots(world.choices.below(3))
    await world.restart(0, 200)
    entries = await ledgerEqual(t, world, `after death ${death}`)
  }
  // How many blocks a death takes depends on the speed of the machine.
  t.ok(entries > 2 * DEATHS, `${entries} entries`)
  t.strictSame(await world.gaps(), [])
})

t.test('blocks that cannot be read again are a gap, which late blocks close', async (t) => {
  const world = await LedgerWorld.open(t, 3)
  const [address] = world.wallets as [string]
  await world.watch(address)
  await world.slots(4)
  await world.settled('before the hole')
  const before = world.bank.slot('processed')
  world.index.hides = 3
  await world.slots(4)
  await world.settled('after the hole')
  const [gap] = await world.gaps()
  t.match(gap, { from: before + 1, to: world.bank.slot('processed') - 1, reason: 'upstream_missing' })
  for (const text of world.blocks.slice(-4, -1)) world.index.insert(blockOfText(text))
  await until(async () => (await world.gaps()).length === 0, 'a closed gap')
  await ledgerEqual(t, world, 'with the late blocks')
})

t.test('blocks between a death and a start that are not read again are a gap', async (t) => {
  const world = await LedgerWorld.open(t, 4)
  const [address] = world.wallets as [string]
  await world.watch(address)
  await world.slots(4)
  await world.settled('before the restart')
  const before = world.bank.slot('processed')
  await world.restart(200, 0)
  await world.slots(1)
  await world.settled('after the restart')
  t.match(await world.gaps(), [
    { from: before + 1, to: world.bank.slot('processed') - 1, reason: 'ingest_down' }
  ])
})

t.test('each entry is published once it is stored, and again when its fork is lost', async (t) => {
  const world = await LedgerWorld.open(t, 5)
  const [address] = world.wallets as [string]
  await world.watch(address)
  await world.watch(address, 'b')
  await world.slots(4)
  for (let round = 0; round < 8; round++) {
    // A block whose fork is lost before its entries are stored is never published.
    await world.settled('before a fork')
    world.bank.faults.fork('drop')
    await world.slots(3)
  }
  await world.settled('at the end')
  const shown = new Set<unknown>()
  let retracted = 0
  for (const { data } of world.published.filter(({ tenant }) => tenant === 'b')) {
    if (data['event'] === 'retracted') {
      t.ok(shown.delete(data['id']), 'what is retracted was shown')
      retracted++
    } else shown.add(data['id'])
  }
  t.ok(retracted > 0, `${retracted} retracted`)
  const rows = await world.rowsOf(await world.watched('b'))
  t.equal(shown.size, rows.length)
})

t.test(
  'a follower whose store fails goes on with the blocks that it had taken, and none is missing',
  async (t) => {
    const world = await LedgerWorld.open(t, 6)
    for (const address of world.wallets.slice(0, 3)) await world.watch(address)
    await world.slots(4)
    for (let failure = 0; failure < DEATHS; failure++) {
      await world.settled(`before failure ${failure}`)
      world.dying.dieAtWrite(1 + world.choices.below(12), failure % 4 < 2 ? 'before' : 'after')
      // Every other failure may come while a fork is rolled back.
      if (failure % 2 === 1) world.bank.faults.fork('drop')
      await world.died()
      await world.slots(world.choices.below(4))
      world.follow()
      await ledgerEqual(t, world, `after failure ${failure}`)
    }
    t.strictSame(await world.gaps(), [])
    const rows = await world.rowsOf(await world.watched())
    // An entry that a failure left unpublished may be retracted before it is in a block again.
    const last = new Map(world.published.map(({ data }) => [data['id'], data['event']]))
    const shown = [...last.values()].filter((event) => event === 'entry')
    t.equal(shown.length, rows.length, 'each row was published')
  }
)

t.test('a follower that ends while it waits for blocks of before its start leaves no hole', async (t) => {
  const world = await LedgerWorld.open(t, 7)
  const [address] = world.wallets as [string]
  await world.watch(address)
  await world.slots(4)
  await world.settled('before the restart')
  const before = world.bank.slot('processed')
  // The first of the five blocks is not read again: the follower waits for it.
  await world.restart(5, -1)
  await world.slots(2)
  await until(async () => world.index.blocks.waiting === 0, 'the follower has taken the new blocks')
  t.equal(world.follower.slot, before)
  await world.restart(0, 50)
  await world.slots(1)
  await ledgerEqual(t, world, 'after the next restart')
  t.strictSame(await world.gaps(), [])
})

t.test('entries that no client could receive are stored, and not published', async (t) => {
  const world = await LedgerWorld.open(t, 35)
  world.hasClient = false
  for (const address of world.wallets) await world.watch(address)
  await world.slots(8)
  const entries = await ledgerEqual(t, world, 'without a client')
  t.ok(entries > 0, `${entries} entries`)
  t.strictSame(world.published, [])
  world.hasClient = true
  await world.slots(4)
  const more = (await ledgerEqual(t, world, 'with a client')) - entries
  t.equal(world.published.length, more, 'later ones are published')
  t.ok(more > 0)
})

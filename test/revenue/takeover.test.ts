import t from 'tap'
import { WatchedAddresses } from '../../src/revenue/watched-addresses.ts'
import { blockOfText, textOfBlock } from '../followers/block-text.ts'
import { until } from '../service/asking.ts'
import { ledgerCovered, ledgerEqual } from './ledger-shape.ts'
import { LedgerWorld } from './ledger-world.ts'

/** Makes slots until the lamports of a wallet have changed. */
async function changed(world: LedgerWorld, wallet: string): Promise<void> {
  const lamports = (): bigint | undefined => world.balances(wallet, world.bank.slot('processed')).get(wallet)
  const before = lamports()
  await until(async () => {
    await world.slots(1)
    return lamports() !== before
  }, `a change of ${wallet}`)
}

t.test('a process that takes over reads the last blocks again, and the ledger has no gap', async (t) => {
  const world = await LedgerWorld.open(t, 21, true)
  for (const address of world.wallets.slice(0, 2)) await world.watch(address)
  await world.slots(6)
  await ledgerEqual(t, world, 'of the first process')
  for (let round = 0; round < 3; round++) {
    const takeOver = await world.standBy()
    // Addresses of which the next process has heard since it started are no reason for a gap.
    if (round === 1) await world.settled('before the takeover')
    await world.slots(4)
    await takeOver(150)
    await world.slots(4)
    await ledgerEqual(t, world, `after takeover ${round}`)
  }
  t.strictSame(await world.gaps(), [])
  t.strictSame((await world.progress).holes, [], 'the blocks state everything')
})

t.test('blocks without rewards are a hole of the ledger, also after a takeover', async (t) => {
  const world = await LedgerWorld.open(t, 25, true)
  await world.watch(world.wallets[0]!)
  await world.slots(4)
  await world.settled('with rewards')
  t.strictSame((await world.progress).holes, [])
  world.textOf = (block) => textOfBlock(block).replace(/,"rewards":\[\]\}$/, '}')
  const from = world.bank.slot('processed') + 1
  await world.slots(3)
  const takeOver = await world.standBy()
  await takeOver(150)
  const to = world.bank.slot('processed')
  world.textOf = textOfBlock
  await world.slots(8)
  await ledgerEqual(t, world, 'after the takeover')
  await until(async () => ((await world.progress).slot ?? 0) > to, 'progress behind the hole')
  const { holes } = await world.progress
  t.match(holes, [{ reason: 'rewards-absent', from, to }])
  t.ok(holes![0]!.blocks! <= to - from + 1, 'a block that is read again counts once')
})

t.test('blocks that a new process has read before it heard of an address are a gap', async (t) => {
  const world = await LedgerWorld.open(t, 22, true)
  const [first, second] = world.wallets as [string, string]
  await world.watch(first)
  await world.slots(4)
  await world.settled('before the takeover')
  const takeOver = await world.standBy()
  await world.watch(second)
  await world.settled('of the second address')
  await world.slots(4)
  const before = world.bank.slot('processed')
  await takeOver(150)
  await world.slots(6)
  await ledgerCovered(t, world, 'after the takeover')
  const gaps = await world.gaps()
  t.match(gaps, [{ reason: 'ingest_down' }])
  t.ok(gaps[0]!.to >= before, 'up to the list')
  await world.slots(6)
  t.ok(gaps[0]!.to < world.bank.slot('processed'), 'no further')
  await ledgerCovered(t, world, 'some slots later')
  t.equal((await world.gaps()).length, 1)
})

t.test('a ledger that a paused process begins after the takeover lacks the blocks of a gap', async (t) => {
  const world = await LedgerWorld.open(t, 23, true)
  const [first, second] = world.wallets as [string, string]
  await world.watch(first)
  await world.slots(4)
  await world.settled('before the takeover')
  const takeOver = await world.standBy()
  await takeOver(150)
  await world.slots(2)
  await world.settled('of the first address')
  const registry = new WatchedAddresses(world.storage.documents)
  await registry.watch('a', { address: second, label: second, role: 'other' }, 1)
  const begun = world.bank.slot('processed') + 1
  for (const watched of await registry.all()) await registry.begin(watched, { slot: begun, ts: 0 })
  await changed(world, second)
  const unheard = world.bank.slot('processed')
  world.follower.hint()
  await until(async () => world.follower.addresses === 2, 'it hears of the second address')
  await changed(world, second)
  const breaks = await ledgerCovered(t, world, 'after the list')
  t.ok(breaks > 0, `${breaks} breaks`)
  t.match(await world.gaps(), [{ from: begun, to: unheard, reason: 'ingest_down' }])
})

t.test(
  'a process that is paused within a write, and wakes after its block is lost, leaves no entries',
  async (t) => {
    const world = await LedgerWorld.open(t, 24, true)
    for (const address of world.wallets) await world.watch(address)
    await world.slots(4)
    await world.settled('before the pause')
    const { promise, resolve } = Promise.withResolvers<void>()
    world.dying.heldStore = 'ledger'
    world.dying.hold = promise
    t.teardown(() => resolve())
    await until(async () => {
      if (world.dying.held === 0) await world.slots(1)
      return world.dying.held > 0
    }, 'a write of entries')
    const lost = world.blocks.at(-1)!
    const paused = world.takeOver()
    await until(async () => world.follower.addresses === world.wallets.length, 'a list')
    world.index.recall(world.blocks.map(blockOfText))
    world.bank.faults.fork('drop')
    await until(async () => {
      await world.slots(1)
      return !world.blocks.includes(lost)
    }, 'a fork')
    await ledgerEqual(t, world, 'after the fork')
    world.published.splice(0)
    resolve()
    await until(
      async () => paused.slot === blockOfText(lost).slot,
      'the paused process has written its block'
    )
    await ledgerEqual(t, world, 'after the late write')
    t.notMatch(world.published, [{ data: { slot: blockOfText(lost).slot, event: 'entry' } }])
  }
)

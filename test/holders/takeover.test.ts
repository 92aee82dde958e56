import t, { type Test } from 'tap'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import { steadily as until } from '../until.ts'
import { HolderWorld } from './holder-world.ts'

/** Checks that the stored lists are those of the chain at its newest slot. */
async function equal(t: Test, world: HolderWorld, mints: readonly Pubkey[], message: string): Promise<void> {
  await world.settled(message)
  const slot = world.bank.slot('processed')
  for (const [at, shape] of world.chains(mints).entries()) {
    const mint = mints[at]!
    t.strictSame(await world.stored(mint, slot), shape, `${message}: ${pubkeyToBase58(mint)}`)
  }
}

t.test('neither a takeover nor a failure of the store costs a reading of lists', async (t) => {
  const world = await HolderWorld.open(t, 14, {}, true)
  await world.slots(3)
  const mints = [NATIVE_MINT, world.traffic.classic.mint.toBytes()]
  for (const mint of mints) await world.ask(mint)
  await equal(t, world, mints, 'of the first process')
  const { calls } = world
  for (let round = 0; round < 2; round++) {
    const takeOver = await world.standBy()
    await world.slots(4)
    await takeOver(150)
    await world.slots(4)
    await equal(t, world, mints, `after takeover ${round}`)
    world.dying.dieAtWrite(1 + world.choices.below(6), round === 0 ? 'before' : 'after')
    await world.died()
    await world.slots(3)
    world.follow()
    await equal(t, world, mints, `after failure ${round}`)
  }
  t.equal(world.calls, calls, 'the node was not asked again')
  t.strictSame(world.faults, [])
})

t.test('a write that is durable and answered by an error costs no reading, whichever it is', async (t) => {
  const world = await HolderWorld.open(t, 15, {}, true)
  await world.slots(3)
  const mints = [NATIVE_MINT, world.traffic.classic.mint.toBytes()]
  for (const mint of mints) await world.ask(mint)
  await equal(t, world, mints, 'before')
  const { calls } = world
  // Rows, the list's state and the progress are among five writes that follow each other.
  for (let write = 1; write <= 5; write++) {
    world.dying.dieAtWrite(write, 'after')
    await world.died()
    await world.slots(3)
    world.follow()
    await equal(t, world, mints, `after write ${write}`)
    t.equal(world.calls, calls, `write ${write}: the node was not asked again`)
  }
  t.strictSame(world.faults, [])
})

t.test(
  'a process that writes a list after another one has taken over changes nothing of its lists',
  async (t) => {
    const world = await HolderWorld.open(t, 13)
    await world.slots(3)
    const mints = [NATIVE_MINT, world.traffic.classic.mint.toBytes()]
    const writing = Promise.withResolvers<void>()
    world.dying.hold = writing.promise
    for (const mint of mints) await world.ask(mint)
    await until(async () => {
      await world.slots(1)
      return world.dying.held === mints.length
    }, 'both lists are about to be written')
    const paused = world.takeOver()
    // Balances change, so that the rows of the paused process are of another time.
    await world.slots(20)
    await equal(t, world, mints, 'after the takeover')
    writing.resolve()
    await until(
      async () => paused.lists.every((list) => list.isLive),
      'the paused process has written its lists'
    )
    await equal(t, world, mints, 'after the writes of the process before')
    await world.slots(5)
    await equal(t, world, mints, 'some slots later')
    t.strictSame(world.faults, [])
  }
)

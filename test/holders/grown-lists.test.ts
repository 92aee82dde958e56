import t, { type Test } from 'tap'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import { isLargeReading } from '../../storage/port.ts'
import { steadily as until } from '../until.ts'
import { HolderWorld } from './holder-world.ts'

const READINGS = 'millrace_holder_readings_total'

async function isEqual(t: Test, world: HolderWorld, mint: Pubkey, message: string): Promise<void> {
  await world.settled(message)
  t.strictSame(await world.stored(mint, world.bank.slot('processed')), world.chain(mint), message)
}

const readingOf = (world: HolderWorld): number => world.follower.lists[0]!.state.reading

t.test(
  'a list with many accounts is large on a shared store, and one that grows is read once more',
  async (t) => {
    const world = await HolderWorld.open(t, 21, { smallListMax: 1_000_000 }, true)
    await world.slots(3)
    await world.ask(NATIVE_MINT)
    await isEqual(t, world, NATIVE_MINT, 'a small list')
    t.equal(isLargeReading(readingOf(world)), false)
    t.equal(await world.counted(READINGS), 1)
    world.limits.smallListMax = 1
    await world.slots(2)
    await until(async () => {
      await world.slots(1)
      return isLargeReading(readingOf(world))
    }, 'it has outgrown its layout')
    await isEqual(t, world, NATIVE_MINT, 'a large list')
    t.equal(await world.counted(READINGS), 2, 'it is read once')
    await world.slots(8)
    await isEqual(t, world, NATIVE_MINT, 'it follows the blocks')
    t.equal(await world.counted(READINGS), 2)
    await world.restart(1, 100)
    await isEqual(t, world, NATIVE_MINT, 'after a restart')
    t.strictSame(world.faults, [])
  }
)

t.test(
  'the first reading of a large list is of a large one, and that of an embedded store never is',
  async (t) => {
    for (const isShared of [true, false])
      await t.test(isShared ? 'a shared store' : 'an embedded store', async (t) => {
        const world = await HolderWorld.open(t, 22, { smallListMax: 1 }, isShared)
        await world.slots(3)
        await world.ask(NATIVE_MINT)
        await isEqual(t, world, NATIVE_MINT, 'its first reading')
        t.equal(isLargeReading(readingOf(world)), isShared)
        t.equal(await world.counted(READINGS), 1)
        t.strictSame(world.faults, [])
      })
  }
)

t.test('a list beyond the limit is not read', async (t) => {
  const world = await HolderWorld.open(t, 23, { listMax: 1 }, true)
  await world.slots(3)
  await world.ask(NATIVE_MINT)
  const fault = await faultOf(world)
  t.match(fault, /^it has \d+ accounts, and a list at most 1$/)
  t.equal(world.follower.lists[0]!.state.fromSlot, null)
  t.strictSame(world.faults, [])
})

t.test('a list that grows beyond the limit stays at its slot, with the reason', async (t) => {
  const world = await HolderWorld.open(t, 24, {}, true)
  await world.slots(3)
  await world.ask(NATIVE_MINT)
  await isEqual(t, world, NATIVE_MINT, 'a list')
  const slot = world.bank.slot('processed')
  const shape = world.chain(NATIVE_MINT)
  world.limits.listMax = 1
  await faultOf(world)
  const { state } = world.follower.lists[0]!
  t.match(state, { state: 'stale', reason: /it has grown to \d+ accounts/ })
  t.ok(state.slot! >= slot)
  t.strictSame(await world.stored(NATIVE_MINT, slot), shape, 'its rows are as they were')
  t.strictSame(world.faults, [])
})

/** Waits for the fault of the only list. */
const faultOf = (world: HolderWorld): Promise<string> =>
  until(async () => {
    await world.slots(1)
    return world.follower.lists[0]?.state.fault ?? null
  }, 'the fault')

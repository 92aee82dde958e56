import t, { type Test } from 'tap'
import { pubkeyToBase58, type Pubkey } from '../../src/chain/pubkey.ts'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import { holderMintsIn, HOLDER_MINTS_PARTITION } from '../../src/holders/holder-mint.ts'
import { USDC } from '../../src/localnet/programs.ts'
import { steadily as until } from '../until.ts'
import { HolderWorld } from './holder-world.ts'

/** Blocks that are read again after a death: more than the follower of a busy machine is behind. */
const RECALLED = 100

async function isEqual(
  t: Test,
  world: HolderWorld,
  mints: readonly Pubkey[],
  message: string
): Promise<void> {
  await world.settled(message)
  const slot = world.bank.slot('processed')
  for (const [at, shape] of world.chains(mints).entries())
    t.strictSame(await world.stored(mints[at]!, slot), shape, message)
}

t.test('a process that dies at any write goes on from what is stored', async (t) => {
  const world = await HolderWorld.open(t, 7)
  await world.slots(3)
  const mints = [NATIVE_MINT, USDC, world.traffic.fees.mint.toBytes()]
  for (const [at, mint] of mints.entries()) {
    world.dying.dieAtWrite(2 + at, at % 2 === 0 ? 'before' : 'after')
    await world.ask(mint)
    await world.died()
    await world.restart(at, RECALLED)
    await isEqual(t, world, mints.slice(0, at + 1), `a death at write ${2 + at} of a first reading`)
  }
  // No rows are stored below the slots of the first readings.
  await world.slots(8)
  await isEqual(t, world, mints, 'before the deaths at blocks')
  const { calls } = world
  for (let write = 1; write <= 8; write++) {
    const when = write % 2 === 0 ? 'before' : 'after'
    world.dying.dieAtWrite(write, when)
    await world.died()
    await world.restart(write % 3, RECALLED)
    await isEqual(t, world, mints, `a death ${when} write ${write} of blocks`)
  }
  t.equal(world.calls, calls, 'the node was not asked again')
  t.strictSame(world.faults, [])
})

t.test('the list that was not asked for longest makes room, with all of its rows', async (t) => {
  const world = await HolderWorld.open(t, 8, { mintsMax: 2 })
  await world.slots(3)
  const mints = [NATIVE_MINT, USDC, world.traffic.classic.mint.toBytes()] as const
  await world.ask(mints[1], 2)
  await world.ask(mints[0], 1)
  await isEqual(t, world, mints.slice(0, 2), 'both that there is room for')
  await world.ask(mints[2], 3)
  await until(async () => (await world.counted('millrace_holder_evicted_total')) === 1, 'an eviction')
  await isEqual(t, world, mints.slice(1), 'those asked for last')
  await isGone(t, world, mints[0])
  // More accounts than there is room for leave one list.
  world.limits.accountsMax = 1
  await until(async () => {
    world.follower.hint()
    return (await world.counted('millrace_holder_evicted_total')) === 2
  }, 'another eviction')
  await isEqual(t, world, mints.slice(2), 'the last one')
  await isGone(t, world, mints[1])
  t.strictSame(world.faults, [])
})

async function isGone(t: Test, { storage }: HolderWorld, mint: Pubkey): Promise<void> {
  const documents = await holderMintsIn(storage.documents).all(HOLDER_MINTS_PARTITION)
  t.notOk(documents.some(({ value }) => value.mint === pubkeyToBase58(mint)))
  for (const reading of [1, 2])
    for (const kind of ['account', 'owner', 'account-rank', 'owner-rank', 'sums', 'change'] as const) {
      const page = { slot: Number.MAX_SAFE_INTEGER, limit: 1 }
      t.strictSame((await storage.holders.page({ mint, reading }, kind, page)).rows, [], kind)
    }
}

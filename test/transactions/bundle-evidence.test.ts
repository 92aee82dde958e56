import t from 'tap'
import { bundleWorld } from './bundle-world.ts'

type World = Awaited<ReturnType<typeof bundleWorld>>

const ONE_NODE = { commitment: 'finalized', nodes: 1 } as const

/** Passes seconds in which the chain grows by the two and a half slots of each. */
async function grow(world: World, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    world.chain.slot += 2 + (second % 2)
    world.chain.height += 2 + (second % 2)
    await world.pass(1)
  }
}

t.test('one node that calls a bundle final ends it after a minute, and confirms it until then', async (t) => {
  const world = await bundleWorld(t)
  const stored = await world.store()
  const { tracker } = world.startTracker(1)
  tracker.begin(stored)
  await world.pass(2)
  world.land(['b0', 'b1'], ONE_NODE)
  await grow(world, 30)
  t.match(await world.progress(stored), { state: 'confirmed', slot: 100 })
  t.equal(await world.end(stored), null)
  await grow(world, 35)
  t.match(await world.end(stored), { state: 'finalized', slot: 100 })
})

t.test('a slot that is impossible is believed of no single node', async (t) => {
  const world = await bundleWorld(t)
  world.chain.slot = 1_000
  const stored = await world.store()
  const { tracker } = world.startTracker(1)
  tracker.begin(stored)
  await world.pass(1)
  for (const slot of [5, 2_000]) {
    world.land(['b0', 'b1'], { ...ONE_NODE, slot })
    await grow(world, 10)
    t.match(await world.progress(stored), { state: 'pending', slot: null })
  }
})

for (const lands of [true, false])
  t.test(
    `a lie of 22 s is taken back, and a bundle that ${lands ? 'lands' : 'expires'} ends as on the chain`,
    async (t) => {
      const world = await bundleWorld(t)
      const stored = await world.store()
      const { tracker } = world.startTracker(1)
      tracker.begin(stored)
      await world.pass(2)
      world.land(['b0', 'b1'], ONE_NODE)
      await grow(world, 22)
      world.chain.statuses.clear()
      await grow(world, 4)
      t.match(await world.progress(stored), { state: 'pending', slot: null })
      if (lands) {
        world.land(['b0', 'b1'], { ...ONE_NODE, slot: world.chain.slot })
        await grow(world, 70)
        t.match(await world.end(stored), { state: 'finalized', slot: world.chain.statuses.get('b0')!.slot })
      } else {
        world.chain.valid.clear()
        world.chain.height += 200
        await grow(world, 70)
        t.match(await world.end(stored), { state: 'failed', reason: 'not_finalized' })
      }
    }
  )

t.test('one node that calls a member failed for a while ends no bundle', async (t) => {
  const world = await bundleWorld(t)
  const stored = await world.store()
  const { tracker } = world.startTracker(1)
  tracker.begin(stored)
  await world.pass(2)
  world.land(['b0', 'b1'], ONE_NODE)
  world.land(['b1'], { ...ONE_NODE, err: 'AccountInUse' })
  await grow(world, 20)
  t.equal(await world.end(stored), null)
  world.land(['b0', 'b1'], { ...ONE_NODE, slot: 100 })
  await grow(world, 70)
  t.match(await world.end(stored), { state: 'finalized', slot: 100 })
})

t.test('a block that was read decides at once, either way', async (t) => {
  const world = await bundleWorld(t)
  const [landed, missing] = [await world.store('a'), await world.store('b')]
  const { tracker } = world.startTracker(1)
  for (const each of [landed, missing]) tracker.begin(each)
  await world.pass(2)
  world.land(['a0', 'a1', 'b0', 'b1'], { ...ONE_NODE, slot: 99 })
  await world.pass(1)
  world.see(99, ['a0', 'a1'])
  await world.pass(2)
  t.match(await world.end(landed), { state: 'finalized', slot: 99 })
  t.equal(await world.end(missing), null)
  t.notSame(await world.progress(missing), null)
})

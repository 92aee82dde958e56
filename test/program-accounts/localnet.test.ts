import t from 'tap'
import { steadily as until } from '../until.ts'
import { contentOf, equal, follows, openWorld, PROGRAM, shape, shapeOf } from './mirrored-world.ts'

t.test(
  'the mirror equals the chain at each slot that it can read, through cut connections and restarts',
  async (t) => {
    const opened = await openWorld(t)
    const { world, node, start, restart, store } = opened
    let mirror = start()
    await equal(t, opened, mirror, 'after the first snapshot')
    const seen = new Set<number>()
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 20; i++) {
        await world.slots(2)
        seen.add(mirror.progress.slot!)
      }
      node.faults.dropSockets()
      await world.slots(5)
      await equal(t, opened, mirror, `after the connection was cut ${round + 1} times`)
    }
    mirror = await restart()
    await equal(t, opened, mirror, 'after a restart')
    t.ok(seen.size > 1, `${seen.size} slots`)
    for (const slot of seen)
      t.strictSame(
        shapeOf(await contentOf(store(), slot)),
        shape(world.states.get(slot)!.values()),
        `slot ${slot}`
      )
  }
)

t.test('updates that a node drops are found by the next audit', async (t) => {
  const opened = await openWorld(t, { auditMs: 300 })
  const { world, dropping, start, counted } = opened
  world.isReporting = false
  const mirror = start()
  await equal(t, opened, mirror, 'after the first snapshot')
  dropping.chance = 0.5
  await world.slots(30)
  dropping.chance = 0
  const before = await counted('millrace_mirror_snapshots_total')
  await until(async () => {
    await world.slots(1)
    return (await counted('millrace_mirror_snapshots_total')) > before + 1
  }, 'an audit')
  t.ok((await counted('millrace_mirror_repaired_accounts_total')) > 0)
  await equal(t, opened, mirror, 'after the audit')
})

t.test('updates that a node drops are found at once where blocks name their accounts', async (t) => {
  const opened = await openWorld(t)
  const { world, dropping, start, counted } = opened
  const mirror = start()
  await equal(t, opened, mirror, 'after the first snapshot')
  const snapshots = await counted('millrace_mirror_snapshots_total')
  const slots = new Set<number>()
  dropping.chance = 0.3
  for (let i = 0; i < 30; i++) {
    await world.slots(2)
    slots.add(mirror.progress.slot!)
    // A mirror that never comes to the newest slot leaves some accounts to an audit after five checks.
    if (i % 3 === 2) await follows(opened, mirror)
  }
  dropping.chance = 0
  await world.slots(2)
  await equal(t, opened, mirror, 'after the updates were dropped')
  t.ok((await counted('millrace_mirror_repaired_accounts_total')) > 0, 'updates were missed')
  t.equal(await counted('millrace_mirror_snapshots_total'), snapshots, 'no snapshot was needed')
  for (const slot of slots)
    t.strictSame(
      shapeOf(await contentOf(opened.store(), slot)),
      shape(world.states.get(slot)!.values()),
      `slot ${slot}`
    )
})

t.test('an account that leaves the program while a snapshot is on its way is not mirrored', async (t) => {
  const opened = await openWorld(t)
  const { world, snapshots, start } = opened
  let given: Uint8Array | null = null
  snapshots.read = async () => {
    if (given !== null) return
    const [account] = world.bank.accountsOf(PROGRAM, 'confirmed')
    given = account!.address
    await world.giveAway(given)
    const slot = world.bank.slot('processed')
    // Confirmed, so that the mirror has the block before the snapshot.
    while (world.bank.slot('confirmed') < slot) await world.bank.produceSlot()
  }
  const mirror = start()
  await equal(t, opened, mirror, 'after the first snapshot')
  t.ok(given !== null, 'an account has left')
})

t.test(
  'a mirror that is killed at any write goes on from there, and each slot that it shows is exact',
  async (t) => {
    const opened = await openWorld(t, { superseded: { retentionMs: 50, versionsMax: 30, bytesMax: 10_000 } })
    const { world, kill, restart, start, store } = opened
    let mirror = start()
    for (let round = 0; round < 8; round++) {
      const { fired } = kill
      kill.after = round
      await until(async () => {
        await world.slots(1)
        return kill.fired > fired
      }, `kill ${round}`)
      mirror = await restart()
      await until(async () => {
        await world.slots(1)
        return mirror.progress.reason === null && mirror.progress.slot !== null
      }, `start ${round}`)
      const slot = mirror.progress.slot!
      t.strictSame(
        shapeOf(await contentOf(store(), slot)),
        shape(world.states.get(slot)!.values()),
        `slot ${slot}`
      )
    }
    await equal(t, opened, mirror, 'after the kills')
  }
)

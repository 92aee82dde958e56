import t from 'tap'
import { steadily as until } from '../until.ts'
import { equal, indexedEqual, openWorld } from './mirrored-world.ts'

const FIRST = { offset: 0, length: 1 }
const NEXT = { offset: 1, length: 2 }

t.test('indexes of a mirror that is killed at any write equal a scan, at each slot', async (t) => {
  const superseded = { retentionMs: 50, versionsMax: 30, bytesMax: 10_000 }
  const opened = await openWorld(t, { superseded, indexStep: 5 })
  const { world, kill, declared, restart, start, store } = opened
  world.isGiving = true
  declared.indexes = [FIRST]
  let mirror = start()
  const stands = (ranges: number) => async (): Promise<boolean> => {
    await world.slots(1)
    const { reason, slot, indexes } = mirror.progress
    const ready = indexes.filter(({ state }) => state === 'ready')
    return reason === null && slot !== null && indexes.length === ranges && ready.length === ranges
  }
  for (let round = 0; round < 10; round++) {
    const { fired } = kill
    kill.after = round % 5
    // An index is added to the mirrored program, or removed from it, about when the process is killed.
    declared.indexes = round % 2 === 0 ? [FIRST, NEXT] : [FIRST]
    await until(async () => {
      await world.slots(1)
      return kill.fired > fired
    }, `kill ${round}`)
    mirror = await restart()
    await until(stands(declared.indexes.length), `start ${round}`)
    await indexedEqual(t, store(), mirror, mirror.progress.slot!)
  }
  declared.indexes = [FIRST, NEXT]
  await until(stands(2), 'both indexes are ready')
  await equal(t, opened, mirror, 'after the kills')
  await indexedEqual(t, store(), mirror, mirror.progress.slot!)
})

t.test('an index is built while the mirror goes on, and readers have it once it is whole', async (t) => {
  const opened = await openWorld(t, { indexStep: 1 })
  const { world, declared, start, store } = opened
  world.isGiving = true
  const mirror = start()
  await equal(t, opened, mirror, 'after the first snapshot')
  const slots: number[] = []
  const states = new Set<string>()
  declared.indexes = [NEXT]
  await until(async () => {
    await world.slots(1)
    slots.push(mirror.progress.slot!)
    const state = mirror.progress.indexes[0]?.state
    if (state !== undefined) states.add(state)
    return state === 'ready'
  }, 'the index is ready')
  t.strictSame([...states], ['building', 'ready'])
  t.ok(new Set(slots).size > 1, `${slots.length} slots`)
  await world.slots(5)
  for (const slot of new Set(slots)) await indexedEqual(t, store(), mirror, slot)
})

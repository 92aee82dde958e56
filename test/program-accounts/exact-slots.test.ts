import t from 'tap'
import { beginExactAt, exactSlotUpTo } from '../../src/program-accounts/exact-slots.ts'
import { SupersededVersions } from '../../src/program-accounts/superseded-versions.ts'
import { steadily as until } from '../until.ts'
import { contentOf, equal, openWorld, shape, shapeOf } from './mirrored-world.ts'

t.test('the exact slot up to a slot is in the range that begins before it', (t) => {
  const progress = { slot: 50, oldestSlot: 10, exactFrom: 40, ended: [{ from: 5, to: 20 }] }
  const at = (slot: number, more: object = {}) => exactSlotUpTo({ ...progress, ...more }, slot)
  t.equal(at(60), 50, 'no slot beyond the mirror')
  t.equal(at(45), 45)
  t.equal(at(39), 20, 'a gap has the state before it')
  t.equal(at(15), 15)
  t.equal(at(9), null, 'its versions were dropped')
  t.equal(at(39, { ended: [] }), null, 'right after the first snapshot')
  t.equal(at(39, { slot: null }), null)
  t.equal(exactSlotUpTo({ slot: 50, oldestSlot: 10 }, 49), null, 'progress of earlier versions')
  t.equal(exactSlotUpTo({ slot: 50, oldestSlot: 10 }, 51), 50)
  t.end()
})

t.test('a new range leaves earlier ones readable, or none if they lack updates', (t) => {
  const progress = {
    slot: 50,
    oldestSlot: 10,
    exactFrom: 40,
    ended: [
      { from: 1, to: 9 },
      { from: 12, to: 20 }
    ]
  }
  t.same(beginExactAt(progress, 60, true), {
    exactFrom: 60,
    ended: [
      { from: 12, to: 20 },
      { from: 40, to: 50 }
    ]
  })
  t.same(beginExactAt(progress, 60, false), { exactFrom: 60, ended: [] })
  t.same(beginExactAt({ slot: null, oldestSlot: 0 }, 60, true), { exactFrom: 60, ended: [] })
  t.same(beginExactAt(progress, 40, true).ended, [{ from: 12, to: 20 }], 'an empty range is left out')
  let many = progress.ended
  for (let slot = 100; slot < 200; slot += 2)
    many = [...beginExactAt({ slot, oldestSlot: 0, exactFrom: slot - 1, ended: many }, slot + 1, true).ended!]
  t.equal(many.length, 8)
  t.same(many.at(-1), { from: 197, to: 198 })
  t.end()
})

t.test('versions that finalized state may need stay beyond the limit of older ones', (t) => {
  const limits = { retentionMs: 1_000, versionsMax: 1, bytesMax: 10_000, recent: { ms: 100, versionsMax: 3 } }
  const superseded = new SupersededVersions(limits)
  const version = { address: new Uint8Array(32), slot: 1, account: null }
  for (let slot = 2; slot < 5; slot++) superseded.add(version, slot, 0)
  t.equal(superseded.take(99).keys.length, 0)
  superseded.add(version, 5, 99)
  t.equal(superseded.take(99).keys.length, 1, 'the limit of recent ones')
  t.equal(superseded.take(100).keys.length, 2, 'the limit of all')
  t.end()
})

t.test(
  'each slot that the mirror calls exact equals the chain, through losses, corrections, audits and a restart',
  async (t) => {
    const opened = await openWorld(t, { auditMs: 400 })
    const { world, node, dropping, start, restart, store } = opened
    let mirror = start()
    await equal(t, opened, mirror, 'after the first snapshot')
    let compared = 0
    const compare = async (name: string) => {
      const { progress } = mirror
      const wrong: string[] = []
      for (let atMost = progress.slot!; atMost > progress.slot! - 40; atMost--) {
        const slot = exactSlotUpTo(progress, atMost)
        const state = slot === null ? undefined : world.states.get(slot)
        if (slot === null || state === undefined) continue
        compared++
        const [found, expected] = [shapeOf(await contentOf(store(), slot)), shape(state.values())]
        if (JSON.stringify(found) !== JSON.stringify(expected))
          wrong.push(`${slot} of ${JSON.stringify(progress)}`)
      }
      t.same(wrong, [], name)
    }
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 5; i++) {
        await world.slots(3)
        await compare(`in round ${round}`)
      }
      dropping.chance = round % 2 === 0 ? 0.2 : 0
      await world.slots(10)
      dropping.chance = 0
      node.faults.dropSockets()
      await world.slots(3)
      await until(async () => {
        await world.slots(1)
        return mirror.progress.reason === null
      }, 'a repair')
      await compare(`after loss ${round}`)
    }
    const before = mirror.progress.slot!
    mirror = await restart()
    await until(async () => {
      await world.slots(1)
      return mirror.progress.reason === null && mirror.progress.slot! > before
    }, 'a restart')
    await compare('after a restart')
    t.not(exactSlotUpTo(mirror.progress, before), null, 'the state before the restart is still readable')
    t.ok(compared > 100, `${compared} slots`)
  }
)

t.test(
  'versions of accounts that share a partition leave early if they have too many bytes together',
  (t) => {
    const limits = { retentionMs: 1_000, versionsMax: 100, bytesMax: 1e6, bucketBytesMax: 3_000 }
    const superseded = new SupersededVersions(limits)
    const add = (first: number, slot: number): void => {
      const data = new Uint8Array(1_000)
      const account = { lamports: 1n, executable: false, rentEpoch: 0n, data }
      superseded.add({ address: new Uint8Array(32).fill(first), slot, account }, slot + 1, 0)
    }
    // 4 and 7 are in one partition, 8 in another.
    for (const [first, slot] of [
      [4, 1],
      [8, 2],
      [7, 3],
      [8, 4]
    ] as const)
      add(first, slot)
    t.equal(superseded.isOverBytes, false)
    t.equal(superseded.take(1).keys.length, 0)
    add(7, 5)
    t.equal(superseded.isOverBytes, true)
    t.match(superseded.take(1), { keys: [{ slot: 1 }], oldestSlot: 2 }, 'the oldest of that partition')
    t.equal(superseded.isOverBytes, false)
    add(4, 6)
    t.match(
      superseded.take(1),
      { keys: [{ slot: 2 }, { slot: 3 }], oldestSlot: 4 },
      'with all that are older'
    )
    t.equal(superseded.size, 3)
    t.end()
  }
)

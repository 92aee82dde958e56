import t from 'tap'
import { ReachedSlots } from '../../src/rpc/reached-slots.ts'
import { SlotFloors } from '../../src/rpc/slot-floors.ts'

t.test('slots that nodes have reached, while the newest slot rises and falls', async (t) => {
  const reached = new ReachedSlots(5_000)
  t.equal(reached.newest('confirmed', 0), Infinity, 'before the first probe nothing is refused')
  reached.reached('confirmed', 100)
  t.equal(reached.newest('confirmed', 0), 100)
  reached.standAt('confirmed', null, 1_000)
  t.equal(reached.newest('confirmed', 9_000), 100, 'without a node that is up nothing changes')
  reached.standAt('confirmed', 90, 10_000)
  t.equal(reached.newest('confirmed', 14_999), 100, 'a slot is held for five seconds')
  t.equal(reached.newest('confirmed', 15_000), 90)
  reached.reached('confirmed', 200)
  reached.standAt('confirmed', 150, 20_000)
  reached.standAt('confirmed', 120, 22_000)
  t.equal(reached.newest('confirmed', 24_000), 200, 'two falls: the first one holds')
  t.equal(reached.newest('confirmed', 25_000), 150, 'then the second one')
  t.equal(reached.newest('confirmed', 27_000), 120)
  t.equal(reached.newest('finalized', 27_000), Infinity, 'a settled slot follows from no newer one')
  t.equal(reached.newest('processed', 27_000), 120, 'but is part of it')
})

t.test('the floor of a key that no node has reached is abandoned, at its commitment and above', async (t) => {
  const abandoned: (readonly [number, number])[] = []
  const floors = new SlotFloors({ onAbandon: (floor, from) => abandoned.push([floor, from]) })
  floors.saw('key', 'processed', 100)
  floors.saw('key', 'confirmed', 90_000)
  floors.saw('other', 'confirmed', 95)
  t.equal(floors.of('key', 'processed', Infinity), 90_000)
  t.equal(floors.of('key', 'confirmed', 98), 98)
  t.equal(floors.of('key', 'processed', 110), 100, 'its other floors stand')
  t.equal(floors.of('other', 'confirmed', 98), 95)
  t.same(abandoned, [[90_000, 98]])
  t.equal(floors.abandoned, 1)
  floors.saw('key', 'confirmed', 99)
  t.equal(floors.of('key', 'confirmed', 99), 99, 'it rises again')
})

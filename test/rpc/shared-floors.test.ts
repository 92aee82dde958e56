import fc from 'fast-check'
import t from 'tap'
import { INVALID_REQUEST } from '../../src/rpc/rpc-error.ts'
import { SharedFloorGateway } from '../../src/rpc/shared-floors.ts'
import { SlotFloors } from '../../src/rpc/slot-floors.ts'
import type { SharedSlotFloors } from '../../storage/cluster/coordination.ts'
import { randomRuns } from '../random-runs.ts'
import { virtualClock } from '../virtual-time.ts'
import { backstepsOf, contextOf, gatewayOf } from './floor-gateways.ts'

/** The floors of all processes, as a Redis has them. */
class FakeFloors implements SharedSlotFloors {
  readonly floors = new Map<string, number[]>()
  available = true
  isHanging = false
  raises = 0

  async raise(keyId: string, slots: readonly number[]): Promise<readonly number[]> {
    if (this.isHanging) return new Promise(() => undefined)
    this.raises++
    const before = this.floors.get(keyId) ?? [0, 0, 0]
    const raised = before.map((floor, at) => Math.max(floor, slots[at]!))
    this.floors.set(keyId, raised)
    return raised
  }
}

t.test(
  'reads of a key that alternate between gateways never go back in slot, whatever their nodes do',
  async (t) => {
    const step = fc.record({ at: fc.nat(2), moves: fc.integer({ min: -3, max: 5 }) })
    const backsteps = async (steps: readonly { at: number; moves: number }[], shared: FakeFloors | null) => {
      const gateways = [0, 1, 2].map(() => gatewayOf(shared))
      let [newest, back] = [0, 0]
      for (const { at, moves } of steps) {
        const { node, read, clock } = gateways[at]!
        node.slot = Math.max(1, node.slot + moves)
        clock.increment(10_000)
        const slot = await read()
        if (slot === null) throw new Error('the answer has no slot')
        if (slot < newest) back++
        newest = Math.max(newest, slot)
      }
      return back
    }
    let backWithout = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        backWithout += await backsteps(steps, null)
        return (await backsteps(steps, new FakeFloors())) === 0
      }),
      randomRuns(50)
    )
    t.ok(backWithout > 0, `${backWithout} reads went back without shared floors`)
  }
)

t.test('a repeated read of the same slot costs one round trip, a newer one a second', async (t) => {
  const shared = new FakeFloors()
  const { node, read, clock } = gatewayOf(shared)
  node.slot = 5
  await read()
  t.equal(shared.raises, 2)
  clock.increment(10_000)
  await read()
  t.equal(shared.raises, 3)
})

t.test('a floor that no node has reached is abandoned once, and does not return', async (t) => {
  const shared = new FakeFloors()
  const floors = new SlotFloors()
  const reply = { status: 200, body: null, facts: { cache: null, ageMs: null, slot: null } }
  const gateway = new SharedFloorGateway({ answer: () => reply }, floors, shared, virtualClock())
  const ask = () => gateway.answer({ kind: 'refused', refusal: INVALID_REQUEST }, contextOf())
  await shared.raise('key', [0, 0, 900])
  await ask()
  t.equal(floors.of('key', 'finalized'), 900)
  t.equal(floors.of('key', 'finalized', 100), 100, 'it is abandoned')
  await ask()
  t.equal(floors.of('key', 'finalized'), 100)
  t.equal(floors.of('key', 'confirmed'), 100)
  await shared.raise('key', [0, 0, 901])
  await ask()
  t.equal(floors.of('key', 'finalized'), 901, 'a newer one counts')
})

t.test('shared floors that are unreachable, or do not answer in time, hold up no request', async (t) => {
  const shared = new FakeFloors()
  const { node, read, clock } = gatewayOf(shared)
  node.slot = 5
  shared.available = false
  t.equal(await read(), 5)
  t.equal(shared.raises, 0)
  shared.available = true
  shared.isHanging = true
  clock.increment(10_000)
  const slow = read()
  const timer = setInterval(() => clock.increment(10), 1)
  t.equal(await slow, 5)
  clearInterval(timer)
})

t.test(
  'of 327 reads that alternate between two gateways, one with a lagging node, none goes back',
  async (t) => {
    t.equal(await backstepsOf(() => null), 25, 'before floors were shared')
    const shared = new FakeFloors()
    t.equal(await backstepsOf(() => shared), 0)
  }
)

import t from 'tap'
import { blockOf, VENUES } from '../../stream/blocks.ts'
import { advance, settle } from '../../virtual-time.ts'
import { DeliveryWorld } from './delivery-world.ts'

const CHANNELS = VENUES.map((venue) => `venue:${venue}`)
/** Calls for hot values that a process makes until it delivers: at most these many. */
const CALLS = 5

async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await settle()
}

/**
 * A process that is cut off from its leases delivers a batch. Meanwhile a second process adopts the webhook, and makes a
 * number of calls to the store. With `dies` the second process then dies, and a third one adopts the webhook. Returns the
 * world after all events are delivered.
 */
async function takenOver(calls: number, dies: boolean): Promise<DeliveryWorld> {
  const world = new DeliveryWorld()
  world.start(await world.create({ channels: CHANNELS }))
  await settled()
  world.stream.commit(blockOf(1, [0, 1]))
  await advance(world.clock, 500)
  await settled()
  const { promise: isThere, resolve: there } = Promise.withResolvers<void>()
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  let left = calls
  world.store.onHot = async () => {
    if (left-- !== 1) return
    there()
    await goOn
  }
  // The block is committed before, so that both processes have it to deliver.
  const block = blockOf(2, [2, 3])
  const old = await world.takeOver()
  await Promise.race([isThere, settled()])
  world.stream.commit(block)
  old.stream.feed.publish(block)
  await advance(world.clock, 500)
  await settled()
  const dead = dies ? world.kill() : null
  world.store.onHot = null
  resolve()
  await dead
  if (dies) world.start(await world.stored())
  for (let n = 0; n < 8; n++) {
    await settled()
    await advance(world.clock, 500)
  }
  await old.end()
  await world.kill()
  return world
}

t.test(
  'a process that is cut off while another takes over, at whichever call to the store: no event comes in two batches',
  async (t) => {
    for (const dies of [false, true])
      for (let calls = 0; calls <= CALLS; calls++) {
        const { receiver, faults } = await takenOver(calls, dies)
        const batches = new Map(receiver.received.map(({ body }) => [body.batch_id, body]))
        const cursors = [...batches.values()].flatMap(({ events }) => events.map(({ data }) => data.cursor))
        const name = `after ${calls} calls${dies ? ' of a process that dies' : ''}`
        t.equal(cursors.length, 4, `${name}: all events`)
        t.same(
          cursors,
          [...new Set(cursors)].sort((a, b) => a - b),
          name
        )
        t.same(faults, [])
      }
  }
)

import t from 'tap'
import { endOfEvents } from '../../../src/market/cursor.ts'
import { BUFFER_MAX } from '../../../src/webhooks/backlog.ts'
import { blockOf } from '../../stream/blocks.ts'
import { CHANNELS, SPECS, storedCursors, started, settled, pass } from './delivery-steps.ts'
import { DeliveryWorld } from './delivery-world.ts'

t.test('a webhook that is enabled again begins at the head, and tells the range between', async (t) => {
  const world = await started()
  world.receiver.answers = [200, 410, 200]
  world.stream.commit(blockOf(1, [0]))
  await pass(world, 500)
  world.stream.commit(blockOf(2, [0]))
  await pass(world, 500)
  const from = (await world.progress())!.position
  const stored = await world.stored()
  world.stream.commit(blockOf(3, [0, 1]))
  const outcome = await world.documents.update(stored, { ...stored.value, active: true, activation: 2 })
  if (!outcome.ok) return t.fail(outcome.reason)
  world.start(outcome.stored)
  await settled()
  world.stream.commit(blockOf(4, [0]))
  await pass(world, 500)
  const { body } = world.receiver.received[2]!
  t.equal(body.events.length, 1)
  t.match(body.missed, { from_cursor: from, to_cursor: endOfEvents(3) })
  t.equal(body.dropped, 1, 'the batch of 410')
})

t.test('with since it begins there, and has every event once', async (t) => {
  const world = new DeliveryWorld()
  for (let slot = 1; slot <= 40; slot++) world.stream.commit(blockOf(slot, SPECS))
  world.start(await world.create({ channels: CHANNELS, since: endOfEvents(3) }))
  await settled()
  world.stream.commit(blockOf(41, SPECS))
  await pass(world, 3_000)
  t.same(
    world.receiver.cursors,
    storedCursors(world).filter((cursor) => cursor > endOfEvents(3))
  )
})

t.test('what is beyond the replay horizon is told as a range, not as a count', async (t) => {
  const world = new DeliveryWorld()
  for (let slot = 1; slot <= 10; slot++) world.stream.commit(blockOf(slot, [0]))
  world.horizon = endOfEvents(6)
  world.start(await world.create({ channels: CHANNELS, since: endOfEvents(2) }))
  await settled()
  await pass(world, 1_000)
  const [{ body }] = world.receiver.received as [(typeof world.receiver.received)[0]]
  t.equal(body.events.length, 4)
  t.same(body.missed, { from_cursor: endOfEvents(2), to_cursor: endOfEvents(6) })
  t.notOk('dropped' in body)
  world.stream.commit(blockOf(11, [0]))
  await pass(world, 1_000)
  t.notOk('missed' in world.receiver.received[1]!.body)
})

t.test('after a kill with a POST in flight the same batch is sent again', async (t) => {
  const world = await started()
  world.receiver.answers = [null]
  world.stream.commit(blockOf(1, SPECS))
  await pass(world, 500)
  await world.kill()
  world.receiver.answers = [200]
  world.stream.commit(blockOf(2, [1]))
  world.start(await world.stored())
  await settled(30)
  await pass(world, 1_000)
  const { received } = world.receiver
  t.equal(received[0]!.text, received[1]!.text, 'the same id and bytes')
  t.same(
    received.slice(1).flatMap(({ body }) => body.events.map(({ data }) => data.cursor)),
    storedCursors(world)
  )
})

t.test('a kill during the wait for an attempt keeps the attempts and the time', async (t) => {
  const world = await started()
  world.receiver.answers = [500, 500, 200]
  world.stream.commit(blockOf(1, SPECS))
  await pass(world, 7_000)
  await world.kill()
  world.start(await world.stored())
  await settled(30)
  await pass(world, 28_400)
  t.equal(world.receiver.received.length, 2)
  await pass(world, 200)
  t.equal(world.receiver.received.length, 3)
  t.equal(world.receiver.received[2]!.headers['attempt'], '3')
  t.equal(world.receiver.received[2]!.text, world.receiver.received[0]!.text)
})

t.test('a batch whose events a fork has changed is sent as another batch', async (t) => {
  const world = await started()
  world.receiver.answers = [null]
  world.stream.commit(blockOf(1, SPECS))
  world.stream.commit(blockOf(2, SPECS))
  await pass(world, 500)
  await world.kill()
  world.chain.rollBack(1, 3)
  world.receiver.answers = [200]
  world.start(await world.stored())
  await settled(30)
  world.stream.commit(blockOf(3, [0]))
  await settled(30)
  await pass(world, 1_000)
  const [first, ...others] = world.receiver.received
  t.not(others[0]!.body.batch_id, first!.body.batch_id)
  t.same(
    others.flatMap(({ body }) => body.events.map(({ data }) => data.cursor)),
    storedCursors(world),
    'what the log has now, retractions included'
  )
})

t.test('an outage of the store delays deliveries and uses up no attempt', async (t) => {
  const world = await started()
  world.store.isAway = true
  world.stream.commit(blockOf(1, SPECS))
  await pass(world, 60_000, 500)
  t.equal(world.receiver.received.length, 0, 'a batch that is not stored is not sent')
  world.receiver.answers = [500, 200]
  world.store.isAway = false
  await pass(world, 600)
  t.equal(world.receiver.received.length, 1)
  world.store.isAway = true
  await pass(world, 60_000, 500)
  world.store.isAway = false
  await pass(world, 600)
  t.equal(world.receiver.received.length, 2)
  t.equal(world.receiver.received[1]!.headers['attempt'], '2')
})

t.test('a POST that this process could not make uses up no attempt', async (t) => {
  const world = await started()
  world.receiver.answers = ['too_many_posts', 200]
  world.stream.commit(blockOf(1, SPECS))
  await pass(world, 1_600)
  t.same(
    world.receiver.received.map(({ headers }) => headers['attempt']),
    ['1', '1']
  )
  t.equal((await world.progress())!.attempts.length, 0)
})

t.test('a receiver that hangs has 5,000 events waiting, and is told how many were dropped', async (t) => {
  const world = await started()
  world.receiver.answers = [null]
  const blocks = 700
  for (let slot = 1; slot <= blocks; slot++) {
    world.stream.commit(blockOf(slot, SPECS))
    if (slot % 50 === 0) await settled(2)
  }
  t.equal(world.delivery!.buffered, BUFFER_MAX)
  const all = storedCursors(world)
  const dropped = all.length - 64 - BUFFER_MAX
  world.receiver.answers = [200]
  world.receiver.received[0]!.answer(200)
  for (let turn = 0; turn < 40; turn++) await pass(world, 1_000, 500)
  t.same(world.receiver.cursors, [...all.slice(0, 64), ...all.slice(64 + dropped)])
  t.equal(world.receiver.received[1]!.body.dropped, dropped)
  t.equal(world.receiver.received.filter(({ body }) => 'dropped' in body).length, 1)
})

t.test('a steady flow has one write for each batch', async (t) => {
  const world = await started()
  const before = world.store.hotWrites
  for (let slot = 1; slot <= 50; slot++) {
    world.stream.commit(blockOf(slot, [0, 1]))
    await pass(world, 400)
  }
  const batches = world.receiver.received.length
  t.ok(batches >= 20)
  t.equal(world.store.hotWrites - before, batches)
})

t.test('a webhook without events is written down once in half a minute', async (t) => {
  const world = await started({ channels: ['launches'] })
  const before = world.store.hotWrites
  for (let slot = 1; slot <= 100; slot++) {
    world.stream.commit(blockOf(slot, [0]))
    await pass(world, 1_000, 1_000)
  }
  t.equal(world.store.hotWrites - before, 3)
  t.ok((await world.progress())!.position > endOfEvents(80))
})

t.test('a drain finishes the POST in flight, and begins no other', async (t) => {
  const world = await started()
  world.receiver.answers = [null]
  for (let slot = 1; slot <= 20; slot++) world.stream.commit(blockOf(slot, SPECS))
  await settled()
  t.equal(world.delivery!.drain(), true)
  t.equal(world.delivery!.state, 'draining')
  world.receiver.received[0]!.answer(200)
  await world.running
  t.equal(world.delivery!.state, 'closed')
  t.equal(world.receiver.received.length, 1)
  world.receiver.answers = [200]
  world.start(await world.stored())
  await settled(40)
  await pass(world, 2_000)
  t.same(world.receiver.cursors, storedCursors(world), 'nothing is sent twice')
})

t.test('a process whose progress another one has written sends nothing more', async (t) => {
  const world = await started()
  const stored = await world.stored()
  const progress = (await world.progress())!
  const { claim } = world
  claim.held = false
  await world.documents.putHot(stored, 9, progress)
  world.stream.commit(blockOf(1, SPECS))
  await pass(world, 1_000)
  await world.running
  t.equal(claim.lost.aborted, true)
  t.equal(world.receiver.received.length, 0)
  t.same(await world.progress(), progress)
})

t.test('new secrets sign the next attempt', async (t) => {
  const world = await started()
  const stored = await world.stored()
  world.receiver.answers = [500, 200]
  world.stream.commit(blockOf(1, SPECS))
  await pass(world, 1_000)
  const outcome = await world.documents.update(stored, { ...stored.value, secretHint: 'new' })
  if (!outcome.ok) return t.fail(outcome.reason)
  world.delivery!.accept(outcome.stored)
  await pass(world, 6_000)
  t.equal(world.receiver.received.length, 2)
  t.equal(world.delivery!.stored.value.secretHint, 'new')
})

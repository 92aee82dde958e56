import t from 'tap'
import { FAILED_DELIVERIES_MAX } from '../../../machines/webhook.machine.ts'
import { BUFFER_MAX } from '../../../src/webhooks/backlog.ts'
import { endOfEvents } from '../../../src/market/cursor.ts'
import { blockOf, VENUES } from '../../stream/blocks.ts'
import { channelNamed } from '../../stream/stream-world.ts'
import { advance, settle } from '../../virtual-time.ts'
import { DeliveryWorld } from './delivery-world.ts'

const CHANNELS = VENUES.map((venue) => `venue:${venue}`)
const SPECS = [0, 1, 2, 3, 4, 5, 6, 7]

/** Cursors of everything that the store has on the channels, in order. */
const storedCursors = ({ chain }: DeliveryWorld): number[] =>
  CHANNELS.flatMap((name) => chain.eventsOf(channelNamed(name), -1, Infinity))
    .map(({ cursor }) => cursor)
    .sort((a, b) => a - b)

/** A world with a webhook on two channels, whose process runs. */
async function started(changes: Parameters<DeliveryWorld['create']>[0] = {}): Promise<DeliveryWorld> {
  const world = new DeliveryWorld()
  world.start(await world.create({ channels: CHANNELS, ...changes }))
  await settled()
  return world
}

async function settled(turns = 12): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await settle()
}

/** Moves the clock in steps of some length, each of which may fire one timer. */
async function pass({ clock }: DeliveryWorld, ms: number, step = 100): Promise<void> {
  for (let elapsed = 0; elapsed < ms; elapsed += step) {
    clock.increment(Math.min(step, ms - elapsed))
    await settled(4)
  }
}

t.test('events go out 500 ms after the first of a batch', async (t) => {
  const world = await started()
  world.stream.commit(blockOf(1, [0, 1]))
  await advance(world.clock, 300)
  world.stream.commit(blockOf(2, [2, 3]))
  await advance(world.clock, 199)
  t.equal(world.receiver.received.length, 0)
  await advance(world.clock, 1)
  t.equal(world.receiver.received.length, 1)
  const [{ body, headers }] = world.receiver.received as [(typeof world.receiver.received)[0]]
  t.match(body, { webhook_id: 7, batch_id: 'batch-1', batch_ts: 500, cursor: storedCursors(world)[3] })
  t.match(headers, { 'webhook-id': 'batch-1', attempt: '1' })
  t.same(world.receiver.cursors, storedCursors(world))
  t.notOk('dropped' in body)
})

t.test('64 events go out at once, further ones after the answer', async (t) => {
  const world = await started()
  world.receiver.answers = [null]
  for (let slot = 1; slot <= 10; slot++) world.stream.commit(blockOf(slot, SPECS))
  await settled()
  t.same(
    world.receiver.received.map(({ body }) => body.events.length),
    [64]
  )
  await advance(world.clock, 600)
  t.equal(world.receiver.received.length, 1, 'one POST is in flight')
  world.receiver.received[0]!.answer(204)
  await settled()
  t.equal(world.receiver.received[1]!.body.events.length, 16, 'what is older than 500 ms goes at once')
  t.same(world.receiver.cursors, storedCursors(world))
})

t.test('a batch that fails is sent again after 5 s and 30 s with the same bytes, then dropped', async (t) => {
  const world = await started()
  world.receiver.answers = [500, 'timeout', 301, 200]
  world.stream.commit(blockOf(1, SPECS))
  await pass(world, 45_000)
  world.stream.commit(blockOf(2, [0, 1]))
  await pass(world, 500)
  const { received } = world.receiver
  t.same(
    received.map(({ atMs }) => atMs),
    [500, 5_500, 35_500, 45_500]
  )
  t.equal(new Set(received.slice(0, 3).map(({ text }) => text)).size, 1)
  t.same(
    received.map(({ headers }) => headers['attempt']),
    ['1', '2', '3', '1']
  )
  t.match(received[3]!.body, { dropped: SPECS.length, batch_id: 'batch-2' })
  await pass(world, 1_500)
  t.match(await world.progress(), {
    dropped: 0,
    droppedTotal: SPECS.length,
    consecutiveFailures: 0,
    lastStatus: 200,
    batch: null
  })
  t.match(await world.attempts(), [
    { attempt: 1, statusCode: 500, nextRetryAtMs: 5_500 },
    { attempt: 2, statusCode: null, error: 'timeout', nextRetryAtMs: 35_500 },
    { attempt: 3, statusCode: 301, nextRetryAtMs: null },
    { attempt: 1, statusCode: 200, events: 2, dropped: SPECS.length }
  ])
  world.stream.commit(blockOf(3, [0]))
  await pass(world, 500)
  t.notOk('dropped' in received[4]!.body, 'an accepted batch has told it')
  t.match(world.told, [{ event: 'dropped', webhook_id: 7, dropped: SPECS.length, ts_ms: 35_500 }])
  t.equal(world.told.length, 1)
})

t.test('Retry-After lengthens a wait, up to an hour, and adds no attempt', async (t) => {
  const world = await started()
  world.receiver.answers = [[429, 20_000], [503, 86_400_000], 500, 200]
  world.stream.commit(blockOf(1, SPECS))
  await pass(world, 3_700_000, 10_000)
  t.same(
    world.receiver.received.map(({ atMs }) => Math.round(atMs / 10_000)),
    [1, 3, 363]
  )
})

t.test('20 failed deliveries in a row deactivate the webhook', async (t) => {
  const world = await started()
  world.receiver.answers = [500]
  for (let slot = 1; slot <= FAILED_DELIVERIES_MAX; slot++) {
    t.equal((await world.stored()).value.active, true)
    world.stream.commit(blockOf(slot, [0]))
    await pass(world, 36_000, 500)
  }
  await world.running
  t.match((await world.stored()).value, { active: false, disabledReason: 'consecutive_failures' })
  t.match(await world.progress(), {
    consecutiveFailures: FAILED_DELIVERIES_MAX,
    dropped: FAILED_DELIVERIES_MAX,
    batch: null
  })
  t.equal(world.receiver.received.length, 3 * FAILED_DELIVERIES_MAX)
  t.equal(world.stream.hub.channels, 0, 'it reads no channel')
  const deactivations = world.told.filter(({ event }) => event === 'deactivated')
  t.match(deactivations, [{ webhook_id: 7, reason: 'consecutive_failures' }])
  t.equal(deactivations.length, 1)
  t.equal(world.told.length, 1 + FAILED_DELIVERIES_MAX, 'and each dropped batch was told')
})

t.test('410 deactivates the webhook at once', async (t) => {
  const world = await started()
  world.receiver.answers = [410]
  world.stream.commit(blockOf(1, SPECS))
  await pass(world, 500)
  await world.running
  t.match((await world.stored()).value, { active: false, disabledReason: 'gone' })
  t.match(world.told[0], { event: 'deactivated', url: 'http://receiver.example/', reason: 'gone' })
  t.equal(world.receiver.received.length, 1)
})

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
  world.chain.takeBack(1, 3)
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

import t from 'tap'
import { FAILED_DELIVERIES_MAX } from '../../../machines/webhook.machine.ts'
import { blockOf } from '../../stream/blocks.ts'
import { advance } from '../../virtual-time.ts'
import { SPECS, storedCursors, started, settled, pass } from './delivery-steps.ts'
import type { Answer } from './delivery-world.ts'

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
  t.notOk('dropped' in received[4]!.body, 'an accepted batch has reported it')
  t.match(world.published, [{ event: 'dropped', webhook_id: 7, dropped: SPECS.length, ts_ms: 35_500 }])
  t.equal(world.published.length, 1)
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
  const deactivations = world.published.filter(({ event }) => event === 'deactivated')
  t.match(deactivations, [{ webhook_id: 7, reason: 'consecutive_failures' }])
  t.equal(deactivations.length, 1)
  t.equal(world.published.length, 1 + FAILED_DELIVERIES_MAX, 'and each dropped batch was published')
})

t.test('410 deactivates the webhook at once', async (t) => {
  const world = await started()
  world.receiver.answers = [410]
  world.stream.commit(blockOf(1, SPECS))
  await pass(world, 500)
  await world.running
  t.match((await world.stored()).value, { active: false, disabledReason: 'gone' })
  t.match(world.published[0], { event: 'deactivated', url: 'http://receiver.example/', reason: 'gone' })
  t.equal(world.receiver.received.length, 1)
})

t.test('each answer is in the log of attempts, the progress and the counters', async (t) => {
  const cases: [answer: Answer, outcome: string, error: string | null][] = [
    ...[200, 201, 204, 299].map((status): [Answer, string, null] => [status, '2xx', null]),
    [301, '3xx', 'status_301'],
    [400, '4xx', 'status_400'],
    [410, 'gone', 'status_410'],
    [[429, 7_000], '4xx', 'status_429'],
    [500, '5xx', 'status_500'],
    ...['timeout', 'connection_reset', 'tls_failed', 'invalid_response', 'connection_refused'].map(
      (error): [Answer, string, string] => [error, 'failed', error]
    )
  ]
  for (const [answer, outcome, error] of cases) {
    const world = await started()
    world.receiver.answers = [answer]
    world.stream.commit(blockOf(1, SPECS))
    await pass(world, 2_000)
    const status = typeof answer === 'string' ? null : typeof answer === 'number' ? answer : answer[0]
    const wait = typeof answer === 'object' ? answer[1] : 5_000
    const [isAccepted, isGone] = [error === null, answer === 410]
    t.match(
      await world.attempts(),
      [
        {
          attempt: 1,
          statusCode: status,
          error,
          events: SPECS.length,
          dropped: 0,
          startedAtMs: 500,
          nextRetryAtMs: isAccepted || isGone ? null : 500 + wait
        }
      ],
      String(answer)
    )
    t.match(await world.progress(), {
      lastStatus: status,
      lastError: error,
      lastSuccessAtMs: isAccepted ? 500 : null,
      lastFailureAtMs: isAccepted ? null : 500,
      dropped: isGone ? SPECS.length : 0
    })
    t.match((await world.metrics.posts.get()).values, [{ labels: { outcome }, value: 1 }])
    t.match((await world.metrics.events.get()).values, [{ value: isAccepted ? SPECS.length : 0 }])
    t.match((await world.metrics.dropped.get()).values, [{ value: isGone ? SPECS.length : 0 }])
    await world.kill()
  }
})

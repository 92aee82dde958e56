import fc from 'fast-check'
import t from 'tap'
import {
  CONNECT_WITHIN_MS,
  IN_FLIGHT_MAX,
  LeaderLink,
  LINGER_MS,
  RETRY_MS,
  STREAMS_MAX,
  WAITING_MAX,
  WRITE_WITHIN_MS
} from '../../../../actors/transactions/tpu/leader-link.ts'
import type { LeaderOutcome } from '../../../../src/transactions/tpu/outcome.ts'
import { QuicError } from '../../../../src/transactions/tpu/quic.ts'
import { settle, virtualClock } from '../../../virtual-time.ts'
import { FakeTransport } from './fake-transport.ts'
import { randomRuns } from '../../../random-runs.ts'

const WIRE = new Uint8Array([1, 2, 3])

function world() {
  const clock = virtualClock()
  const transport = new FakeTransport()
  const counts: Partial<Record<LeaderOutcome, number>> = {}
  const link = new LeaderLink({ host: '203.0.113.7', port: 8_009 }, transport, clock, (outcome) => {
    counts[outcome] = (counts[outcome] ?? 0) + 1
  })
  const results: boolean[] = []
  const send = (count = 1): void => {
    for (let index = 0; index < count; index++) void link.send(WIRE).then((each) => results.push(each))
  }
  const pass = async (ms: number): Promise<void> => {
    clock.increment(ms)
    await settle()
  }
  return { clock, transport, counts, link, results, send, pass }
}

t.test('a transaction that comes before the handshake is written after it', async (t) => {
  const { transport, counts, link, results, send } = world()
  link.open()
  link.open()
  t.equal(transport.connections.length, 1, 'one connection is opened')
  send()
  await settle()
  const [connection] = transport.connections
  t.equal(connection!.writes.length, 0)
  t.equal(link.waiting, 1)
  connection!.open()
  await settle()
  t.same(connection!.writes[0]!.bytes, WIRE)
  t.same(results, [], 'it counts when it is written')
  connection!.answer()
  await settle()
  t.same(results, [true])
  t.same(counts, { written: 1 })
})

t.test('eight writes are in flight, and the others wait for their turn', async (t) => {
  const { transport, link, results, send } = world()
  link.open()
  const [connection] = transport.connections
  connection!.open()
  await settle()
  send(20)
  t.equal(connection!.inFlight, IN_FLIGHT_MAX)
  t.equal(link.waiting, 12)
  while (connection!.inFlight > 0) {
    connection!.answer()
    await settle()
    t.ok(connection!.inFlight <= IN_FLIGHT_MAX)
  }
  t.equal(results.filter(Boolean).length, 20)
})

t.test(
  'a first send of one tenant is written before repeats of another, which are dropped for it',
  async (t) => {
    const { transport, counts, link } = world()
    link.open()
    const [connection] = transport.connections
    connection!.open()
    await settle()
    for (let nth = 0; nth < IN_FLIGHT_MAX + WAITING_MAX; nth++)
      void link.send(WIRE, { tenant: 'a', rank: 'resend' })
    const first = new Uint8Array([7])
    const written = link.send(first, { tenant: 'b', rank: 'first' })
    await settle()
    t.same(counts, { queue_full: 1 })
    connection!.answer()
    await settle()
    t.same(connection!.writes.at(-1)!.bytes, first)
    while (connection!.inFlight > 0) {
      connection!.answer()
      await settle()
    }
    t.ok(await written)
    link.close()
  }
)

t.test('one more than may wait is dropped and counted', async (t) => {
  const { counts, results, send } = world()
  send(WAITING_MAX + 1)
  await settle()
  t.same(results, [false])
  t.same(counts, { queue_full: 1 })
})

t.test('a transaction that waits too long is dropped, and is not written later', async (t) => {
  const { transport, counts, results, send, pass } = world()
  send()
  await pass(WRITE_WITHIN_MS)
  t.same(results, [false])
  transport.connections[0]!.open()
  await settle()
  t.equal(transport.connections[0]!.writes.length, 0)
  t.same(counts, { late: 1 })
})

t.test('a connection whose write does not end is replaced', async (t) => {
  const { transport, counts, link, results, send, pass } = world()
  link.open()
  transport.connections[0]!.open()
  await settle()
  send()
  await pass(WRITE_WITHIN_MS)
  t.same(results, [false])
  t.equal(transport.connections.length, 2)
  transport.connections[1]!.open()
  await settle()
  send()
  transport.connections[1]!.answer()
  await settle()
  await pass(LINGER_MS)
  t.same(results, [false, true])
  t.same(counts, { late: 1, written: 1 })
  t.ok(transport.connections[0]!.isClosed)
})

t.test('a leader that refuses, or does not answer, is tried again later only', async (t) => {
  for (const reason of ['refused', 'timeout'] as const) {
    const { transport, counts, link, results, send, pass } = world()
    send(3)
    if (reason === 'refused') transport.connections[0]!.fail(new QuicError('refused', 'refused'))
    else {
      await pass(WRITE_WITHIN_MS)
      send()
      await pass(CONNECT_WITHIN_MS - WRITE_WITHIN_MS)
      t.ok(transport.connections[0]!.isClosed)
    }
    await settle()
    t.same(new Set(results), new Set([false]))
    if (reason === 'refused') t.same(counts, { refused: 3 })
    send()
    await settle()
    t.equal(counts.unreachable, 1)
    link.open()
    t.equal(transport.connections.length, 1)
    await pass(RETRY_MS)
    link.open()
    t.equal(transport.connections.length, 2)
  }
})

t.test('a connection that the leader closed is opened again', async (t) => {
  const { transport, link, results, counts, send } = world()
  link.open()
  transport.connections[0]!.open()
  await settle()
  send()
  transport.connections[0]!.close()
  await settle()
  t.same(results, [false])
  t.same(counts, { closed: 1 })
  t.equal(transport.connections.length, 2)
  transport.connections[1]!.open()
  await settle()
  send()
  transport.connections[1]!.answer()
  await settle()
  t.same(results, [false, true])
})

t.test('an ended link takes nothing, and closes after the last bytes had time', async (t) => {
  const { transport, link, results, counts, send, pass } = world()
  link.open()
  transport.connections[0]!.open()
  await settle()
  send()
  link.end()
  send()
  transport.connections[0]!.answer()
  await settle()
  await pass(LINGER_MS - 1)
  t.same(results.toSorted(), [false, true])
  t.same(counts, { written: 1, closed: 1 })
  t.notOk(transport.connections[0]!.isClosed)
  await pass(1)
  t.ok(transport.connections[0]!.isClosed)
  t.equal(link.connections, 0)
})

t.test('a link that ends while it opens closes what it opened', async (t) => {
  const { transport, link, results, send } = world()
  send()
  link.close()
  await settle()
  t.same(results, [false])
  t.ok(transport.connections[0]!.isClosed)
  t.equal(link.connections, 0)
})

t.test(
  'whatever happens: each send has one outcome, and no connection has more streams than it takes',
  async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ send: fc.integer({ min: 1, max: 40 }) }) },
      { weight: 6, arbitrary: fc.record({ answer: fc.integer({ min: 1, max: 40 }) }) },
      { weight: 3, arbitrary: fc.constant('open' as const) },
      { weight: 1, arbitrary: fc.constantFrom('refuse' as const, 'limit' as const, 'close' as const) },
      { weight: 2, arbitrary: fc.record({ pass: fc.constantFrom(1, 300, 1_000, 2_000, 10_000) }) }
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 80 }), async (steps) => {
        const { transport, counts, link, results, send, pass } = world()
        let sent = 0
        for (const each of steps) {
          const pending = transport.open.find(({ writes }) => writes.length === 0)
          const busy = transport.open.find(({ inFlight }) => inFlight > 0)
          if (each === 'open') pending?.open()
          else if (each === 'refuse') pending?.fail(new QuicError('refused', 'refused'))
          else if (each === 'limit') busy?.answer(new QuicError('stream_limit', 'limit'))
          else if (each === 'close') transport.open[0]?.close()
          else if ('send' in each) {
            send(each.send)
            sent += each.send
          } else if ('pass' in each) await pass(each.pass)
          else
            for (let left = each.answer; left > 0; left--) {
              transport.open.find(({ inFlight }) => inFlight > 0)?.answer()
              await settle()
            }
          await settle()
          for (const { writes, inFlight, isClosed } of transport.connections) {
            if (writes.length > STREAMS_MAX) throw new Error(`${writes.length} streams`)
            if (!isClosed && inFlight > IN_FLIGHT_MAX) throw new Error(`${inFlight} in flight`)
          }
          if (link.waiting > WAITING_MAX) throw new Error(`${link.waiting} wait`)
        }
        await pass(WRITE_WITHIN_MS)
        link.close()
        await settle()
        const counted = Object.values(counts).reduce((sum, count) => sum + count, 0)
        if (results.length !== sent || counted !== sent)
          throw new Error(`${results.length}, ${counted} of ${sent}`)
        if ((counts.written ?? 0) !== results.filter(Boolean).length)
          throw new Error('written is not what was said')
        if (transport.open.length > 0) throw new Error('a connection is left open')
      }),
      randomRuns(300)
    )
  }
)

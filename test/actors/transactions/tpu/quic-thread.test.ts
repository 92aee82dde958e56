import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { X509Certificate } from 'node:crypto'
import t, { type Test } from 'tap'
import { LeaderLink } from '../../../../actors/transactions/tpu/leader-link.ts'
import { QuicThread } from '../../../../actors/transactions/tpu/quic-thread.ts'
import { systemPorts } from '../../../../src/ports.ts'
import { tlsIdentity } from '../../../../src/transactions/tpu/certificate.ts'
import { ephemeralIdentity } from '../../../../src/transactions/tpu/identity.ts'
import type { LeaderOutcome } from '../../../../src/transactions/tpu/outcome.ts'
import { startQuicLeader } from './quic-leader.ts'
import { until } from '../../../until.ts'

const identity = ephemeralIdentity()
const WIRE = Buffer.alloc(1_232, 7)

async function startThread(t: Test): Promise<QuicThread> {
  const thread = await QuicThread.start(tlsIdentity(identity.privateKey))
  t.teardown(() => thread.close())
  return thread
}

t.test('bytes arrive as they were written, and the leader sees the identity', async (t) => {
  const [leader, thread] = await Promise.all([startQuicLeader(t), startThread(t)])
  const connection = thread.connect(leader.address)
  await connection.opened
  const wires = [1, 2, 1_231, 1_232].map((size) => Buffer.alloc(size, size))
  for (const wire of wires) await connection.write(wire)
  await until(() => leader.received.length === wires.length)
  t.same(
    leader.received.toSorted((a, b) => a.length - b.length),
    wires
  )
  const [certificate] = leader.certificates.map((each) => new X509Certificate(each))
  t.equal(certificate!.subject, 'CN=Solana node')
  t.ok(certificate!.checkPrivateKey(identity.privateKey))
})

t.test('a connection that either side closes is closed, and takes no write', async (t) => {
  const [leader, thread] = await Promise.all([startQuicLeader(t), startThread(t)])
  const [first, second] = [thread.connect(leader.address), thread.connect(leader.address)]
  await Promise.all([first.opened, second.opened])
  first.close()
  await first.closed
  await t.rejects(first.write(WIRE), { name: 'QuicError', reason: 'closed' })
  await until(() => leader.connections.length === 2)
  for (const connection of leader.connections)
    await connection.stop({ isApp: true, errorCode: 2, force: true }).catch(() => undefined)
  await second.closed
  await t.rejects(second.write(WIRE), { name: 'QuicError', reason: 'closed' })
})

t.test('a leader that speaks another protocol refuses', async (t) => {
  const [leader, thread] = await Promise.all([startQuicLeader(t, { protocol: 'other' }), startThread(t)])
  const connection = thread.connect(leader.address)
  await t.rejects(connection.opened, { name: 'QuicError', reason: 'refused' })
  await connection.closed
})

t.test('a leader that does not answer is given up when the caller closes', async (t) => {
  const thread = await startThread(t)
  const deaf = createSocket('udp4').bind(0, '127.0.0.1')
  t.teardown(() => deaf.close())
  await once(deaf, 'listening')
  const connection = thread.connect({ host: '127.0.0.1', port: deaf.address().port })
  setTimeout(() => connection.close(), 100)
  await t.rejects(connection.opened, { name: 'QuicError' })
  await connection.closed
})

t.test('a leader that allows few streams gets the others over further connections', async (t) => {
  const [leader, thread] = await Promise.all([
    startQuicLeader(t, { streamsMax: 10, isReading: false }),
    startThread(t)
  ])
  const outcomes: LeaderOutcome[] = []
  const link = new LeaderLink(leader.address, thread, systemPorts.clock, (each) => outcomes.push(each))
  t.teardown(() => link.close())
  let written = 0
  for (let index = 0; index < 25; index++) if (await link.send(Buffer.alloc(200, index))) written++
  await until(() => leader.streams.length === written)
  t.equal(leader.streams.length, written, 'what was said to be written has arrived')
  t.equal(leader.connections.length, 3)
  t.equal(outcomes.filter((each) => each === 'stream_limit').length, 2)
  t.equal(written, 23)
})

t.test('a write that the leader never takes is over in time', async (t) => {
  const [leader, thread] = await Promise.all([startQuicLeader(t, { streamBytesMax: 0 }), startThread(t)])
  const outcomes: LeaderOutcome[] = []
  const link = new LeaderLink(leader.address, thread, systemPorts.clock, (each) => outcomes.push(each))
  t.teardown(() => link.close())
  t.equal(await link.send(WIRE), false)
  t.same(outcomes, ['late'])
  t.same(leader.received, [])
})

t.test('the end of the thread ends its connections and writes, and nothing else', async (t) => {
  const [leader, thread] = await Promise.all([startQuicLeader(t, { streamBytesMax: 0 }), startThread(t)])
  const connection = thread.connect(leader.address)
  await connection.opened
  const writing = connection.write(WIRE)
  const closing = thread.close()
  await t.rejects(writing, { name: 'QuicError' })
  await connection.closed
  await closing
  t.equal(await thread.ended, null)
  const later = thread.connect(leader.address)
  await t.rejects(later.opened, { name: 'QuicError', reason: 'closed' })
  await later.closed
})

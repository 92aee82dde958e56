import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { leaders, type LeadersOptions } from '../../../../actors/transactions/tpu/leaders.ts'
import { QuicUnavailable } from '../../../../actors/transactions/tpu/quic-thread.ts'
import { leaderMetrics } from '../../../../src/transactions/leader-metrics.ts'
import type { LeaderSender } from '../../../../src/transactions/ports.ts'
import { ephemeralIdentity } from '../../../../src/transactions/tpu/identity.ts'
import type { LeaderAddress, LeaderNode } from '../../../../src/transactions/tpu/leader-node.ts'
import { advance, settle, virtualClock } from '../../../virtual-time.ts'
import { FakeTransport } from './fake-transport.ts'

const WIRE = new Uint8Array([1, 2, 3])
const LEADERS = ['anna', 'bert', 'cara', 'dora', 'emil', 'fred']

const addressOf = (leader: string): LeaderAddress => ({
  host: '203.0.113.7',
  port: 8_000 + LEADERS.indexOf(leader)
})

/** A chain of 400 ms a slot, whose leaders take turns, and the requests that its node got. */
class FakeNode implements LeaderNode {
  readonly requests = { slot: 0, slotLeaders: 0, addresses: 0 }
  known = new Map(LEADERS.map((leader) => [leader, addressOf(leader)]))
  isDown = false
  isClosed = false
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  get current(): number {
    return 1_000 + Math.floor(this.#now() / 400)
  }

  leaderOf(slot: number): string {
    return LEADERS[Math.floor(slot / 4) % LEADERS.length]!
  }

  slot(): Promise<number> {
    this.requests.slot++
    return this.#answer(this.current)
  }

  slotLeaders(from: number, count: number): Promise<readonly string[]> {
    this.requests.slotLeaders++
    return this.#answer(Array.from({ length: count }, (_, index) => this.leaderOf(from + index)))
  }

  addresses(): Promise<ReadonlyMap<string, LeaderAddress>> {
    this.requests.addresses++
    return this.#answer(new Map(this.known))
  }

  close(): Promise<void> {
    this.isClosed = true
    return Promise.resolve()
  }

  #answer<T>(value: T): Promise<T> {
    return this.isDown ? Promise.reject(new Error('node: unreachable')) : Promise.resolve(value)
  }
}

async function start(t: Test, given: Partial<LeadersOptions> & { readonly known?: readonly string[] } = {}) {
  const clock = virtualClock()
  const node = new FakeNode(() => clock.now())
  if (given.known !== undefined) node.known = new Map(given.known.map((each) => [each, addressOf(each)]))
  const transports: FakeTransport[] = []
  const metrics = leaderMetrics(new Registry())
  const drain = new AbortController()
  const gauges = new Map<string, () => number>()
  const logged: string[] = []
  const reported: string[] = []
  let sender: LeaderSender | null = null
  const log = (line: unknown): void => void logged.push(String(line))
  const run = leaders(
    {
      openNode: () => node,
      identity: () => Promise.resolve(ephemeralIdentity()),
      startTransport: () => {
        const transport = new FakeTransport()
        transport.isPrompt = true
        transports.push(transport)
        return Promise.resolve(transport)
      },
      ...given
    },
    { clock, random: () => 0.999, logger: { info: log, warn: log } as never, metrics }
  )({
    input: {},
    draining: drain.signal,
    signal: drain.signal,
    ready: (gives) => void (sender = gives),
    gauge: (name, read) => void gauges.set(name, read),
    supervises: () => undefined,
    show: () => undefined,
    report: (error) => void reported.push((error as Error).message)
  })
  const end = async (): Promise<void> => {
    drain.abort()
    await run
  }
  t.teardown(end)
  await settle()
  return {
    clock,
    node,
    transports,
    logged,
    reported,
    end,
    send: () => sender!.send(WIRE),
    gauge: (name: string) => gauges.get(name)!(),
    ports: () =>
      transports
        .at(-1)!
        .open.map(({ address }) => address.port - 8_000)
        .toSorted()
  }
}

t.test('a send goes to the leader of the slot and to the next one, and waits for no request', async (t) => {
  const { clock, node, transports, send } = await start(t)
  const { requests } = node
  t.same(requests, { slot: 1, slotLeaders: 1, addresses: 1 })
  for (const ms of [0, 900, 1_600, 3_300]) {
    await advance(clock, ms)
    const before = new Map(transports[0]!.connections.map((each) => [each, each.writes.length]))
    const asked = { ...requests }
    const sending = send()
    t.same(requests, asked)
    t.equal(await sending, 2)
    const written = transports[0]!.connections.filter((each) => each.writes.length > (before.get(each) ?? 0))
    const expected = [node.leaderOf(node.current), node.leaderOf(node.current + 4)]
    t.same(
      written.map(({ address }) => address.port).toSorted(),
      expected.map((each) => addressOf(each).port).toSorted()
    )
  }
})

t.test('while transactions are sent, connections to the leaders ahead are open, and no others', async (t) => {
  const { clock, node, send, ports, gauge } = await start(t)
  await send()
  for (let second = 0; second < 30; second++) {
    await advance(clock, 1_000)
    const ahead = [0, 4, 8, 12].map((slots) => LEADERS.indexOf(node.leaderOf(node.current + slots)))
    for (const port of ahead) t.ok(ports().includes(port), `${port} at ${second} s`)
  }
  t.ok(gauge('connections') <= 8, 'those of the last slots are closed')
  t.ok(node.requests.slot <= 17, 'the slot is asked for every two seconds')
  t.equal(node.requests.slotLeaders, 1)
})

t.test('without transactions there is no connection, and the node is asked little', async (t) => {
  const { clock, node, send, gauge } = await start(t)
  await advance(clock, 60_000)
  t.equal(gauge('connections'), 0)
  t.ok(node.requests.slot <= 7)
  await send()
  t.ok(gauge('connections') > 0)
  await advance(clock, 75_000)
  t.equal(gauge('connections'), 0, 'a minute after the last one they are closed')
})

t.test('the schedule is read again before it ends, and the addresses now and then', async (t) => {
  const { clock, node, send } = await start(t)
  for (let minute = 0; minute < 15; minute++) {
    t.equal(await send(), 2, `minute ${minute}`)
    for (let second = 0; second < 60; second += 10) {
      clock.increment(10_000)
      await settle()
      await settle()
    }
  }
  t.ok(node.requests.addresses >= 3 && node.requests.addresses <= 4, String(node.requests.addresses))
  t.ok(node.requests.slotLeaders <= 8, String(node.requests.slotLeaders))
})

t.test('a node that names no leader with QUIC is left alone, and no library is loaded', async (t) => {
  const { clock, node, transports, logged, send } = await start(t, { known: [] })
  for (let minute = 0; minute < 10; minute++) {
    t.equal(await send(), 0)
    clock.increment(60_000)
    await settle()
  }
  t.equal(transports.length, 0)
  t.same(node.requests, { slot: 0, slotLeaders: 0, addresses: 3 })
  t.same(logged, [])
})

t.test('leaders without an address do not count', async (t) => {
  const { clock, node, send } = await start(t, { known: ['anna'] })
  const counts = new Set<number>()
  for (let slot = 0; slot < 24; slot++) {
    const isKnown = [0, 4].some((slots) => node.leaderOf(node.current + slots) === 'anna')
    const count = await send()
    counts.add(count)
    t.equal(count, isKnown ? 1 : 0, `slot ${node.current}`)
    await advance(clock, 400)
  }
  t.same([...counts].toSorted(), [0, 1])
})

t.test('a node that is away is said once, and its last slot is used for 30 s', async (t) => {
  const { clock, node, logged, send } = await start(t)
  await send()
  await advance(clock, 2_000)
  node.isDown = true
  await advance(clock, 20_000)
  t.equal(await send(), 2)
  await advance(clock, 15_000)
  t.equal(await send(), 0, 'no slot is guessed')
  t.same(logged, ['the node does not return the leader schedule: node: unreachable'])
  node.isDown = false
  await advance(clock, 4_000)
  t.equal(await send(), 2)
  t.equal(logged.at(-1), 'the node returns the leader schedule now')
})

t.test('a QUIC thread that ends is started again, later each time, and sends then count 0', async (t) => {
  const { clock, transports, reported, send } = await start(t)
  t.equal(await send(), 2)
  transports[0]!.crash(new Error('out of credit'))
  await settle()
  t.same(reported, ['the QUIC thread failed and is restarted: out of credit'])
  t.equal(await send(), 0)
  await advance(clock, 1_500)
  t.equal(transports.length, 2)
  t.equal(await send(), 2)
  transports[1]!.crash(new Error('again'))
  await advance(clock, 1_500)
  t.equal(transports.length, 2, 'the second wait is longer')
  await advance(clock, 1_000)
  t.equal(transports.length, 3)
})

t.test('where there is no QUIC it is said once, and every send counts 0', async (t) => {
  let tries = 0
  const { clock, logged, send, end } = await start(t, {
    startTransport: () => {
      tries++
      return Promise.reject(new QuicUnavailable('no binary for this machine'))
    }
  })
  t.equal(await send(), 0)
  await advance(clock, 5_000)
  t.equal(await send(), 0)
  t.equal(tries, 1)
  t.equal(logged.length, 1)
  t.match(logged[0], /QUIC is not available on this machine.*no binary for this machine$/)
  await end()
})

t.test('a drain closes the connections and the thread', async (t) => {
  const { node, transports, send, end } = await start(t)
  await send()
  await end()
  t.ok(transports[0]!.isClosed)
  t.equal(transports[0]!.open.length, 0)
  t.ok(node.isClosed)
  t.equal(await send(), 0)
})

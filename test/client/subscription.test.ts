import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { connect, StreamError } from '../../src/client/client.ts'
import type { Channel } from '../../src/client/events.ts'
import type { Subscription } from '../../src/client/subscription.ts'
import * as messages from '../../src/stream/messages.ts'
import { ScriptedStream } from './scripted-stream.ts'

const TRADES = 'trades:A'
const BOTH: Channel[] = [TRADES, 'launches']

/** Returns the next items, events as their cursors. */
async function take(subscription: Subscription, count: number): Promise<unknown[]> {
  const taken: unknown[] = []
  while (taken.length < count) {
    const { done, value } = await subscription.next()
    if (done === true) break
    taken.push(value.kind === 'gap' ? value : value.cursor)
  }
  return taken
}

t.test('events come in order with their kind, and the cursor follows what was taken', async (t) => {
  const stream = await ScriptedStream.start(t)
  const subscription = stream.client(t).subscribe([TRADES, 'price:A'])
  const server = await stream.connection()
  t.strictSame(await server.subscribes(50), { subscribe: [TRADES, 'price:A'] })
  server.events(TRADES, [60, 61])
  server.send({ type: 'event', channel: 'price:A', data: { mint: 'A', price: 2 }, cursor: 62 })
  server.send({ type: 'event', channel: TRADES, data: { event: 'retract', of: 60 }, cursor: 63 })
  const first = await subscription.next()
  t.match(first.value, { kind: 'trade', channel: TRADES, cursor: 60, replay: false, data: { event: 'buy' } })
  t.equal(subscription.cursor, 60)
  const kinds = ['trade', 'price', 'retract']
  for (const kind of kinds) t.equal((await subscription.next()).value?.kind, kind)
  t.equal(subscription.cursor, 63)
})

t.test('selected fields are requested with the kind of events, again after a lost connection', async (t) => {
  const stream = await ScriptedStream.start(t)
  const client = stream.client(t)
  const subscription = client.subscribe([TRADES, 'price:A'], { fields: ['price'] })
  const first = await stream.connection()
  t.strictSame(await first.subscribes(50), { subscribe: [TRADES, 'price:A'], fields: ['kind', 'price'] })
  first.send({ type: 'event', channel: TRADES, data: { kind: 'trade', price: 1 }, cursor: 60 })
  first.send({ type: 'event', channel: 'price:A', data: { price: 2 }, cursor: 61 })
  t.equal((await subscription.next()).value?.kind, 'trade')
  t.equal((await subscription.next()).value?.kind, 'price')
  first.cut()
  await stream.noticed('disconnected')
  stream.clock.increment(500)
  const second = await stream.connection()
  t.strictSame(await second.subscribes(70), {
    ...{ subscribe: [TRADES, 'price:A'], since: 61, fields: ['kind', 'price'] }
  })
  client.subscribe(['price:A'], { fields: ['price', 'slot'] })
  const prices = await stream.connection()
  t.match(await prices.subscribes(), { fields: ['price', 'slot'] }, 'a tick has no kind')
})

t.test(
  'a subscription that is cut in a replay goes on after what was taken, nothing missed, nothing twice',
  async (t) => {
    const stream = await ScriptedStream.start(t)
    const subscription: Subscription = stream.client(t).subscribe(BOTH, { since: 10 })
    const first = await stream.connection()
    t.strictSame(await first.subscribes(100), { subscribe: BOTH, since: 10 })
    first.events(TRADES, [20, 30, 40], true)
    t.strictSame(await take(subscription, 2), [20, 30])
    first.cut()
    await stream.noticed('disconnected')
    stream.clock.increment(500)
    const second = await stream.connection()
    t.strictSame(
      await second.subscribes(100),
      { subscribe: BOTH, since: 30 },
      'what waits in the client is not processed'
    )
    second.events(TRADES, [40, 50], true)
    second.send(messages.replayComplete(100, BOTH))
    second.events('launches', [110])
    t.strictSame(await take(subscription, 3), [40, 50, 110])
  }
)

t.test('a subscription without an event goes on from where it went live', async (t) => {
  const stream = await ScriptedStream.start(t)
  const subscription: Subscription = stream.client(t).subscribe([TRADES])
  const first = await stream.connection()
  await first.subscribes(100)
  first.cut()
  await stream.noticed('disconnected')
  t.equal(subscription.cursor, 100)
  stream.clock.increment(500)
  const second = await stream.connection()
  t.strictSame(await second.subscribes(200), { subscribe: [TRADES], since: 100 })
  second.events(TRADES, [150], true)
  second.send(messages.replayComplete(200, [TRADES]))
  await stream.noticed('live')
  t.equal(subscription.cursor, 100, 'the replay is not taken yet')
  t.strictSame(await take(subscription, 1), [150])
  t.equal(subscription.cursor, 200)
})

t.test('an event that is sent twice is delivered once', async (t) => {
  const stream = await ScriptedStream.start(t)
  const subscription: Subscription = stream.client(t).subscribe(BOTH, { since: 10 })
  const server = await stream.connection()
  await server.subscribes(100)
  server.events(TRADES, [10, 20, 20, 30, 20], true)
  server.events('launches', [25, 25, 40])
  t.strictSame(await take(subscription, 4), [20, 30, 25, 40])
})

t.test('events that the service dropped are refetched, in their place', async (t) => {
  const stream = await ScriptedStream.start(t)
  const subscription: Subscription = stream.client(t).subscribe(BOTH)
  const server = await stream.connection()
  await server.subscribes(10)
  server.events(TRADES, [20, 30])
  t.strictSame(await take(subscription, 1), [20])
  server.send(messages.eventsDropped({ dropped: 2, from: 39, to: 50, channels: new Set([TRADES]) }))
  server.events(TRADES, [60])
  await stream.noticed('refetching')
  const asked = await server.said()
  t.strictSame(asked, { subscribe: BOTH, since: 20 })
  server.events('launches', [65])
  server.send(messages.subscribed(BOTH, [], 20, true, 65))
  server.events(TRADES, [30, 40, 50, 60], true)
  server.events('launches', [65], true)
  server.send(messages.replayComplete(65, BOTH))
  server.events(TRADES, [70])
  t.strictSame(await take(subscription, 6), [30, 40, 50, 60, 65, 70])
})

t.test(
  'a consumer that is too slow loses the connection, takes what waits, and goes on after it',
  async (t) => {
    const stream = await ScriptedStream.start(t)
    const subscription: Subscription = stream.client(t, { bufferEvents: 3 }).subscribe([TRADES])
    const first = await stream.connection()
    await first.subscribes(10)
    first.events(TRADES, [20, 30, 40, 50, 60])
    await stream.noticed('slow_consumer')
    await first.closed()
    t.strictSame(await take(subscription, 2), [20, 30])
    t.equal(stream.waiting, 0)
    t.strictSame(await take(subscription, 1), [40])
    const second = await stream.connection()
    t.strictSame(await second.subscribes(60), { subscribe: [TRADES], since: 40 })
    second.events(TRADES, [50, 60], true)
    t.strictSame(await take(subscription, 2), [50, 60])
  }
)

t.test('events older than the horizon are a gap in their place, and are not requested again', async (t) => {
  const stream = await ScriptedStream.start(t)
  const subscription: Subscription = stream.client(t).subscribe([TRADES], { since: 10 })
  const first = await stream.connection()
  await first.subscribes(1000)
  first.send(messages.beyondHorizon([TRADES], 10, 500))
  first.events(TRADES, [600], true)
  const gap = { kind: 'gap', reason: 'beyond_replay_horizon', channels: [TRADES], since: 10, until: 500 }
  t.strictSame(await take(subscription, 1), [gap])
  first.cut()
  await stream.noticed('disconnected')
  stream.clock.increment(500)
  const second = await stream.connection()
  t.strictSame(await second.subscribes(1000), { subscribe: [TRADES], since: 500 })
})

t.test('pools are live only: a lost connection is a gap, and their events move no cursor', async (t) => {
  const stream = await ScriptedStream.start(t)
  const channels: Channel[] = [TRADES, 'pools']
  const subscription: Subscription = stream.client(t).subscribe(channels, { since: 10 })
  const first = await stream.connection()
  await first.subscribes(100)
  first.send(messages.replayNotSupported(['pools']))
  first.events(TRADES, [20], true)
  first.events('pools', [130, 140])
  first.send(messages.aheadOfHead([TRADES], 10, 9, 10))
  const gap = { kind: 'gap', reason: 'replay_not_supported', channels: ['pools'], since: 10, until: null }
  t.strictSame(await take(subscription, 3), [gap, 20, 130])
  await stream.noticed('warning')
  first.cut()
  await stream.noticed('disconnected')
  stream.clock.increment(500)
  const second = await stream.connection()
  t.strictSame(await second.subscribes(150), { subscribe: channels, since: 20 })
  second.send(messages.replayNotSupported(['pools']))
  second.events(TRADES, [30], true)
  t.strictSame(await take(subscription, 3), [140, { ...gap, since: 20 }, 30], 'what had come of them is kept')
})

t.test('a cursor far ahead of the head: the loop gets live events, and resumes after them', async (t) => {
  const stream = await ScriptedStream.start(t)
  const subscription = stream.client(t).subscribe([TRADES], { since: 9_000 })
  const first = await stream.connection()
  await first.subscribes(100)
  first.send(messages.aheadOfHead([TRADES], 9_000, 100, 100), messages.replayComplete(100, [TRADES]))
  first.events(TRADES, [110, 120])
  t.strictSame(await take(subscription, 2), [110, 120])
  first.cut()
  await stream.noticed('disconnected')
  stream.clock.increment(500)
  const second = await stream.connection()
  t.strictSame(await second.subscribes(150), { subscribe: [TRADES], since: 120 })
})

t.test('changes of webhooks all come, though they share a cursor, and move no cursor', async (t) => {
  const stream = await ScriptedStream.start(t)
  const subscription = stream.client(t).subscribe(['webhooks', 'launches'], { since: 10 })
  const server = await stream.connection()
  await server.subscribes(100)
  const change = (event: string) => ({
    type: 'event',
    channel: 'webhooks',
    data: { event, webhook_id: 1, cursor: 100 },
    cursor: 100
  })
  server.send(change('created'), change('rotated'))
  for (const event of ['created', 'rotated'])
    t.match((await subscription.next()).value, { kind: 'webhook', cursor: 100, data: { event } })
  t.equal(subscription.cursor, 10)
})

t.test('rows of the ledger all come, though they share a cursor, and move no cursor', async (t) => {
  const stream = await ScriptedStream.start(t)
  const channels: Channel[] = ['revenue', 'launches']
  const subscription: Subscription = stream.client(t).subscribe(channels, { since: 10 })
  const first = await stream.connection()
  await first.subscribes(100)
  first.send(messages.replayNotSupported(['revenue']))
  const gap = { kind: 'gap', reason: 'replay_not_supported', channels: ['revenue'], since: 10, until: null }
  t.strictSame(await take(subscription, 1), [gap])
  const row = (event: string) => ({
    type: 'event',
    channel: 'revenue',
    data: { event, kind: 'transfer', delta_raw: '-7', cursor: 100 },
    cursor: 100
  })
  first.send(row('entry'), row('entry'), row('retracted'))
  first.events('launches', [20])
  const rows: unknown[] = []
  for (;;) {
    const { value } = await subscription.next()
    if (value?.kind !== 'ledger') break
    rows.push([value.data.event, value.data.kind, value.cursor, value.replay, subscription.cursor])
  }
  t.strictSame(
    rows,
    ['entry', 'entry', 'retracted'].map((event) => [event, 'transfer', 100, false, 10])
  )
  t.equal(subscription.cursor, 20)
  first.cut()
  await stream.noticed('disconnected')
  stream.clock.increment(500)
  const second = await stream.connection()
  t.strictSame(await second.subscribes(150), { subscribe: channels, since: 20 })
})

t.test('a service that stops is asked again when it says so', async (t) => {
  const stream = await ScriptedStream.start(t)
  const subscription: Subscription = stream.client(t).subscribe([TRADES])
  const first = await stream.connection()
  await first.subscribes(100)
  first.send(messages.serverDraining(3_000))
  first.close(1001, 'the service is stopping')
  t.match(await stream.noticed('disconnected'), { message: /1001: the service is stopping.* 3000 ms/ })
  stream.clock.increment(2_999)
  t.equal(stream.waiting, 0)
  stream.clock.increment(1)
  const second = await stream.connection()
  t.strictSame(await second.subscribes(100), { subscribe: [TRADES], since: 100 })
  t.ok(subscription)
})

t.test(
  'connections that fail are tried again, each time later, up to 30 s, with half left to chance',
  async (t) => {
    const stream = await ScriptedStream.start(t)
    let random = 1
    const subscription = stream.client(t, { random: () => random }).subscribe([TRADES])
    const delays: number[] = []
    const next = async (): Promise<void> => {
      const server = await stream.connection()
      await server.subscribes(100)
      server.close(1011)
      const { message } = await stream.noticed('disconnected')
      delays.push(Number(/in (\d+) ms/.exec(message)![1]))
      stream.clock.increment(delays.at(-1)!)
    }
    for (let attempt = 0; attempt < 8; attempt++) await next()
    random = 0
    await next()
    t.strictSame(delays, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 15_000])
    const server = await stream.connection()
    await server.subscribes(100)
    server.events(TRADES, [110])
    t.strictSame(await take(subscription as Subscription, 1), [110])
    server.close(4408)
    t.match(await stream.noticed('disconnected'), { message: / 250 ms/ }, 'an event is progress')
  }
)

t.test('a connection on which nothing is heard is given up; one that answers pings is not', async (t) => {
  const stream = await ScriptedStream.start(t)
  const subscription: Subscription = stream.client(t).subscribe([TRADES])
  const server = await stream.connection()
  await server.subscribes(100)
  stream.clock.increment(25_000)
  t.strictSame(await server.said(), { ping: true })
  server.send(messages.PONG)
  server.events(TRADES, [110])
  t.strictSame(await take(subscription, 1), [110])
  stream.clock.increment(25_000)
  t.strictSame(await server.said(), { ping: true })
  stream.clock.increment(25_000)
  t.match(await stream.noticed('disconnected'), { message: /no message came/ })
})

for (const code of [4401, 4403]) {
  t.test(
    `what had come is handed over before a close with ${code} ends the iteration with an error`,
    async (t) => {
      const stream = await ScriptedStream.start(t)
      const subscription: Subscription = stream.client(t).subscribe([TRADES])
      const server = await stream.connection()
      await server.subscribes(100)
      server.events(TRADES, [110])
      server.close(code, 'this API key is revoked')
      const taken: number[] = []
      const error = await (async () => {
        for await (const event of subscription) if (event.kind !== 'gap') taken.push(event.cursor)
      })().catch((fault: unknown) => fault)
      t.strictSame(taken, [110])
      t.ok(error instanceof StreamError)
      t.match(error, { code: `closed_${code}`, message: /this API key is revoked/ })
      t.strictSame(await subscription.next(), { done: true, value: undefined })
      stream.clock.increment(100_000)
      t.equal(stream.waiting, 0)
    }
  )
}

t.test('a channel that does not exist ends the iteration; a quota that is used up does not', async (t) => {
  const stream = await ScriptedStream.start(t)
  const refused = stream.client(t).subscribe(['trades:nothing'])
  const first = await stream.connection()
  await first.said()
  first.send(messages.errorMessage('invalid_address', 'no address', ['trades:nothing']))
  await t.rejects(refused.next(), { name: 'StreamError', code: 'invalid_address' })

  const subscription: Subscription = stream.client(t).subscribe([TRADES])
  const second = await stream.connection()
  await second.said()
  second.send(messages.errorMessage('rate_limited', 'this key may make 1 request a minute', [TRADES]))
  t.match(await stream.noticed('disconnected'), { message: /1 request a minute/ })
  stream.clock.increment(500)
  const third = await stream.connection()
  await third.subscribes(100)
  third.events(TRADES, [110])
  t.strictSame(await take(subscription, 1), [110])
})

t.test('a handshake that is refused for the key ends the iteration with what the service says', async (t) => {
  const server = createServer((_, response) =>
    response
      .writeHead(403, { 'content-type': 'application/json' })
      .end(JSON.stringify({ code: 'stream_key_refused', detail: 'this API key is not known' }))
  )
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const subscription = connect({ url: `http://127.0.0.1:${port}`, key: 'bad' }).subscribe([TRADES])
  await t.rejects(subscription.next(), { code: 'stream_key_refused', message: 'this API key is not known' })
})

t.test('leaving the loop, or closing, ends the connection and the iteration', async (t) => {
  const stream = await ScriptedStream.start(t)
  const client = stream.client(t)
  const left: Subscription = client.subscribe([TRADES])
  const first = await stream.connection()
  await first.subscribes(100)
  first.events(TRADES, [110, 120])
  for await (const event of left) {
    t.match(event, { cursor: 110 })
    break
  }
  await first.closed()
  const closed = client.subscribe(['launches'])
  const second = await stream.connection()
  const waiting = closed.next()
  client.close()
  t.strictSame(await waiting, { done: true, value: undefined })
  await second.closed()
})

t.test('a subscription that the service would refuse is refused without a request', (t) => {
  class Silent {
    onopen = null
    onmessage = null
    onclose = null
    onerror = null
    send(): void {}
    close(): void {}
  }
  const client = connect({ url: 'https://example.org/', key: 'a key', WebSocket: Silent })
  t.teardown(() => client.close())
  t.throws(() => client.subscribe([]), TypeError)
  t.throws(() => client.subscribe(Array.from({ length: 51 }, (_, at): Channel => `trades:${at}`)), TypeError)
  t.throws(() => client.subscribe(['launches'], { since: -1 }), TypeError)
  t.throws(() => client.subscribe(['launches'], { since: 1.5 }), TypeError)
  const all = Array.from({ length: 20 }, () => client.subscribe(['launches']))
  t.throws(() => client.subscribe(['launches']), TypeError)
  all[0]!.close()
  t.ok(client.subscribe(['launches']))
  t.throws(() => connect({ url: 'nowhere', key: 'a key' }), TypeError)
  t.end()
})

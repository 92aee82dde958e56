import t from 'tap'
import { SILENCE_MS } from '../../../actors/rpc/pubsub/pubsub-link.ts'
import { account, accountValue, logs, notification } from './fake-node.ts'
import { ADDRESS, arrive, PubsubWorld, type FakeClient } from './pubsub-world.ts'
import { until } from '../../until.ts'

const BASE64 = { encoding: 'base64', commitment: 'confirmed' }

async function withAccount(client: FakeClient): Promise<number> {
  const { result } = await client.ask('accountSubscribe', [ADDRESS, BASE64])
  return result as number
}

t.test('a killed node: the account is read again at the next node, and sent if it has changed', async (t) => {
  const world = new PubsubWorld(t)
  const [a, b] = [await world.addNode(), await world.addNode()]
  const client = world.client()
  const id = await withAccount(client)
  a.notify('account', account(1_001, 5))
  await until(() => client.notified.length === 1)
  world.upstreams.read = () => `{"context":{"apiVersion":"4.2.1","slot":1010},"value":${accountValue(9)}}`
  a.close()
  await until(() => client.notified.length === 2)
  t.equal(b.of('account').length, 1, 'it is subscribed at the other node')
  t.same(client.notified[1]!.params, { result: JSON.parse(account(1_010, 9)) as unknown, subscription: id })
  t.match(world.upstreams.calls, [
    { method: { name: 'getAccountInfo' }, minSlot: 1_001, commitment: 'confirmed' }
  ])
  b.notify('account', account(1_011, 10))
  await until(() => client.notified.length === 3)
  t.same(client.slots, [1_001, 1_010, 1_011])
  t.match(
    world.warnings,
    [/the subscriptions at .* are lost: it closed the connection/],
    'the fault has fired'
  )
  t.equal(await world.counted('read'), 1)
})

t.test('a killed node: an account that did not change is not sent again', async (t) => {
  const world = new PubsubWorld(t)
  const [a, b] = [await world.addNode(), await world.addNode()]
  const client = world.client()
  await withAccount(client)
  a.notify('account', account(1_001, 5))
  await until(() => client.notified.length === 1)
  world.upstreams.read = () => `{"context":{"slot":1010},"value":${accountValue(5)}}`
  a.cut()
  await until(() => b.of('account').length === 1 && world.upstreams.calls.length === 1)
  await arrive()
  t.same(client.slots, [1_001])
})

t.test(
  'a killed node: a read below what was seen is asked for again, and a closed account is told',
  async (t) => {
    const world = new PubsubWorld(t)
    const [a] = [await world.addNode(), await world.addNode()]
    const client = world.client()
    await withAccount(client)
    a.notify('account', account(1_001, 5))
    await until(() => client.notified.length === 1)
    world.upstreams.read = () =>
      world.upstreams.calls.length === 1
        ? `{"context":{"slot":990},"value":${accountValue(1)}}`
        : '{"context":{"slot":1010},"value":null}'
    a.cut()
    await until(() => world.upstreams.calls.length === 1)
    await arrive()
    t.same(client.slots, [1_001], 'the older state is not sent')
    world.clock.increment(1_000)
    await until(() => client.notified.length === 2)
    t.match(client.notified[1], {
      params: { result: { value: { lamports: 0, data: ['', 'base64'], space: 0 } } }
    })
  }
)

t.test('a killed node: a signature is asked again, and its subscription ends with the answer', async (t) => {
  const world = new PubsubWorld(t)
  const [a, b] = [await world.addNode(), await world.addNode()]
  const client = world.client()
  const signature = '1'.repeat(64)
  const { result: id } = await client.ask('signatureSubscribe', [signature, { commitment: 'confirmed' }])
  world.upstreams.read = () =>
    '{"context":{"slot":1020},"value":[{"slot":1015,"err":{"InstructionError":[0,{"Custom":1}]},"confirmationStatus":"confirmed"}]}'
  a.cut()
  await until(() => client.notified.length === 1)
  t.same(client.notified[0], {
    jsonrpc: '2.0',
    method: 'signatureNotification',
    params: {
      result: { context: { slot: 1_015 }, value: { err: { InstructionError: [0, { Custom: 1 }] } } },
      subscription: id
    }
  })
  t.match(world.upstreams.calls, [{ method: { name: 'getSignatureStatuses' } }])
  t.equal(client.socket.subscriptions, 0)
  await until(() => b.of('signature').length === 0)
  t.match(await client.ask('signatureUnsubscribe', [id]), { error: { code: -32602 } })
})

t.test(
  'a killed node: nothing that was sent of a slot is sent again, and what is new of it is',
  async (t) => {
    const world = new PubsubWorld(t)
    const [a, b] = [await world.addNode(), await world.addNode()]
    const client = world.client()
    await client.ask('logsSubscribe', ['all'])
    a.notify('logs', logs(1_001, 'one'))
    a.notify('logs', logs(1_002, 'two'))
    await until(() => client.notified.length === 2)
    a.cut()
    await until(() => b.of('logs').length === 1)
    for (const [slot, name] of [
      [1_001, 'late'],
      [1_002, 'two'],
      [1_002, 'three'],
      [1_003, 'two']
    ] as const)
      b.notify('logs', logs(slot, name))
    await until(() => client.notified.length === 4)
    t.same(
      client.notified.map(({ params }) => (params!.result.value as { signature: string }).signature),
      ['one', 'two', 'three', 'two']
    )
    t.equal(await world.counted('stale'), 1, 'the slot below was one')
    t.equal(await world.counted('repeated'), 1, 'and one was repeated')
  }
)

t.test('a killed node: slots show the jump', async (t) => {
  const world = new PubsubWorld(t)
  const [a, b] = [await world.addNode(), await world.addNode()]
  const client = world.client()
  await client.ask('slotSubscribe', [])
  a.slot(1_001)
  await until(() => client.notified.length === 1)
  a.cut()
  await until(() => b.of('slot').length === 1)
  await arrive()
  for (const slot of [1_001, 1_030]) b.slot(slot)
  await until(() => client.notified.length === 2)
  t.same(client.slots, [1_001, 1_030])
})

t.test('a node that stalls is left for one that goes on', async (t) => {
  const world = new PubsubWorld(t)
  const [a, b] = [await world.addNode(), await world.addNode()]
  const client = world.client()
  await client.ask('logsSubscribe', ['all'])
  a.slot(1_001)
  await until(() => world.hub.links.all[0]!.slot === 1_001)
  // It still answers; only its slots stand.
  world.upstreams.nodes[1]!.slot = 1_100
  for (let second = 0; second < 7; second++) {
    world.clock.increment(1_000)
    await arrive()
  }
  await until(() => b.of('logs').length === 1)
  t.match(world.warnings, [/is at slot 1001, 99 behind/])
})

t.test('a node that tells of no slot at all is dead', async (t) => {
  const world = new PubsubWorld(t)
  const a = await world.addNode()
  const client = world.client()
  await client.ask('logsSubscribe', ['all'])
  for (let ms = 0; ms <= SILENCE_MS; ms += 1_000) {
    world.clock.increment(1_000)
    await Promise.resolve()
    await arrive()
  }
  await until(() => world.warnings.length > 0)
  t.match(world.warnings, [/has reported no slot for 30 s/])
  world.clock.increment(1_000)
  await until(() => a.of('logs').length === 1)
  a.slot(2)
  a.notify('logs', logs(1_002, 'after'))
  await until(() => client.notified.length === 1)
})

t.test('a node that does not answer a subscription in time is left', async (t) => {
  const world = new PubsubWorld(t)
  const [a, b] = [await world.addNode(), await world.addNode()]
  a.answers = ({ method }) => (method === 'logsSubscribe' ? 'silent' : null)
  const client = world.client()
  client.send('{"jsonrpc":"2.0","id":"x","method":"logsSubscribe","params":["all"]}')
  await until(() => a.requests.some(({ method }) => method === 'logsSubscribe'))
  // One millisecond before the client's own wait is over.
  world.clock.increment(9_999)
  t.same(client.received, [])
  b.answers = () => null
  world.clock.increment(1)
  await until(() => client.received.length === 1)
  t.match(world.warnings, [/no answer to logsSubscribe within 4\.9 s/])
})

const CASES: readonly (readonly [name: string, text: (id: number) => string, warning: RegExp])[] = [
  ['half a message', (id) => notification('account', id, account(1_001, 5)).slice(0, -9), /cannot be read/],
  [
    'wrong JSON',
    (id) => notification('account', id, account(1_001, 5).replace('"lamports":', '"lamports"')),
    /cannot be read/
  ],
  ['no JSON', () => 'hello', /cannot be read/],
  ['a result without a slot', (id) => notification('account', id, '{"value":1}'), /cannot be read/],
  [
    'a slot far above all nodes',
    (id) => notification('account', id, account(9_000_000, 5)),
    /reported slot 9000000/
  ],
  ['another kind under our id', (id) => notification('logs', id, logs(1_001, 'x')), /of another kind/]
]

for (const [name, text, warning] of CASES)
  t.test(`${name}: the client gets none of it, and the subscription moves to another node`, async (t) => {
    const world = new PubsubWorld(t)
    const [a, b] = [await world.addNode(), await world.addNode()]
    const client = world.client()
    await withAccount(client)
    a.raw(text(a.of('account')[0]!.id))
    await until(() => b.of('account').length === 1)
    t.match(world.warnings, [warning], 'the fault has fired')
    b.notify('account', account(1_002, 6))
    await until(() => client.notified.length === 1)
    t.same(client.slots, [1_002])
    t.equal(client.pipe.closedWith, null)
  })

t.test('messages for what nobody asked are counted and dropped', async (t) => {
  const world = new PubsubWorld(t)
  const a = await world.addNode()
  const client = world.client()
  await withAccount(client)
  a.raw(notification('account', 4_242, account(1_001, 5)))
  a.raw('{"jsonrpc":"2.0","result":7,"id":999999}')
  a.notify('account', account(1_002, 6))
  await until(() => client.notified.length === 1)
  t.same(client.slots, [1_002])
  t.equal((await world.metrics.pubsub.strays.get()).values[0]!.value, 2)
})

t.test('a slot that goes back is not sent', async (t) => {
  const world = new PubsubWorld(t)
  const a = await world.addNode()
  const client = world.client()
  await withAccount(client)
  for (const slot of [1_005, 1_003, 1_005, 1_006]) a.notify('account', account(slot, slot))
  await until(() => client.notified.length === 3)
  t.same(client.slots, [1_005, 1_005, 1_006])
  t.equal(await world.counted('stale'), 1)
})

t.test(
  'two nodes that differ: nothing of the one behind is sent until it has passed what was seen',
  async (t) => {
    const world = new PubsubWorld(t)
    const [a, b] = [await world.addNode(), await world.addNode(900)]
    const client = world.client()
    await withAccount(client)
    a.notify('account', account(1_001, 5))
    await until(() => client.notified.length === 1)
    world.upstreams.turn(0, 'down')
    await until(() => b.of('account').length === 1)
    for (const slot of [901, 1_000, 1_001, 1_002]) b.notify('account', account(slot, slot))
    await until(() => client.notified.length === 3)
    t.same(client.slots, [1_001, 1_001, 1_002], 'another state of the same slot is news')
    t.equal(await world.counted('stale'), 2)
    t.match(world.warnings, [/no longer healthy/])
  }
)

t.test(
  'what one node refuses is asked of another; what all refuse is refused in the words of the node',
  async (t) => {
    const world = new PubsubWorld(t)
    const [a, b] = [await world.addNode(), await world.addNode()]
    a.answers = ({ method }) => (method === 'logsSubscribe' ? '{"code":-32603,"message":"limit of a"}' : null)
    const client = world.client()
    t.match(await client.ask('logsSubscribe', ['all']), { result: 1 })
    t.equal(b.of('logs').length, 1)
    const refusal = '{"code":-32603,"message":"limit of b","data":{"x":18446744073709551615}}'
    b.answers = ({ method }) => (method === 'programSubscribe' ? refusal : null)
    a.answers = ({ method }) =>
      method === 'programSubscribe' ? '{"code":-32603,"message":"limit of a"}' : null
    const answer = await client.ask('programSubscribe', [ADDRESS])
    t.match(answer, { error: { code: -32603, message: 'limit of b' } })
    t.equal(client.socket.subscriptions, 1)
  }
)

t.test('without a node a client waits for ten seconds, and is told to subscribe again', async (t) => {
  const world = new PubsubWorld(t)
  const a = await world.addNode()
  world.upstreams.turn(0, 'down')
  const [first, second] = [world.client(), world.client()]
  first.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}')
  await arrive()
  world.clock.increment(10_000)
  await until(() => first.received.length === 1)
  t.match(first.received, [{ error: { code: -32603, data: { retryable: true } } }])
  t.equal(world.hub.size, 0)
  second.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}')
  await arrive()
  world.upstreams.turn(0, 'healthy')
  await until(() => second.received.length === 1)
  t.match(second.received, [{ result: 1 }])
  t.equal(a.of('slot').length, 1, 'connections have the slots anyway')
})

t.test('a notification before the answer to its subscription is not lost', async (t) => {
  const world = new PubsubWorld(t)
  const a = await world.addNode()
  a.beforeAnswer = (id, socket) => socket.send(notification('account', id, account(1_001, 5)))
  const client = world.client()
  await withAccount(client)
  await until(() => client.notified.length === 1)
  t.match(
    client.received,
    [{ result: 1 }, { method: 'accountNotification' }],
    'the client knows the id first'
  )
})

t.test(
  'a cordoned node loses its subscriptions to another one, and has none while it is the only one',
  async (t) => {
    const world = new PubsubWorld(t)
    const [a, b] = [await world.addNode(), await world.addNode()]
    const client = world.client()
    await withAccount(client)
    await until(() => a.of('account').length === 1)
    world.upstreams.cordon(0)
    await until(() => b.of('account').length === 1)
    t.match(world.warnings, [/cordoned its node/])
    world.upstreams.cordon(1)
    await until(() => world.warnings.length === 2)
    await arrive()
    t.equal(a.of('account').length + b.of('account').length, 0, 'no node has it')
    world.upstreams.cordon(1, false)
    world.clock.increment(1_000)
    await until(() => b.of('account').length === 1)
    b.notify('account', account(1_005, 5))
    await until(() => client.slots.includes(1_005))
  }
)

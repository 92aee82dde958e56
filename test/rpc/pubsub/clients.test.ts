import t from 'tap'
import { Caller } from '../../../src/access/caller.ts'
import { MethodTable } from '../../../src/rpc/methods.ts'
import { IN_PROGRESS_MAX, SUBSCRIPTIONS_PER_SOCKET_MAX } from '../../../src/rpc/pubsub/socket-limits.ts'
import { KEY } from '../../stream/stream-world.ts'
import { settle } from '../../virtual-time.ts'
import { account, logs, notification } from './fake-node.ts'
import { ADDRESS, arrive, PubsubWorld } from './pubsub-world.ts'
import { until } from '../../until.ts'

t.test(
  'clients that ask the same share one subscription at the node, which ends with the last',
  async (t) => {
    const world = new PubsubWorld(t)
    const node = await world.addNode()
    const [first, second] = [world.client(), world.client()]
    await second.ask('slotSubscribe', [])
    const one = await first.ask('accountSubscribe', [
      ADDRESS,
      { encoding: 'base64', commitment: 'confirmed' }
    ])
    const two = await second.ask('accountSubscribe', [
      ADDRESS,
      { commitment: 'confirmed', encoding: 'base64', x: 1 }
    ])
    t.same([one.result, two.result], [1, 2], 'ids are of the connection')
    t.equal(node.of('account').length, 1)
    t.same(node.of('account')[0]!.params, [ADDRESS, { commitment: 'confirmed', encoding: 'base64' }])
    await first.ask('accountSubscribe', [ADDRESS, { encoding: 'base64', commitment: 'processed' }])
    t.equal(node.of('account').length, 2, 'another commitment is another subscription')
    node.notify('account', account(1_001, 7))
    await until(() => first.notified.length === 2 && second.notified.length === 1)
    t.match(first.notified, [{ params: { subscription: 1 } }, { params: { subscription: 2 } }])
    t.match(second.notified, [{ params: { subscription: 2 } }])

    t.match(await first.ask('accountUnsubscribe', [1]), { result: true })
    t.equal(node.of('account').length, 2, 'the other client still has it')
    second.socket.closed()
    await until(() => node.of('account').length === 1)
    t.match(node.requests.at(-1), { method: 'accountUnsubscribe' })
    t.match(await first.ask('accountUnsubscribe', [1]), {
      error: { code: -32602, data: { field: 'params[0]' } }
    })
  }
)

t.test(
  'a client of roots gets each root once, ascending, and is told of none again after a loss',
  async (t) => {
    const world = new PubsubWorld(t)
    const node = await world.addNode()
    const client = world.client()
    const opened = await client.ask('rootSubscribe', [])
    t.equal(opened.result, 1)
    for (const root of [900, 901, 903, 903, 902]) node.notify('root', String(root))
    await until(() => client.notified.length === 3)
    await arrive()
    const roots = () => client.notified.map(({ params }) => params!.result as unknown)
    t.same(roots(), [900, 901, 903], 'a root that was skipped is not made up')
    t.match(client.notified[0], { method: 'rootNotification', params: { subscription: 1 } })
    node.cut()
    await until(() => node.of('root').length === 0)
    await until(() => {
      world.clock.increment(1_000)
      return node.of('root').length === 1
    })
    for (const root of [903, 904]) node.notify('root', String(root))
    await until(() => client.notified.length === 4)
    t.same(roots(), [900, 901, 903, 904])
    t.same(world.floors, [], 'a root is no floor: it may lead what other nodes call finalized')
    t.match(await client.ask('rootUnsubscribe', [1]), { result: true })
    t.match(await client.ask('rootSubscribe', [1]), {
      error: { code: -32602, message: /No parameters were expected/ }
    })
  }
)

t.test(
  'the bytes of a notification are those of the node, but for the id, in whatever layout it writes them',
  async (t) => {
    const world = new PubsubWorld(t)
    const node = await world.addNode()
    const client = world.client()
    await client.ask('slotSubscribe', [])
    await client.ask('accountSubscribe', [ADDRESS])
    const { id, socket } = node.of('account')[0]!
    const texts: string[] = []
    const write = client.pipe.write.bind(client.pipe)
    client.pipe.write = (frames) => {
      texts.push(Buffer.concat(frames).toString())
      return write(frames)
    }
    const value = '{"lamports":18446744073709551615, "data":["","base64"],"owner":"ü"}'
    const result = `{"context":{"slot":1001,"apiVersion":"4.2.1"},"value":${value}}`
    socket.send(notification('account', id, result))
    socket.send(
      ` {"params" : {"subscription" : ${id}, "result" : ${result}}, "jsonrpc":"2.0", "method":"accountNotification"}`
    )
    await until(() => client.notified.length === 2)
    for (const text of texts.join('\n').split('\n'))
      t.ok(
        text.includes(
          `{"jsonrpc":"2.0","method":"accountNotification","params":{"result":${result},"subscription":2}}`
        )
      )
  }
)

t.test('parameters are refused in the words of a node, with the field', async (t) => {
  const world = new PubsubWorld(t)
  await world.addNode()
  const client = world.client()
  const filter = { dataSize: 1 }
  const refusals: readonly (readonly [method: string, params: unknown, message: RegExp, field: string])[] = [
    ['accountSubscribe', [], /at least 1 argument/, 'params'],
    ['accountSubscribe', {}, /should be an array/, 'params'],
    ['accountSubscribe', ['x'], /Invalid pubkey/, 'params[0]'],
    ['accountSubscribe', [5], /expected a string/, 'params[0]'],
    ['accountSubscribe', [ADDRESS, { encoding: 'base32' }], /unknown variant `base32`/, 'params[1].encoding'],
    [
      'accountSubscribe',
      [ADDRESS, { dataSlice: { offset: 1 } }],
      /missing field `length`/,
      'params[1].dataSlice'
    ],
    ['accountSubscribe', [ADDRESS, 'confirmed'], /struct RpcAccountInfoConfig/, 'params[1]'],
    ['accountSubscribe', [ADDRESS, {}, 1], /Expected from 1 to 2/, 'params'],
    [
      'programSubscribe',
      [ADDRESS, { filters: Array(5).fill(filter) }],
      /Too many filters provided; max 4/,
      'params[1].filters'
    ],
    [
      'programSubscribe',
      [ADDRESS, { filters: [{ size: 1 }] }],
      /unknown variant `size`/,
      'params[1].filters[0]'
    ],
    [
      'programSubscribe',
      [ADDRESS, { filters: [filter, { memcmp: { offset: '3', bytes: '1' } }] }],
      /expected usize/,
      'params[1].filters[1].memcmp.offset'
    ],
    ['programSubscribe', [ADDRESS, { filters: [{ dataSize: '3' }] }], /u64/, 'params[1].filters[0].dataSize'],
    [
      'programSubscribe',
      [ADDRESS, { dataSlice: { offset: 1, length: '3' } }],
      /expected usize/,
      'params[1].dataSlice.length'
    ],
    ['logsSubscribe', ['some'], /unknown variant `some`/, 'params[0]'],
    ['logsSubscribe', [{ mentions: [ADDRESS, ADDRESS] }], /Only 1 address/, 'params[0]'],
    ['signatureSubscribe', [ADDRESS], /Invalid signature/, 'params[0]'],
    ['slotSubscribe', [1], /No parameters were expected/, 'params'],
    ['slotUnsubscribe', ['1'], /expected u64/, 'params[0]'],
    ['slotUnsubscribe', [1], /Invalid subscription id/, 'params[0]']
  ]
  for (const [method, params, message, field] of refusals) {
    const { error } = await client.ask(method, params)
    t.match(error, { code: -32602, message }, `${method} ${JSON.stringify(params)}`)
    // Where a node sends data of its own, it stays.
    if (error?.data?.field !== undefined) t.equal(error.data.field, field)
  }
  t.equal(world.hub.size, 0)
})

t.test(
  'a batch may mix subscriptions and requests; its answers are in order, and ids precede notifications',
  async (t) => {
    const world = new PubsubWorld(t)
    const node = await world.addNode()
    node.beforeAnswer = (id, socket) => socket.send(notification('logs', id, logs(1_001, 'early')))
    const client = world.client()
    const call = (id: unknown, method: string, params: unknown = []): object => ({
      jsonrpc: '2.0',
      id,
      method,
      params
    })
    client.send(
      JSON.stringify([
        call('a', 'getSlot'),
        call(null, 'logsSubscribe', ['all']),
        { jsonrpc: '2.0', method: 'ping' },
        7,
        call('b', 'logsUnsubscribe', [99]),
        call('c', 'getVersion')
      ])
    )
    await until(() => client.received.length === 2)
    t.match(client.received[0], [
      { id: 'a', result: 'forwarded' },
      { id: null, result: 1 },
      { id: null, error: { code: -32600 } },
      { id: 'b', error: { code: -32602 } },
      { id: 'c', result: 'forwarded' }
    ])
    t.match(client.received[1], { method: 'logsNotification', params: { subscription: 1 } })
    t.same(world.faults, [])
  }
)

t.test('what is no batch of at most twenty requests is refused', async (t) => {
  const world = new PubsubWorld(t)
  await world.addNode()
  const client = world.client()
  const one = { jsonrpc: '2.0', id: 1, method: 'slotSubscribe' }
  client.send(JSON.stringify(Array(21).fill(one)))
  client.send('[]')
  client.send('{')
  client.send('')
  client.send('[[]]')
  client.send('{"jsonrpc":"2.0","method":"ping","params":null}')
  await until(() => client.received.length === 5)
  t.match(client.received, [
    { id: null, error: { code: -32600, message: 'batch too large', data: { limit: 20 } } },
    { id: null, error: { code: -32600 } },
    { id: null, error: { code: -32700 } },
    { id: null, error: { code: -32700 } },
    [{ id: null, error: { code: -32600 } }]
  ])
  t.equal(client.pipe.closedWith, null)
})

t.test(
  'each element costs one call; one beyond the quota is refused, and ends of subscriptions cost none',
  async (t) => {
    const world = new PubsubWorld(t)
    await world.addNode()
    const client = world.client(new Caller({ ...KEY, ratePerMinute: 3 }, 600))
    t.match(await client.ask('slotSubscribe', []), { result: 1 })
    t.match(await client.ask('getSlot', []), { result: 'forwarded' })
    t.match(await client.ask('logsSubscribe', ['all']), { result: 2 })
    t.match(await client.ask('slotSubscribe', []), {
      error: { code: -32429, data: { limit: 3, retryable: true } }
    })
    t.match(await client.ask('slotUnsubscribe', [1]), { result: true })
    t.equal(client.socket.subscriptions, 1)
  }
)

t.test('an element of a key without work left is refused with the name of the policy', async (t) => {
  const world = new PubsubWorld(t)
  await world.addNode()
  const client = world.client(new Caller({ ...KEY, ratePerMinute: 100, workPerMinute: 4 }, 600))
  t.match(await client.ask('slotSubscribe', []), { result: 1 })
  t.match(await client.ask('getSlot', []), { result: 'forwarded' })
  for (const method of ['getSlot', 'slotSubscribe'])
    t.match(await client.ask(method, []), {
      error: { code: -32429, data: { limit: 4, violated_policies: ['work'], retryable: true } }
    })
  t.match(await client.ask('slotUnsubscribe', [1]), { result: true }, 'an end is free')
})

t.test('an element that scans costs its weight, a whole quota at most, alone and in a batch', async (t) => {
  const world = new PubsubWorld(t)
  await world.addNode()
  const methods = new MethodTable([], { 'program-accounts': 4, holders: 3 })
  const clientOf = (id: string, ratePerMinute: number) =>
    world.client(new Caller({ ...KEY, id, ratePerMinute }, 600))
  Object.assign(world.deps, { methods })
  const refusal = { error: { code: -32429 } }
  const client = clientOf('of six', 6)
  t.match(await client.ask('getProgramAccounts', [ADDRESS]), { result: 'forwarded' })
  t.match(await client.ask('getProgramAccounts', [ADDRESS]), refusal)
  t.match(await client.ask('getSlot', []), { result: 'forwarded' }, 'the refused call was not counted')
  t.match(await client.ask('getSlot', []), { result: 'forwarded' })
  t.match(await client.ask('getSlot', []), refusal)
  const batch = clientOf('of a batch', 4)
  batch.send(
    JSON.stringify(
      [
        ['getSlot', []],
        ['getProgramAccounts', [ADDRESS]],
        ['getSlot', []]
      ].map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))
    )
  )
  const answers = await until(() => batch.received.find((each) => Array.isArray(each)))
  t.match(answers, [
    { id: 0, result: 'forwarded' },
    { id: 1, ...refusal },
    { id: 2, result: 'forwarded' }
  ])
  const small = clientOf('of two', 2)
  t.match(await small.ask('getProgramAccounts', [ADDRESS]), { result: 'forwarded' })
  t.match(await small.ask('getSlot', []), refusal)
})

t.test('a client that reads nothing is closed, and the others miss nothing', async (t) => {
  const world = new PubsubWorld(t)
  const node = await world.addNode()
  const [slow, fast] = [world.client(), world.client()]
  for (const client of [slow, fast]) await client.ask('logsSubscribe', ['all'])
  slow.pipe.isReading = false
  const big = `{"context":{"slot":1001},"value":{"signature":"x","err":null,"logs":["${'y'.repeat(2 ** 20)}"]}}`
  for (let sent = 0; sent < 20; sent++) node.notify('logs', big)
  await until(() => fast.notified.length === 20)
  t.equal(slow.pipe.closedWith, 4408)
  t.equal(slow.socket.queuedBytes, 0, 'nothing is kept for it')
  t.equal(fast.pipe.closedWith, null)
  t.match((await world.metrics.pubsub.closed.get()).values, [{ value: 1, labels: { code: 4408 } }])
  t.equal(slow.notified.length, 0)
  t.equal(world.hub.size, 1)
})

t.test('a slow client gets everything in order when it reads again', async (t) => {
  const world = new PubsubWorld(t)
  const node = await world.addNode()
  const client = world.client()
  await client.ask('accountSubscribe', [ADDRESS])
  client.pipe.isReading = false
  for (let slot = 1_001; slot <= 1_100; slot++) node.notify('account', account(slot, slot))
  await arrive()
  client.pipe.isReading = true
  client.pipe.read()
  client.socket.drained()
  await until(() => client.notified.length === 100)
  t.same(
    client.slots,
    Array.from({ length: 100 }, (_, at) => 1_001 + at)
  )
})

t.test('requests beyond those in progress wait, and the socket is not read meanwhile', async (t) => {
  const world = new PubsubWorld(t)
  await world.addNode()
  const client = world.client()
  const answers: (() => void)[] = []
  const { gateway } = world.deps as { gateway: { answer: typeof world.deps.gateway.answer } }
  const forward = gateway.answer
  gateway.answer = async (...given) => {
    await new Promise<void>((resolve) => answers.push(resolve))
    return forward(...given)
  }
  for (let id = 0; id < IN_PROGRESS_MAX + 5; id++)
    client.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'getSlot' }))
  await settle()
  t.equal(answers.length, IN_PROGRESS_MAX)
  t.equal(client.pauses, 1)
  for (let done = 0; done < IN_PROGRESS_MAX + 5; done++) {
    answers.shift()!()
    await settle()
  }
  await until(() => client.received.length === IN_PROGRESS_MAX + 5)
  t.same(
    client.received.map(({ id }) => id),
    Array.from({ length: IN_PROGRESS_MAX + 5 }, (_, id) => id)
  )
})

t.test(
  'messages that waited are begun one by one, each in a turn of the tenant, in their order',
  async (t) => {
    const world = new PubsubWorld(t)
    await world.addNode()
    const client = world.client()
    const begins: (() => void)[] = []
    world.turns = {
      run: async (tenant, work) => {
        t.equal(tenant, KEY.tenant)
        await new Promise<void>((resolve) => begins.push(resolve))
        return work({ again: async () => undefined })
      }
    }
    for (let id = 0; id < IN_PROGRESS_MAX + 5; id++)
      client.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'slotSubscribe' }))
    await until(() => client.received.length === IN_PROGRESS_MAX)
    for (let turn = 1; turn <= 5; turn++) {
      await until(() => begins.length === 1)
      begins.shift()!()
      await until(() => client.received.length === IN_PROGRESS_MAX + turn)
    }
    t.same(
      client.received.map(({ id }) => id),
      Array.from({ length: IN_PROGRESS_MAX + 5 }, (_, id) => id)
    )
    t.same(begins, [])
  }
)

t.test('a connection has a thousand subscriptions at most', async (t) => {
  const world = new PubsubWorld(t)
  await world.addNode()
  const client = world.client()
  await client.ask('slotSubscribe', [])
  for (let made = 1; made < SUBSCRIPTIONS_PER_SOCKET_MAX; made++)
    client.send(`{"jsonrpc":"2.0","id":"x","method":"slotSubscribe"}`)
  await until(() => client.received.length === SUBSCRIPTIONS_PER_SOCKET_MAX)
  t.match(await client.ask('slotSubscribe', []), {
    error: { code: -32603, message: /subscription limit reached/ }
  })
  await client.ask('slotUnsubscribe', [500])
  t.match(await client.ask('slotSubscribe', []), { result: SUBSCRIPTIONS_PER_SOCKET_MAX + 1 })
})

t.test('a client that is gone, idle or floods is closed', async (t) => {
  const world = new PubsubWorld(t)
  await world.addNode()
  const [gone, idle, flood] = [world.client(), world.client(), world.client()]
  for (let ping = 0; ping < 3; ping++) gone.socket.ping()
  t.equal(gone.pipe.closedWith, 4408)
  t.equal(gone.pipe.pings, 2)
  world.clock.increment(599_999)
  idle.socket.ping()
  t.equal(idle.pipe.closedWith, null)
  world.clock.increment(1)
  idle.socket.ping()
  t.equal(idle.pipe.closedWith, 4408)
  for (let sent = 0; sent < 2_000; sent++) flood.send('{"jsonrpc":"2.0","method":"ping","params":null}')
  t.equal(flood.pipe.closedWith, 4429)
})

t.test('what a client has seen is a floor for the answers to its key', async (t) => {
  const world = new PubsubWorld(t)
  const node = await world.addNode()
  const client = world.client()
  await client.ask('accountSubscribe', [ADDRESS, { commitment: 'confirmed' }])
  await client.ask('slotSubscribe', [])
  node.slot(1_050)
  node.notify('account', account(1_001, 1))
  node.notify('account', account(1_001, 2))
  node.notify('account', account(1_002, 3))
  await until(() => client.notified.length === 4)
  t.same(world.floors, [
    [KEY.id, 'confirmed', 1_001],
    [KEY.id, 'confirmed', 1_002]
  ])
})

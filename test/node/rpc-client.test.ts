import t, { type Test } from 'tap'
import { systemPorts, type Clock } from '../../src/ports.ts'
import { nodeAddresses } from '../../src/node/node-address.ts'
import { NodeError, type NodeFault } from '../../src/node/node-fault.ts'
import { RpcClient, type RpcClientOptions } from '../../src/node/rpc-client.ts'
import { until } from '../until.ts'
import { advance, virtualClock } from '../virtual-time.ts'
import { at, FaultyNode, type Fault } from './faulty-node.ts'

const { signal } = new AbortController()
const TIMEOUT_MS = 60_000

function clientOf(
  t: Test,
  url: string,
  options: Partial<RpcClientOptions> = {},
  clock = systemPorts.clock
): RpcClient {
  const client = new RpcClient(nodeAddresses([url])[0]!, clock, { timeoutMs: TIMEOUT_MS, ...options })
  t.teardown(() => client.close())
  return client
}

/** Returns the fault of a request. Fails the test if it has none. */
async function faultOf(answer: Promise<unknown>): Promise<NodeFault> {
  return answer.then(
    () => Promise.reject(new Error('there was an answer')),
    (error: unknown) => {
      if (error instanceof NodeError) return error.fault
      throw error
    }
  )
}

t.test('a request is JSON-RPC, asks for gzip and gives the result with its bytes', async (t) => {
  const node = await FaultyNode.start(t)
  const { result, body } = await clientOf(t, node.url).call('getSlot', [{ commitment: 'confirmed' }], {
    signal
  })
  t.equal(result, 1)
  t.equal(body.toString(), '{"jsonrpc":"2.0","id":1,"result":1}')
  t.match(node.requests, [
    {
      method: 'getSlot',
      params: [{ commitment: 'confirmed' }],
      headers: { 'accept-encoding': 'gzip', 'content-type': 'application/json' }
    }
  ])
})

t.test('a client of a node that packs for nothing does not ask for gzip', async (t) => {
  const node = await FaultyNode.start(t)
  await clientOf(t, node.url, { compressed: false }).call('getSlot', [], { signal })
  t.notOk('accept-encoding' in node.requests[0]!.headers)
})

const FAULTS: [name: string, fault: Fault, expected: Partial<NodeFault>][] = [
  ['HTTP 500', { kind: 'status', status: 500 }, { kind: 'http', status: 500 }],
  ['HTTP 502 of a proxy', { kind: 'status', status: 502, body: '<html>' }, { kind: 'http', status: 502 }],
  [
    'HTTP 502 with a long page',
    { kind: 'status', status: 502, body: 'x'.repeat(100_000) },
    { kind: 'http', status: 502 }
  ],
  [
    'HTTP 403 with a long page',
    { kind: 'status', status: 403, body: 'x'.repeat(100_000) },
    { kind: 'unauthorized', status: 403 }
  ],
  [
    'HTTP 400 with a long page',
    { kind: 'status', status: 400, body: 'x'.repeat(100_000) },
    { kind: 'too-large', bytesMax: 65_536 }
  ],
  ['HTTP 401', { kind: 'status', status: 401 }, { kind: 'unauthorized', status: 401 }],
  ['HTTP 403', { kind: 'status', status: 403, body: 'forbidden' }, { kind: 'unauthorized', status: 403 }],
  [
    'HTTP 401 with a JSON-RPC error',
    {
      kind: 'status',
      status: 401,
      body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"key"}}'
    },
    { kind: 'unauthorized', status: 401 }
  ],
  [
    'HTTP 403 for a method',
    { kind: 'status', status: 403, body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}' },
    { kind: 'rpc', code: -32601 }
  ],
  [
    'HTTP 500 with a JSON-RPC error',
    {
      kind: 'status',
      status: 500,
      body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"behind"}}'
    },
    { kind: 'rpc', code: -32005 }
  ],
  ['a JSON-RPC error', { kind: 'error', code: -32004, message: 'no' }, { kind: 'rpc', code: -32004 }],
  ['a slow answer', { kind: 'slow', ms: 3_000 }, { kind: 'timeout' }],
  ['no answer', { kind: 'silent' }, { kind: 'timeout' }],
  ['garbage', { kind: 'body', body: '<html>hello</html>' }, { kind: 'garbage' }],
  ['an empty body', { kind: 'body', body: '' }, { kind: 'garbage' }],
  ['JSON that is no response', { kind: 'body', body: '[1, 2]' }, { kind: 'garbage' }],
  [
    'the answer to another request',
    { kind: 'body', body: '{"jsonrpc":"2.0","id":77,"result":5}' },
    { kind: 'garbage' }
  ],
  ['gzip that is cut', { kind: 'cut-gzip' }, { kind: 'garbage' }]
]

for (const [name, fault, expected] of FAULTS) {
  t.test(`${name} is told apart, and nothing is sent again`, async (t) => {
    const node = await FaultyNode.start(t)
    node.inject(name, fault)
    const clock = virtualClock()
    const client = clientOf(t, node.url, {}, clock)
    const found = faultOf(client.call('getSlot', [], { signal }))
    // The others end without it, however slow the machine is.
    if (expected.kind === 'timeout') {
      await until(() => node.fired.has(name))
      clock.increment(TIMEOUT_MS)
    }
    t.match(await found, expected)
    t.equal(node.fired.get(name), 1, 'the fault was done')
    t.equal(node.requests.length, 1)
    t.equal((await client.call('getSlot', [], { signal })).result, 1, 'the next request is well')
  })
}

t.test('a socket that is dropped costs a read one more try, and then is a fault', async (t) => {
  for (const kind of ['drop', 'truncate'] as const) {
    const node = await FaultyNode.start(t)
    const client = clientOf(t, node.url)
    node.inject(kind, { kind })
    t.equal((await client.call('getSlot', [], { signal })).result, 1)
    t.equal(node.requests.length, 2)
    node.inject(kind, { kind }, undefined, 2)
    t.match(await faultOf(client.call('getSlot', [], { signal })), { kind: 'unreachable' })
    t.equal(node.fired.get(kind), 3)
    t.equal(node.requests.length, 4)
  }
})

t.test('a call other than a read is never sent twice', async (t) => {
  const node = await FaultyNode.start(t)
  node.inject('drop', { kind: 'drop' })
  t.match(await faultOf(clientOf(t, node.url).call('sendTransaction', ['…'], { signal })), {
    kind: 'unreachable'
  })
  t.equal(node.requests.length, 1)
})

t.test('a node that is not there is unreachable at once', async (t) => {
  const node = await FaultyNode.start(t)
  await node.stop()
  t.match(await faultOf(clientOf(t, node.url).call('getSlot', [], { signal })), {
    kind: 'unreachable',
    detail: /ECONNREFUSED/
  })
})

t.test('an answer beyond the limit is not kept, plain or packed', async (t) => {
  const node = await FaultyNode.start(t)
  const client = clientOf(t, node.url, { bodyBytesMax: 10_000 })
  node.inject('plain', { kind: 'result', result: 'x'.repeat(20_000) })
  t.same(await faultOf(client.call('getSlot', [], { signal })), { kind: 'too-large', bytesMax: 10_000 })
  node.genesis = 'y'.repeat(5_000_000)
  t.same(await faultOf(client.call('getGenesisHash', [], { signal })), {
    kind: 'too-large',
    bytesMax: 10_000
  })
  t.equal((await client.call('getSlot', [], { signal })).result, 1)
})

t.test('after a 429 nothing is sent until the node is to be asked again', async (t) => {
  const clock = virtualClock()
  const node = await FaultyNode.start(t)
  node.inject('429', { kind: 'status', status: 429, retryAfter: '7' })
  const client = clientOf(t, node.url, {}, clock)
  t.same(await faultOf(client.call('getSlot', [], { signal })), { kind: 'throttled', restMs: 7_000 })
  clock.increment(3_000)
  t.same(await faultOf(client.call('getSlot', [], { signal })), { kind: 'throttled', restMs: 4_000 })
  t.equal(node.requests.length, 1)
  clock.increment(4_000)
  t.equal((await client.call('getSlot', [], { signal })).result, 1)
  node.inject('429 without a time', { kind: 'status', status: 429, retryAfter: '99999' })
  t.same(await faultOf(client.call('getSlot', [], { signal })), { kind: 'throttled', restMs: 60_000 })
})

t.test('no more requests start in a second, and no more are in flight, than stated', async (t) => {
  const node = await FaultyNode.start(t)
  node.inject('slow', { kind: 'slow', ms: 50 }, undefined, Infinity)
  const starts: number[] = []
  // A request sets its timeout when it starts; it may arrive much later.
  const clock: Clock = {
    ...systemPorts.clock,
    setTimeout(run, ms) {
      starts.push(performance.now())
      return systemPorts.clock.setTimeout(run, ms)
    }
  }
  const client = clientOf(t, node.url, { requestsPerSecond: 12, concurrency: 3 }, clock)
  await Promise.all(Array.from({ length: 30 }, () => client.call('getSlot', [], { signal })))
  t.equal(node.mostInFlight, 3)
  // Timers may fire a millisecond early, and the queue counts in whole milliseconds.
  const most = Math.max(
    ...starts.map((from) => starts.filter((each) => each >= from && each < from + 990).length)
  )
  t.ok(most <= 12, `${most} in a second`)
  t.equal(starts.length, 30)
})

t.test('a request that is urgent goes before those that wait', async (t) => {
  const node = await FaultyNode.start(t)
  const client = clientOf(t, node.url, { concurrency: 1 })
  const usual = ['getBlock', 'getFirstAvailableBlock'].map((method) =>
    client.call(method, [1], { signal }).catch(() => null)
  )
  await Promise.all([...usual, client.call('getSlot', [], { signal, urgent: true })])
  t.same(
    node.requests.map(({ method }) => method),
    ['getBlock', 'getSlot', 'getFirstAvailableBlock']
  )
})

t.test('requests beyond those that may wait are refused', async (t) => {
  const node = await FaultyNode.start(t)
  node.inject('silent', { kind: 'silent' }, undefined, Infinity)
  const end = new AbortController()
  const client = clientOf(t, node.url, { concurrency: 1, timeoutMs: 60_000 })
  const waiting = Array.from({ length: 1_001 }, () => client.call('getSlot', [], { signal: end.signal }))
  const ended = Promise.allSettled(waiting)
  t.same(await faultOf(client.call('getSlot', [], { signal })), { kind: 'busy', waiting: 1_000 })
  end.abort(new Error('enough'))
  t.ok((await ended).every(({ status }) => status === 'rejected'))
})

t.test('a signal ends a request at once with its own reason', async (t) => {
  const node = await FaultyNode.start(t)
  node.inject('silent', { kind: 'silent' })
  const end = new AbortController()
  const client = clientOf(t, node.url)
  const answer = client.call('getSlot', [], { signal: end.signal })
  await until(() => node.requests.length > 0)
  end.abort(new Error('we drain'))
  await t.rejects(answer, { message: 'we drain' })
  await t.rejects(client.call('getSlot', [], { signal: end.signal }), { message: 'we drain' })
  t.equal(node.requests.length, 1)
})

t.test('new connections are used at once, and what is in flight on the old ones ends well', async (t) => {
  const node = await FaultyNode.start(t)
  node.inject('slow', { kind: 'slow', ms: 200 }, at('getBlock'))
  const client = clientOf(t, node.url, { concurrency: 1 })
  const before = client.call('getBlock', [1], { signal })
  await until(() => node.requests.length > 0)
  client.renewConnections()
  t.equal((await client.call('getSlot', [], { signal })).result, 1)
  t.match((await before).result, { parentSlot: 0 })
  t.not(node.requests[0]!.port, node.requests[1]!.port)
})

t.test('time is over on the clock that is given', async (t) => {
  const clock = virtualClock()
  const node = await FaultyNode.start(t)
  node.inject('silent', { kind: 'silent' })
  const fault = faultOf(clientOf(t, node.url, { timeoutMs: 5_000 }, clock).call('getSlot', [], { signal }))
  await until(() => node.requests.length > 0)
  await advance(clock, 5_000)
  t.same(await fault, { kind: 'timeout', afterMs: 5_000 })
})

t.test('no part of a URL that may be a secret is in a name or a message', async (t) => {
  const node = await FaultyNode.start(t)
  const secrets = ['s3cr3t-in-path', 's3cr3t-in-query', 's3cr3t-user', 's3cr3t-password']
  const [path, query, user, password] = secrets
  const url = new URL(`/v2/${path}?api-key=${query}`, node.url)
  url.username = user!
  url.password = password!
  const client = clientOf(t, url.href)
  t.equal(client.name, node.name)
  const echoed = secrets.join(' ') + url.href
  node.inject('echo', { kind: 'error', code: -32000, message: echoed })
  node.inject('status', { kind: 'status', status: 500, body: echoed })
  node.inject('401', { kind: 'status', status: 401, body: echoed })
  node.inject('garbage', { kind: 'body', body: echoed })
  while (node.unfired.length > 0) {
    const error: unknown = await client.call('getSlot', [], { signal }).catch((thrown: unknown) => thrown)
    t.ok(error instanceof NodeError)
    const said = `${(error as Error).stack} ${JSON.stringify((error as NodeError).fault)}`
    for (const secret of secrets) t.notMatch(said, secret)
  }
  await node.stop()
  const error = await client.call('getSlot', [], { signal }).catch((thrown: unknown) => thrown as Error)
  for (const secret of secrets) t.notMatch((error as Error).stack, secret)
})

t.test('a token in the URL reaches the node where it belongs', async (t) => {
  const node = await FaultyNode.start(t)
  await clientOf(t, node.url.replace('//', '//user:pass%20word@')).call('getSlot', [], { signal })
  t.equal(
    node.requests[0]!.headers.authorization,
    `Basic ${Buffer.from('user:pass word').toString('base64')}`
  )
})

t.test('nodes are named by host and port, with a number where that is the same', async (t) => {
  const names = nodeAddresses([
    'https://a.example/one-token',
    'https://a.example/other-token',
    'http://b.example:8899',
    'https://a.example/one-token'
  ]).map(({ name }) => name)
  t.same(names, ['a.example', 'a.example#2', 'b.example:8899'])
})

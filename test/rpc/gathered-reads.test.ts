import t from 'tap'
import { fakeNodes, type FakeRpcNode } from './fake-rpc-node.ts'
import { callOf, opened, textOf } from './opened-nodes.ts'
import { until } from '../until.ts'

const { signal } = new AbortController()

/** Has a node answer each read with its own params. */
function echoParams(node: FakeRpcNode): void {
  node.answer = ({ params }) => ({ result: { context: { slot: node.slot }, value: params } })
}

const balance = (name: string, minSlot = 0) =>
  callOf('getBalance', `["${name}"]`, minSlot, 'confirmed', minSlot)

t.test('short reads of one turn go up as one request, and each has its own answer', async (t) => {
  const [node] = await fakeNodes(t, 1)
  echoParams(node!)
  const nodes = await opened(t, [node!])
  const names = Array.from({ length: 30 }, (_, at) => `account${at}`)
  const answers = await Promise.all(names.map((name) => nodes.request(balance(name), signal)))
  for (const [at, answer] of answers.entries())
    t.equal(await textOf(answer), `{"context":{"slot":1000},"value":["account${at}"]}`)
  t.equal(node!.posts, 1)
  t.equal(node!.asked.length, names.length)
})

t.test('beyond a hundred reads, and at another commitment, there is a further request', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!])
  const calls = Array.from({ length: 101 }, (_, at) => balance(`a${at}`))
  const finalized = callOf('getBalance', '["b",{"commitment":"finalized"}]', 0, 'finalized')
  await Promise.all([...calls, finalized].map((call) => nodes.request(call, signal)))
  t.equal(node!.posts, 3)
})

t.test('long answers, sends, and params that a node may refuse to parse go up alone', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!])
  const alone = [
    callOf('getAccountInfo', '["a"]'),
    callOf('sendTransaction', '["a"]'),
    callOf('getBalance', '[1e999]'),
    callOf('getBalance', '["\\ud800"]'),
    callOf('getBalance', '["a",{"commitment":"confirmed","commitment":"processed"}]')
  ]
  await Promise.all([...alone, balance('a'), balance('b')].map((call) => nodes.request(call, signal)))
  t.equal(node!.posts, alone.length + 1)
})

t.test('where a second node could be asked each read is a request, which may be hedged', async (t) => {
  const [first, second] = await fakeNodes(t, 2)
  const nodes = await opened(t, [first!, second!])
  await Promise.all(['a', 'b', 'c'].map((name) => nodes.request(balance(name), signal)))
  t.ok(first!.posts + second!.posts >= 3)
})

t.test('a node that refuses batches is asked for each read, then and later', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!])
  node!.fault = 'no batches'
  const ask = () => Promise.all(['a', 'b'].map((name) => nodes.request(balance(name), signal)))
  for (const answer of await ask()) t.equal(answer.kind, 'result')
  t.equal(node!.posts, 3, 'the batch, and two reads')
  await ask()
  t.equal(node!.posts, 5)
})

t.test('an answer below the floor of one read is an error for it alone', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!])
  const [low, high] = await Promise.allSettled([
    nodes.request(balance('a'), signal),
    nodes.request(balance('b', 2_000), signal)
  ])
  t.equal(low.status, 'fulfilled')
  t.match(high, { status: 'rejected', reason: { name: 'NoUpstream' } })
})

t.test('a fault of the node is an error for each read of the request', async (t) => {
  for (const fault of ['wrong JSON', 'another id', 'half the bytes', 'stalled'] as const) {
    const [node] = await fakeNodes(t, 1)
    const nodes = await opened(t, [node!], [], { stallMs: 200 })
    node!.fault = fault
    await until(() => nodes.inOrder('confirmed', 0).length > 0)
    const reads = await Promise.allSettled(['a', 'b'].map((name) => nodes.request(balance(name), signal)))
    for (const read of reads) t.match(read, { status: 'rejected', reason: { name: 'NoUpstream' } }, fault)
    t.ok(node!.fired > 0, `${fault} was shown`)
  }
})

t.test('a read that no others can go up with ends when its reader leaves', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!])
  node!.fault = 'stalled'
  const end = new AbortController()
  const read = nodes.request(callOf('getAccountInfo', '["a"]'), end.signal)
  await until(() => node!.fired === 1)
  end.abort(new Error('left'))
  await t.rejects(read, { message: 'left' })
})

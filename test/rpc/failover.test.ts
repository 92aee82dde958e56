import t from 'tap'
import { RPC_CODE } from '../../src/node/node-fault.ts'
import { verdictOf } from '../../src/rpc/failover.ts'
import { until } from '../until.ts'
import { fakeNodes } from './fake-rpc-node.ts'
import { callOf, isFirst, opened, textOf } from './opened-nodes.ts'

const { signal } = new AbortController()
const errorOf = (code: number | null) => ({ kind: 'error', code, slot: null, isNull: false }) as const

t.test('the verdict on an error of a node, by its code', async (t) => {
  const read = callOf('getBalance')
  for (const code of [-32603, -32000, -32020, -32042, -32099, -32429, null])
    t.equal(verdictOf(read, errorOf(code), 1_000), 'failed', `${code}`)
  for (const code of [-32602, -32601, -32600, -32700, -32100, -31999, 1, RPC_CODE.scanError])
    t.equal(verdictOf(read, errorOf(code), 1_000), 'deliver', `${code}`)
  for (const code of [-32005, -32016]) t.equal(verdictOf(read, errorOf(code), 1_000), 'elsewhere', `${code}`)
  const send = callOf('sendTransaction')
  for (const code of [-32603, -32000, -32002, -32003])
    t.equal(verdictOf(send, errorOf(code), 1_000), 'deliver', `${code}: a send is never repeated`)
})

t.test('a read that a node fails with a JSON-RPC error is answered by another one', async (t) => {
  const [bad, good] = await fakeNodes(t, 2)
  const nodes = await opened(t, [bad!, good!])
  for (const code of [-32603, -32000, -32055]) {
    await until(() => isFirst(nodes, 0))
    bad!.answer = () => ({ error: { code, message: 'broken' } })
    const asked = bad!.asked.length
    t.match(await textOf(await nodes.request(callOf('getBalance', '["x"]'), signal)), good!.url, `${code}`)
    t.ok(bad!.asked.length > asked, 'the first node was asked')
    const both = await nodes.requestAll(
      [callOf('getVersion', '["a"]'), callOf('getVersion', '["b"]')],
      signal
    )
    for (const each of both) t.match(each instanceof Error ? each : await textOf(each), good!.url)
  }
  good!.answer = bad!.answer
  const error = await nodes.request(callOf('getBalance', '["x"]'), signal)
  t.same(JSON.parse(await textOf(error)), { code: -32055, message: 'broken' }, 'the error of all of them')
  const sends = bad!.asked.length + good!.asked.length
  await nodes.request(callOf('sendTransaction', '["x"]'), signal)
  t.equal(bad!.asked.length + good!.asked.length, sends + 1, 'a transaction goes to one node')
})

t.test('a read has one deadline over all nodes, of which the first takes half', async (t) => {
  const silent = await fakeNodes(t, 3)
  const nodes = await opened(t, silent, [], { stallMs: 10_000, deadlineMs: 800 })
  for (const node of silent) node.fault = 'stalled'
  await t.rejects(nodes.request(callOf('getBalance', '["x"]'), signal), {
    name: 'NoUpstream',
    message: /within 800 ms|no node answers/
  })
  t.ok(
    silent.every(({ fired }) => fired > 0),
    'each node was asked'
  )
  // Probes are in flight now and then.
  await until(() => nodes.inFlight === 0)
  const all = await nodes.requestAll([callOf('getBalance', '["a"]'), callOf('getBalance', '["b"]')], signal)
  t.ok(all.every((each) => each instanceof Error))
})

t.test('a send has the time that its node takes: the deadline is that of reads', async (t) => {
  const slow = await fakeNodes(t, 2)
  const nodes = await opened(t, slow, [], { deadlineMs: 100 })
  for (const node of slow) {
    node.fault = 'slow'
    node.slowMs = 300
  }
  await t.rejects(nodes.request(callOf('getBalance', '["x"]'), signal), { name: 'NoUpstream' })
  const sends = (): number =>
    slow.flatMap(({ asked }) => asked).filter((method) => method === 'sendTransaction').length
  t.match(await textOf(await nodes.request(callOf('sendTransaction', '["x"]'), signal)), 'http')
  t.equal(sends(), 1)
})

t.test('a node that failed a moment ago is asked as the last one', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!])
  node!.fault = '500'
  await until(async () => {
    await nodes.request(callOf('getBalance', '["x"]'), signal).catch(() => null)
    return nodes.nodes[0]!.state === 'down'
  })
  node!.fault = 'none'
  t.equal(nodes.inOrder('confirmed', 0).length, 0, 'it counts as down')
  t.match(await textOf(await nodes.request(callOf('getBalance', '["x"]'), signal)), node!.url)
})

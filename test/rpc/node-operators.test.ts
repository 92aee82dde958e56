import t from 'tap'
import { RPC_NODES_TUNING } from '../../actors/rpc/node-pool.ts'
import type { RpcNodes } from '../../actors/rpc/upstreams.ts'
import { systemPorts } from '../../src/ports.ts'
import type { Cordon } from '../../src/rpc/cordons.ts'
import { MethodCosts } from '../../src/rpc/method-costs.ts'
import { isUnanswered, NoUpstream } from '../../src/rpc/upstreams.ts'
import { until } from '../until.ts'
import { fakeNodes } from './fake-rpc-node.ts'
import { callOf, isFirst, opened, textOf } from './opened-nodes.ts'

const { signal } = new AbortController()
const READ = callOf('getBalance', '["x"]')

/** Spends the budget of a node for the rest of the test. */
const spendAll = (nodes: RpcNodes, index: number): void =>
  nodes.nodes[index]!.budget.spend(1e9, systemPorts.clock.now())

t.test('a node without budget left gets no request, and the next one answers', async (t) => {
  const [a, b] = await fakeNodes(t, 2)
  const nodes = await opened(t, [a!, b!], [], { limits: [100, null] })
  await until(() => isFirst(nodes, 0))
  spendAll(nodes, 0)
  for (let at = 0; at < 20; at++) t.match(await textOf(await nodes.request(READ, signal)), b!.url)
  const batch = await nodes.requestAll([READ, callOf('getBalance', '["y"]')], signal)
  for (const each of batch) t.match(isUnanswered(each) ? each : await textOf(each), b!.url)
  await nodes.request(callOf('sendTransaction', '["x"]'), signal)
  t.equal(a!.posts, 0, 'nor a hedge, a batch or a transaction')
  t.match(nodes.nodes[0]!.state, /healthy|lagging/, 'probes go on')
})

t.test('if every node has spent its budget, nothing is sent, and the error says when to retry', async (t) => {
  const [a, b] = await fakeNodes(t, 2)
  const nodes = await opened(t, [a!, b!], [], { limits: [1_000_000, 1_000_000] })
  spendAll(nodes, 0)
  spendAll(nodes, 1)
  const refusal = await nodes.request(READ, signal).catch((error: unknown) => error)
  t.ok(refusal instanceof NoUpstream)
  const { retryAfterMs, message } = refusal as NoUpstream
  t.match(message, /has used up its budget/)
  t.ok(retryAfterMs! > 900_000 && retryAfterMs! <= 1_000_000, String(retryAfterMs))
  const all = await nodes.requestAll([READ, callOf('getBalance', '["y"]')], signal)
  for (const each of all) t.match(each, { name: 'NoUpstream', retryAfterMs: Number })
  t.equal(a!.posts + b!.posts, 0)
})

t.test('a read whose first node fails is to be retried if the others have no budget now', async (t) => {
  const [a, b] = await fakeNodes(t, 2)
  const nodes = await opened(t, [a!, b!], [], { limits: [null, 100] })
  await until(() => isFirst(nodes, 0))
  spendAll(nodes, 1)
  a!.answer = () => ({ error: { code: -32603, message: 'broken' } })
  await t.rejects(nodes.request(READ, signal), { name: 'NoUpstream', message: /used up its budget/ })
  t.equal(b!.posts, 0)
})

t.test('a method costs its weight, and a batch the sum of its elements', async (t) => {
  const [a] = await fakeNodes(t, 1)
  const costs = new MethodCosts({ getBlock: 500, getLatestBlockhash: 1 })
  const nodes = await opened(t, [a!], [], { limits: [100_000], costs })
  const { budget } = nodes.nodes[0]!
  const spent: number[] = []
  const spend = budget.spend.bind(budget)
  budget.spend = (cost, nowMs) => {
    spent.push(cost)
    spend(cost, nowMs)
  }
  await nodes.request(callOf('getBlock', '[1]'), signal)
  t.ok(spent.includes(500))
  await nodes.requestAll([callOf('getBlock', '[1]'), READ, callOf('getBlock', '[2]')], signal)
  t.ok(spent.includes(1_001))
  t.ok(
    spent.every((cost) => [3, 1, 500, 1_001].includes(cost)),
    'probes cost their elements'
  )
})

t.test('HTTP 429 and -32429 teach a rate, and a pause ends', async (t) => {
  const [a, b] = await fakeNodes(t, 2)
  const nodes = await opened(t, [a!, b!])
  await until(() => isFirst(nodes, 0))
  t.equal(nodes.control.statuses()[0]!.budget.learned, null)
  a!.fault = '429'
  t.match(await textOf(await nodes.request(READ, signal)), b!.url)
  t.ok(nodes.control.statuses()[0]!.budget.learned! >= 5)
  t.ok(nodes.nodes[0]!.link.isResting)
  b!.answer = () => ({ error: { code: -32429, message: 'slow down' } })
  await nodes.request(READ, signal).catch(() => null)
  t.ok(nodes.control.statuses()[1]!.budget.learned! >= 5)
  a!.fault = 'none'
  b!.answer = a!.answer
  await until(() =>
    nodes.request(READ, signal).then(
      () => true,
      () => false
    )
  )
})

t.test('a limit below the cost of probes makes them rarer', async (t) => {
  const [a, b] = await fakeNodes(t, 2)
  const nodes = await opened(t, [a!, b!], [], {
    limits: [1, null],
    ...RPC_NODES_TUNING,
    probeMs: 20,
    idleProbeMs: 20
  })
  const before = nodes.nodes.map(({ link }) => link.sent)
  await until(() => nodes.nodes[1]!.link.sent - before[1]! > 10)
  t.ok(nodes.nodes[0]!.link.sent - before[0]! <= 1)
})

t.test('a cordoned node gets no request, is still probed, and is used again when it is freed', async (t) => {
  const [a, b] = await fakeNodes(t, 2)
  const cordons: Cordon[] = []
  const nodes = await opened(t, [a!, b!], [], { cordons: async () => [...cordons] })
  await until(() => isFirst(nodes, 0))
  const [first, second] = nodes.control.statuses()
  cordons.push({ ...first!.id, cordonedAtMs: 5 })
  await nodes.control.followCordons()
  t.match(nodes.control.statuses()[0], { cordonedAtMs: 5, isUsable: false })
  t.ok(nodes.isCordoned(0))
  t.notOk(nodes.isCordoned(1))
  for (let at = 0; at < 10; at++) t.match(await textOf(await nodes.request(READ, signal)), b!.url)
  a!.slot += 40
  t.equal(nodes.newest('processed'), b!.slot, 'its slot is no floor of the others')
  const { sent } = nodes.nodes[0]!.link
  await until(() => nodes.nodes[0]!.link.sent > sent)

  b!.fault = '500'
  await t.rejects(nodes.request(READ, signal), /no node answers.*the operator has cordoned a node/)
  b!.fault = 'none'
  cordons.push({ ...second!.id, cordonedAtMs: 6 })
  await nodes.control.followCordons()
  await t.rejects(nodes.request(READ, signal), /the operator has cordoned 2 nodes/)
  t.equal(a!.posts, 0)
  cordons.shift()
  // The poll of the store finds it, as in the other processes.
  await until(() => nodes.request(READ, signal).then(textOf, () => null))
  t.ok(a!.posts > 0)
})

t.test('a cordon holds from the first request of a start', async (t) => {
  const [a, b] = await fakeNodes(t, 2)
  const id = { id: new URL(a!.url).host, digest: 'of an earlier URL' }
  const nodes = await opened(t, [a!, b!], [], { cordons: async () => [{ ...id, cordonedAtMs: 5 }] })
  t.match(await textOf(await nodes.request(READ, signal)), b!.url)
  t.equal(a!.posts, 0)
})

t.test('an operator sees the requests of a node by method, with errors and latencies', async (t) => {
  const [a, b] = await fakeNodes(t, 2)
  const nodes = await opened(t, [a!, b!])
  await until(() => isFirst(nodes, 0))
  await nodes.request(READ, signal)
  a!.fault = '500'
  await until(() => isFirst(nodes, 0))
  await nodes.request(READ, signal)
  a!.fault = 'none'
  const [first, second] = nodes.control.statuses()
  t.match(first!.recent, [{ method: 'getBalance', p50Ms: Number, p99Ms: Number }])
  t.ok(first!.recent[0]!.requests >= 2)
  t.equal(first!.recent[0]!.errors, 1)
  t.match(second!.recent, [{ method: 'getBalance', errors: 0 }])
  t.match(first!.totals, [{ method: 'getBalance', failed: 1 }])
  t.match(second, { slotsBehind: 0, falseSlots: 0, reason: null })
})

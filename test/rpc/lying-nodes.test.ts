import t from 'tap'
import { systemPorts } from '../../src/ports.ts'
import { AnswerCache } from '../../src/rpc/answer-cache.ts'
import { MethodTable } from '../../src/rpc/methods.ts'
import { parseRequest } from '../../src/rpc/requests.ts'
import { Gateway } from '../../src/rpc/rpc-gateway.ts'
import { SharedReads } from '../../src/rpc/shared-reads.ts'
import { SlotFloors } from '../../src/rpc/slot-floors.ts'
import type { RpcNodes } from '../../actors/rpc/upstreams.ts'
import { until } from '../until.ts'
import { callerWith } from './fake-rpc.ts'
import { fakeNodes, type FakeRpcNode } from './fake-rpc-node.ts'
import { callOf, opened, textOf } from './opened-nodes.ts'

const { signal } = new AbortController()

function gatewayOf(nodes: RpcNodes) {
  const { clock } = systemPorts
  const floors = new SlotFloors({ onRise: (commitment, slot) => nodes.stated(commitment, slot) })
  const gateway = new Gateway({
    methods: new MethodTable(),
    reads: new SharedReads(nodes, new AnswerCache(2 ** 20, clock), clock),
    floors,
    accounts: { answer: () => Promise.reject(new Error('nothing is mirrored')) },
    sends: null,
    clock
  })
  const read = async (
    key: string,
    address = 'x',
    method = 'getBalance'
  ): Promise<{ readonly status: number; readonly text: string }> => {
    const params = method === 'getBalance' ? [address] : []
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const context = { caller: callerWith(['rpc:read'], key), batchMax: 100, tracks: false, signal }
    const reply = await gateway.answer(parseRequest(Buffer.from(body), 100), context)
    return { status: reply.status, text: (reply.body as Buffer).toString('utf8') }
  }
  return { floors, read }
}

t.test('one node of three that claims a slot far ahead is believed by nobody, however long', async (t) => {
  for (const ahead of [300, 100_000]) {
    const [liar, b, c] = await fakeNodes(t, 3)
    const nodes = await opened(t, [liar!, b!, c!])
    const { read } = gatewayOf(nodes)
    await read('key')
    liar!.slot += ahead
    await until(() => nodes.nodes[0]!.state === 'down')
    t.match(nodes.nodes[0]!.facts.reason, /neither a majority of the nodes/)
    for (let i = 0; i < 5; i++) t.match((await read('key')).text, /"slot":1000\}/, `${ahead} slots ahead`)
    t.equal(nodes.newest('processed'), 1_000)
    liar!.slot -= ahead
    await until(() => nodes.nodes[0]!.state === 'healthy')
    t.equal((await read('key')).status, 200)
  }
})

t.test('of two nodes the lower one is believed, unless indexed blocks bear out the higher', async (t) => {
  const [a, b] = await fakeNodes(t, 2)
  let indexed: number | null = null
  const nodes = await opened(t, [a!, b!], [], { indexedSlot: () => indexed })
  b!.slot = 2_000
  await until(() => nodes.nodes[1]!.state === 'down')
  t.equal(nodes.newest('processed'), 1_000)
  indexed = 1_995
  await until(() => nodes.nodes[1]!.state === 'healthy' && nodes.nodes[0]!.state === 'lagging')
  t.equal(nodes.newest('processed'), 2_000)
  t.match(await textOf(await nodes.request(callOf('getBalance', '["x"]'), signal)), b!.url)
})

t.test('a key that saw a false slot is served again after the time for which a slot counts', async (t) => {
  const [liar] = await fakeNodes(t, 1)
  liar!.slot = 100_000
  const nodes = await opened(t, [liar!], [], { reachedForMs: 400 })
  const { floors, read } = gatewayOf(nodes)
  t.match((await read('key')).text, /"slot":100000\}/, 'a single node is believed')
  liar!.slot = 1_000
  await until(() => nodes.newest('processed') === 1_000)
  const asked = liar!.asked.length
  const { status, text } = await read('key', 'y')
  t.equal(status, 200, text)
  t.match(text, /"slot":1000\}/)
  t.ok(liar!.asked.length - asked <= 3, `${liar!.asked.length - asked} requests while it waited`)
  await read('key', 'z')
  t.same([floors.of('key', 'confirmed'), floors.abandoned], [1_000, 1])
})

t.test('a slot that getSlot or a notification has stated is a floor before a probe reaches it', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!], [], { probeMs: 1_000, idleProbeMs: 1_000 })
  const { floors, read } = gatewayOf(nodes)
  node!.lie = 5
  t.match((await read('key', '', 'getSlot')).text, /1005/)
  t.equal(nodes.newest('finalized'), 1_000)
  floors.saw('other', 'finalized', 1_007)
  node!.lie = 0
  const waits = [read('key'), read('other')]
  await until(() => node!.asked.length >= 2)
  node!.slot = 1_008
  for (const { text } of await Promise.all(waits)) t.match(text, /"slot":1008\}/)
  t.equal(floors.abandoned, 0)
})

t.test('a read whose slot no node has reached sends at most two requests to a node', async (t) => {
  const all = await fakeNodes(t, 3)
  const nodes = await opened(t, all)
  for (const node of all) node.answer = () => ({ result: { context: { slot: 900 }, value: 'old' } })
  const call = callOf('getBalance', '["x"]', 1_000, 'confirmed', 1_000)
  await t.rejects(nodes.request(call, signal), { message: 'no node has reached slot 1000' })
  const count = (node: FakeRpcNode): number => node.asked.length
  t.ok(
    all.every((node) => count(node) >= 1 && count(node) <= 2),
    String(all.map(count))
  )
})

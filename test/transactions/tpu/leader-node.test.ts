import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { systemPorts } from '../../../src/ports.ts'
import { parseAddress, RpcLeaderNode } from '../../../src/transactions/tpu/leader-node.ts'

const A = 'A'.repeat(43)
const B = 'B'.repeat(44)
const never = new AbortController().signal

/** A server that answers each method with a fixed result, its URL, a reader of it, and the requests that it got. */
async function nodeWith(t: Test, results: Readonly<Record<string, unknown>>) {
  const requests: unknown[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
        id: number
        method: string
        params: unknown
      }
      requests.push([method, params])
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const node = new RpcLeaderNode([url], systemPorts.clock)
  t.teardown(async () => {
    await node.close()
    server.close()
  })
  return { url, node, requests }
}

t.test('slot, leaders and addresses are read; nodes without QUIC are left out', async (t) => {
  const { node, requests } = await nodeWith(t, {
    getSlot: 7,
    getSlotLeaders: [A, A, B],
    getClusterNodes: [
      { pubkey: A, tpuQuic: '203.0.113.7:8009', gossip: '203.0.113.7:8001' },
      { pubkey: B, tpuQuic: null },
      { pubkey: 'C'.repeat(43) },
      { pubkey: 'D'.repeat(43), tpuQuic: 'example.com:8009' }
    ]
  })
  t.equal(await node.slot(never), 7)
  t.same(await node.slotLeaders(5, 3, never), [A, A, B])
  t.same([...(await node.addresses(never))], [[A, { host: '203.0.113.7', port: 8_009 }]])
  t.same(requests, [
    ['getSlot', [{ commitment: 'processed' }]],
    ['getSlotLeaders', [5, 3]],
    ['getClusterNodes', []]
  ])
})

t.test('a result of another form is a fault of the node', async (t) => {
  const { node } = await nodeWith(t, { getSlot: '7', getSlotLeaders: [7], getClusterNodes: null })
  const garbage = (method: string) => ({
    name: 'NodeError',
    message: new RegExp(`cannot be read: result in the answer to ${method}$`)
  })
  await t.rejects(node.slot(never), garbage('getSlot'))
  await t.rejects(node.slotLeaders(0, 1, never), garbage('getSlotLeaders'))
  await t.rejects(node.addresses(never), garbage('getClusterNodes'))
})

t.test('of several nodes, one that fails is asked last from then on', async (t) => {
  const [bad, good] = await Promise.all([nodeWith(t, { getSlot: null }), nodeWith(t, { getSlot: 7 })])
  const node = new RpcLeaderNode([bad.url, good.url], systemPorts.clock)
  t.teardown(() => node.close())
  t.equal(await node.slot(never), 7)
  t.equal(await node.slot(never), 7)
  t.same([bad.requests.length, good.requests.length], [1, 2])
  await t.rejects(node.addresses(never), { name: 'NodeError' }, 'both have failed')
})

t.test('an address is an IP address and a port', async (t) => {
  t.same(parseAddress('203.0.113.7:8009'), { host: '203.0.113.7', port: 8_009 })
  t.same(parseAddress('[2001:db8::7]:1'), { host: '2001:db8::7', port: 1 })
  for (const text of [
    '',
    '203.0.113.7',
    '203.0.113.7:0',
    '203.0.113.7:65536',
    '203.0.113.256:8009',
    'localhost:8009',
    '2001:db8::7:8009',
    '[203.0.113.7]:8009',
    '203.0.113.7:8009 ',
    ':8009'
  ])
    t.equal(parseAddress(text), null, text)
})

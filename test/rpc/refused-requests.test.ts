import t from 'tap'
import { fakeRpc } from './fake-rpc.ts'
import { fakeNodes } from './fake-rpc-node.ts'
import { callOf, opened, textOf } from './opened-nodes.ts'
import { marketApp } from '../http/market-app.ts'
import { until } from '../until.ts'

const { signal } = new AbortController()
/** As agave has it (MAX_REQUEST_BODY_SIZE). */
const NODE_BYTES_MAX = 50 * 1024
const addresses = (count: number): string =>
  JSON.stringify([Array.from({ length: count }, (_, at) => `a${at}`.padEnd(44, 'x'))])

t.test(
  'a request that is too large for the node is refused for good with 413, and the node stays in use',
  async (t) => {
    const [node] = await fakeNodes(t, 1)
    node!.bodyBytesMax = NODE_BYTES_MAX
    const app = await marketApp(t, undefined, { rpc: fakeRpc(await opened(t, [node!])) })
    const key = await app.makeKey(['rpc:read'])
    const ask = (body: string) =>
      app.ask('POST', '/v1/rpc', { 'content-type': 'application/json', 'x-api-key': key }, body)
    for (const kib of [60, 100, 240]) {
      const params = addresses((kib * 1024) / 48)
      const answer = await ask(`{"jsonrpc":"2.0","id":"x","method":"getMultipleAccounts","params":${params}}`)
      t.equal(answer.status, 413, `${kib} KiB`)
      t.match(JSON.parse(answer.text), {
        id: 'x',
        error: { code: -32600, message: /too large for the node/, data: { retryable: false } }
      })
      t.equal(answer.headers['retry-after'], undefined)
    }
    t.equal(node!.fired, 3, 'each was sent once')
    t.equal((await ask('{"jsonrpc":"2.0","id":1,"method":"getHealth"}')).status, 200)
  }
)

t.test(
  'a batch that is too large for the node is sent in parts, and only the element that is too large is refused',
  async (t) => {
    const [node] = await fakeNodes(t, 1)
    node!.bodyBytesMax = NODE_BYTES_MAX
    node!.answer = ({ params }) => ({ result: (params![0] as string[])[0] })
    const nodes = await opened(t, [node!])
    const calls = Array.from({ length: 60 }, (_, at) =>
      callOf('getMultipleAccounts', JSON.stringify([[`first ${at}`, 'y'.repeat(at === 7 ? 60_000 : 3_000)]]))
    )
    const answers = await nodes.requestAll(calls, signal)
    for (const [at, answer] of answers.entries()) {
      if (at === 7) t.match(answer, { name: 'RequestRefused', status: 413 })
      else if (answer instanceof Error) t.fail(`${at}: ${answer.message}`)
      else t.equal(await textOf(answer), `"first ${at}"`)
    }
    t.ok(node!.posts < 12, `${node!.posts} requests, not one for each element`)
    t.equal(nodes.nodes[0]!.facts.failures, 0)
  }
)

t.test('a request that one node refuses for its size goes to the next one', async (t) => {
  const [small, large] = await fakeNodes(t, 2)
  small!.bodyBytesMax = NODE_BYTES_MAX
  large!.slot = small!.slot - 1
  const nodes = await opened(t, [small!, large!])
  const answer = await nodes.request(callOf('getMultipleAccounts', addresses(2_000)), signal)
  t.match(await textOf(answer), large!.url)
  const batch = [callOf('getVersion', '["v"]'), callOf('getMultipleAccounts', addresses(2_000))]
  for (const each of await nodes.requestAll(batch, signal)) t.notMatch(each, Error)
})

t.test('a node that refuses requests with 400 is not taken down by them', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!])
  node!.fault = '400'
  for (let i = 0; i < 5; i++)
    await t.rejects(nodes.request(callOf('getBlock', `[${i}]`), signal), {
      name: 'RequestRefused',
      status: 400
    })
  for (const each of await nodes.requestAll([callOf('getBlock', '[7]'), callOf('getBlock', '[8]')], signal))
    t.match(each, { name: 'RequestRefused' })
  t.equal(nodes.nodes[0]!.state, 'healthy')
  node!.fault = 'none'
  await until(() => nodes.nodes[0]!.isUsable)
  t.match(await nodes.request(callOf('getBlock', '[1]'), signal), { kind: 'result' })
})

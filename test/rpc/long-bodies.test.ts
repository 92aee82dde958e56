import { pino } from 'pino'
import t from 'tap'
import type { AddressInfo } from 'node:net'
import { answersIn, RawClient } from '../http/raw-client.ts'
import { marketApp } from '../http/market-app.ts'
import { fakeRpc } from './fake-rpc.ts'
import { fakeNodes } from './fake-rpc-node.ts'
import { opened } from './opened-nodes.ts'

const LONG = 200_000
/** With a line for each request, all go through the framework. */
const QUIET = pino({ level: 'silent' })

t.test(
  'a body with too many levels is refused before the rest of it arrives, and the connection is closed',
  async (t) => {
    const app = await marketApp(t, undefined, { logger: QUIET })
    const key = await app.makeKey(['rpc:read'])
    await app.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.app.server.address() as AddressInfo
    const head = (length: number) =>
      `POST /v1/rpc HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
    for (const [name, begin, message] of [
      ['brackets', '['.repeat(1_000), 'nested deeper than 64'],
      ['braces in two pieces', '{"a":'.repeat(60), 'nested deeper than 64'],
      ['zeros', `[${'0,'.repeat(11_000)}`, 'more than 10000 elements']
    ] as const) {
      const client = new RawClient(port)
      client.send(head(LONG) + begin)
      if (name.endsWith('pieces')) client.send('{"a":'.repeat(20))
      await client.heard(message)
      const received = await client.received
      t.strictSame(answersIn(received), ['200'], name)
      t.match(received, /connection: close/i, 'the rest of the body is not read as a request')
    }
    const whole = new RawClient(port)
    const body = `{"jsonrpc":"2.0","id":7,"method":"getBalance","params":["${'x'.repeat(LONG)}"]}`
    whole.send(head(body.length) + body.slice(0, 150_000)).send(body.slice(150_000))
    await whole.heard('"id":7')
    whole.socket.destroy()
  }
)

t.test(
  'bodies of one tenant that the node refuses for their size fail no request of another tenant',
  async (t) => {
    const [node] = await fakeNodes(t, 1)
    node!.bodyBytesMax = 50 * 1024
    const nodes = await opened(t, [node!])
    const app = await marketApp(t, undefined, { rpc: fakeRpc(nodes), logger: QUIET })
    await app.keys.createTenant('beta', 1)
    const [greedy, careful] = [
      await app.makeKey(['rpc:read']),
      await app.makeKey(['rpc:read'], { tenant: 'beta' })
    ]
    const ask = (key: string, body: string) =>
      app.ask('POST', '/v1/rpc', { 'content-type': 'application/json', 'x-api-key': key }, body)
    const long = (id: number) =>
      `{"jsonrpc":"2.0","id":${id},"method":"getMultipleAccounts","params":[["${'x'.repeat(LONG)}"]]}`
    const short = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"getBalance","params":["a${id}"]}`
    const both = Array.from({ length: 60 }, (_, id) =>
      Promise.all([ask(greedy, long(id)), ask(careful, short(id))])
    )
    for (const [refused, answered] of await Promise.all(both)) {
      t.equal(refused.status, 413)
      t.equal(answered.status, 200)
      t.notMatch(JSON.parse(answered.text), { error: Object })
    }
    t.equal(nodes.nodes[0]!.facts.failures, 0)
  }
)

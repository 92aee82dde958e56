import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { MintDirectory } from '../../src/accounts/mint-directory.ts'
import { RpcAccountNode } from '../../src/accounts/node-client.ts'
import { PoolDirectory } from '../../src/accounts/pools/pool-directory.ts'
import type { AccountNode } from '../../src/accounts/ports.ts'
import type { Endpoint, Example } from '../../src/kernel/http/endpoint.ts'
import { EXAMPLE_SIGNATURE, EXAMPLE_TRANSACTION } from '../../src/edge/routes/example-values.ts'
import { appOf } from './app-of.ts'
import { RpcTransactionNode } from '../../src/transactions/node-client.ts'
import type { TransactionNode } from '../../src/transactions/ports.ts'
import { fakeTransactions } from '../transactions/fake-transactions.ts'
import { advance, virtualClock } from '../virtual-time.ts'
import { marketApp } from './market-app.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const SCOPES = ['data:read', 'tx:send', 'rpc:read', 'rpc:send'] as const
/** Calls that need the node, where the first example of an endpoint does not. */
const CALLS: Readonly<Record<string, Partial<Example>>> = {
  '/v1/search': { query: { q: EXAMPLE_SIGNATURE } },
  '/v1/tx/send': { body: { tx: EXAMPLE_TRANSACTION, skip_preflight: false } }
}

/** Returns the URL of a node that accepts requests and never answers. */
async function hangingNode(t: Test): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer(() => undefined).on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const each of sockets) each.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A node whose methods never settle, whatever their signal says. */
const silent = <T extends object>(): T =>
  new Proxy({}, { get: () => () => new Promise(() => undefined) }) as T

function requestOf({ method, path, examples }: Endpoint, key: string) {
  const { params = {}, query = {}, body } = { ...examples[0], ...CALLS[path] }
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name]!)
  const text = new URLSearchParams(query).toString()
  return {
    method,
    url: text === '' ? url : `${url}?${text}`,
    headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { payload: JSON.stringify(body) })
  }
}

t.test(
  'every answer that waits for a node that hangs is 504 and says so, however many nodes hang',
  async (t) => {
    const market = await marketApp(t)
    const key = await market.makeKey(SCOPES)
    const clock = virtualClock()
    const urls = [await hangingNode(t), await hangingNode(t)]
    const accountNode = new RpcAccountNode(() => urls, clock)
    const transactionNode = new RpcTransactionNode(() => urls, clock)
    t.teardown(() => Promise.all([accountNode.close(), transactionNode.close()]))
    const nodes: readonly (readonly [string, AccountNode, TransactionNode])[] = [
      ['two nodes that hang', accountNode, transactionNode],
      ['a node that ignores every signal', silent<AccountNode>(), silent<TransactionNode>()]
    ]
    for (const [name, node, sent] of nodes) {
      const app = appOf({
        ...market.deps,
        clock,
        accounts: {
          node,
          mints: new MintDirectory({ node, clock, bytesMax: 1e6 }),
          pools: new PoolDirectory({ node, clock, bytesMax: 1e6 }),
          offChain: null,
          images: null
        },
        transactions: { ...fakeTransactions(), node: sent }
      })
      await app.ready()
      // Images come from other hosts, and are not allowed here.
      const waiting = app.served.filter(
        ({ endpoint: { errors, path } }) =>
          errors.includes(ERRORS.UPSTREAM_TIMEOUT) && !path.endsWith('/image')
      )
      t.ok(waiting.length >= 7, `${waiting.length} endpoints wait for a node`)
      const answers = waiting.map(async ({ endpoint }) => ({
        endpoint,
        answer: await app.inject(requestOf(endpoint, key))
      }))
      const longestMs = Math.max(...waiting.map(({ endpoint }) => endpoint.deadlineMs))
      for (let elapsed = 0; elapsed < 20; elapsed++) await advance(clock, 5)
      await advance(clock, longestMs)
      for (const { endpoint, answer } of await Promise.all(answers)) {
        t.equal(answer.statusCode, 504, `${name}: ${endpoint.path}: ${answer.body}`)
        t.match(answer.json(), { code: 'upstream_timeout' })
      }
      await app.close()
    }
  }
)

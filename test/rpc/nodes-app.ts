import type { Test } from 'tap'
import { appOf } from '../http/app-of.ts'
import { Cordons } from '../../src/rpc/cordons.ts'
import { processMetrics } from '../products/process-metrics.ts'
import { fakeNodes } from './fake-rpc-node.ts'
import { opened } from './opened-nodes.ts'
import { contractOf } from '../http/checked-requests.ts'
import { marketApp } from '../http/market-app.ts'

/** The API over two fake nodes, with an admin key. */
export async function nodesApp(t: Test) {
  const market = await marketApp(t)
  const [a, b] = await fakeNodes(t, 2)
  const cordons = new Cordons(market.storage.documents)
  const nodes = await opened(t, [a!, b!], [], { cordons: () => cordons.list() })
  const app = appOf({
    ...market.deps,
    metrics: processMetrics(market.deps.decoding),
    rpc: { ...market.deps.rpc, nodes: nodes.control }
  })
  t.teardown(() => app.close())
  const key = await market.makeKey(['admin'])
  const contract = await contractOf(market)
  const ask = async (method: 'GET' | 'POST', path: string, headers: Record<string, string> = {}) => {
    const answer = await app.inject({ method, url: path, headers: { 'x-api-key': key, ...headers } })
    const exchange = {
      method,
      path,
      status: answer.statusCode,
      headers: answer.headers as Record<string, string>,
      text: answer.body
    }
    t.equal(contract.breach(exchange), null, `${method} ${path}`)
    return {
      status: answer.statusCode,
      body: JSON.parse(answer.body) as { data: unknown[]; cordoned_at: unknown }
    }
  }
  return {
    app,
    key,
    market,
    a: a!,
    b: b!,
    nodes,
    cordons,
    ask,
    hostOf: ({ url }: { url: string }) => new URL(url).host
  }
}

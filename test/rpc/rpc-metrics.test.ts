import { Registry } from 'prom-client'
import t from 'tap'
import { rpcMetrics, type RpcNodeFigures } from '../../src/rpc/metrics.ts'

const NODE: RpcNodeFigures = {
  node: 'rpc.example.org',
  isUsable: true,
  isCordoned: false,
  slotsBehind: 2,
  falseSlots: 1,
  budgetLeft: 40,
  learnedRate: null,
  totals: [{ method: 'getBalance', answered: 7, failed: 3 }],
  recent: [{ method: 'getBalance', p50Ms: 4, p99Ms: null }]
}

t.test(
  'the metrics of a node say its state, requests and latencies; what is unknown is absent',
  async (t) => {
    const registry = new Registry()
    const metrics = rpcMetrics(registry)
    t.notMatch(await registry.metrics(), /millrace_rpc_node\{/, 'nothing is shown before the nodes are there')
    const counts = {
      reads: { hits: 5, joined: 0, misses: 0 },
      nodes: { requests: 9, failovers: 1, hedges: 0 },
      falseSlots: 1,
      floorsAbandoned: 2,
      cacheBytes: 0
    }
    metrics.show(() => ({ ...counts, byNode: [NODE] }))
    const said = await registry.metrics()
    const node = 'node="rpc.example.org"'
    for (const line of [
      `millrace_rpc_node{${node},what="usable"} 1`,
      `millrace_rpc_node{${node},what="cordoned"} 0`,
      `millrace_rpc_node{${node},what="slots_behind"} 2`,
      `millrace_rpc_node{${node},what="false_slots"} 1`,
      `millrace_rpc_node{${node},what="budget_left"} 40`,
      `millrace_rpc_node_requests_total{${node},method="getBalance",outcome="answered"} 7`,
      `millrace_rpc_node_requests_total{${node},method="getBalance",outcome="failed"} 3`,
      `millrace_rpc_node_latency_seconds{${node},method="getBalance",quantile="0.5"} 0.004`,
      'millrace_rpc_upstream{what="floors_abandoned"} 2'
    ])
      t.ok(said.includes(line), line)
    t.notMatch(said, 'learned_rate')
    t.notMatch(said, 'quantile="0.99"} ')
    metrics.show(() => ({ ...counts, byNode: [] }))
    t.notMatch(await registry.metrics(), node, 'a node that has gone is shown no more')
  }
)

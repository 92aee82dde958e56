import type { MeasuredProcess } from '../measured-process.ts'
import { nodeAddresses } from '../../src/node/node-address.ts'
import { RpcClient } from '../../src/node/rpc-client.ts'
import { systemPorts } from '../../src/ports.ts'
import { askNode } from './receipts.ts'
import { transfers } from './transfers.ts'

const BATCH = 64
const WARM_UP = 20
const OPTIONS = { encoding: 'base64', skipPreflight: true, maxRetries: 0 }

/** Measures a request of 64 sends against 64 requests of one, with the service's client. */
export async function measureBatches(node: MeasuredProcess, rounds: number) {
  const limits = { requestsPerSecond: Infinity, concurrency: 32, compressed: false }
  const client = new RpcClient(nodeAddresses([node.url])[0]!, systemPorts.clock, limits)
  const { signal } = new AbortController()
  const calls = transfers(BATCH).map((tx) => [tx, OPTIONS])
  const ways = {
    single: () => Promise.all(calls.map((params) => client.call('sendTransaction', params, { signal }))),
    batch: () => client.batch('sendTransaction', calls, { signal })
  }
  const costs = { single: { sender: 0, node: 0 }, batch: { sender: 0, node: 0 } }
  for (let round = -WARM_UP; round < rounds; round++)
    for (const way of ['single', 'batch'] as const) {
      const [sender, receiver] = [process.cpuUsage(), node.threadsCpuMs()]
      await ways[way]()
      const { user, system } = process.cpuUsage(sender)
      if (round < 0) continue
      costs[way].sender += (user + system) / rounds
      costs[way].node += ((node.threadsCpuMs() - receiver) * 1_000) / rounds
    }
  await askNode(node, 'forget')
  await client.close()
  return {
    sends: BATCH,
    sender_cpu_us: { single_requests: costs.single.sender, one_batch: costs.batch.sender },
    node_cpu_us: { single_requests: costs.single.node, one_batch: costs.batch.node },
    times_less: {
      sender: costs.single.sender / costs.batch.sender,
      node: costs.single.node / costs.batch.node
    }
  }
}

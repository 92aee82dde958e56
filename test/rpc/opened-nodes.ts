import type { Test } from 'tap'
import { RPC_NODES_TUNING, type RpcNodesTuning } from '../../actors/rpc/node-pool.ts'
import { RpcNodes } from '../../actors/rpc/upstreams.ts'
import { systemPorts } from '../../src/ports.ts'
import type { Commitment } from '../../src/rpc/commitment.ts'
import type { Cordon } from '../../src/rpc/cordons.ts'
import { MethodTable } from '../../src/rpc/methods.ts'
import type { UpstreamAnswer, UpstreamCall } from '../../src/rpc/upstreams.ts'
import type { FakeRpcNode } from './fake-rpc-node.ts'
import { until } from '../until.ts'

const TABLE = new MethodTable()
export function callOf(
  name: string,
  params = '[]',
  minSlot = 0,
  commitment: Commitment = 'confirmed',
  minContextSlot = 0
): UpstreamCall {
  const found = TABLE.find(name)
  if (found.kind !== 'served') throw new Error(name)
  return { method: found.method, params, commitment, minSlot, minContextSlot }
}

/** Tuning of the nodes that a test sets, and the cordons that the nodes read from the store. */
interface OpenedTuning extends Partial<Omit<RpcNodesTuning, 'link'>> {
  readonly stallMs?: number
  readonly indexedSlot?: () => number | null
  readonly limits?: readonly (number | null)[]
  readonly cordons?: () => Promise<readonly Cordon[]>
}

/** Opens the nodes as the RPC URL has them, and waits until all were probed. */
export async function opened(
  t: Test,
  live: readonly FakeRpcNode[],
  archives: readonly FakeRpcNode[] = [],
  {
    stallMs = 1_000,
    indexedSlot = () => null,
    limits = [],
    cordons = async () => [],
    ...tuning
  }: OpenedTuning = {}
): Promise<RpcNodes> {
  const nodes = new RpcNodes(
    {
      urls: () => live.map(({ url }) => url),
      archiveUrls: archives.map(({ url }) => url),
      expectedGenesis: async () => null,
      indexedSlot,
      limits,
      cordons,
      tuning: {
        link: { ...RPC_NODES_TUNING.link, stallMs },
        probeMs: 20,
        idleProbeMs: 20,
        behindMs: 300,
        hedgeMs: 50,
        ...tuning
      }
    },
    systemPorts
  )
  const end = new AbortController()
  const running = nodes.run(end.signal)
  t.teardown(async () => {
    end.abort()
    await running
  })
  await until(() => nodes.nodes.length > 0 && nodes.nodes.every(({ state }) => state !== 'probing'))
  return nodes
}

/** Whether the node is queried first; a node that was slow for a moment, as on a busy machine, is not. */
export const isFirst = (nodes: RpcNodes, index: number): boolean =>
  nodes.inOrder('confirmed', 0)[0]?.index === index

export async function textOf({ bytes, rest }: UpstreamAnswer): Promise<string> {
  const chunks = [bytes]
  for await (const chunk of rest ?? []) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

import { Caller } from '../../src/access/caller.ts'
import type { RpcServices } from '../../src/kernel/http/deps.ts'
import { AnswerCache } from '../../src/rpc/answer-cache.ts'
import type { CallWeights } from '../../src/access/call-weights.ts'
import { EXAMPLE_NODE } from '../../src/edge/routes/example-values.ts'
import type { NodeControl } from '../../src/rpc/node-control.ts'
import { MethodTable } from '../../src/rpc/methods.ts'
import { Gateway, type GatewayDeps } from '../../src/rpc/rpc-gateway.ts'
import { SharedReads } from '../../src/rpc/shared-reads.ts'
import { SlotFloors } from '../../src/rpc/slot-floors.ts'
import type { RpcUpstreams, UpstreamAnswer, UpstreamCall } from '../../src/rpc/upstreams.ts'
import type { KeyRow } from '../../storage/access-documents.ts'

export const CLOCK = { now: () => 0 }

/** Nodes to which every slot of a test is finalized. */
export const ALL_FINALIZED = { newest: () => Number.MAX_SAFE_INTEGER }

/** A result of a fake node. */
export const resultOf = (bytes: string, slot: number | null = null): UpstreamAnswer => ({
  kind: 'result',
  bytes: Buffer.from(bytes),
  rest: null,
  code: null,
  slot,
  node: 'fake'
})

/** Nodes that answer each call by a function. */
export function fakeUpstreams(
  answer: (call: UpstreamCall) => UpstreamAnswer | Promise<UpstreamAnswer> = () => resultOf('1')
): RpcUpstreams & { readonly calls: UpstreamCall[] } {
  const calls: UpstreamCall[] = []
  const request = async (call: UpstreamCall): Promise<UpstreamAnswer> => {
    calls.push(call)
    return answer(call)
  }
  return {
    calls,
    inOrder: () => [],
    isCordoned: () => false,
    newest: () => 1,
    reached: () => Infinity,
    sawSlot: () => undefined,
    onChange: () => () => undefined,
    request,
    requestAll: (all) => Promise.all(all.map(request))
  }
}

/** One usable node, whose cordon has no effect. */
const fakeNodeControl = (): NodeControl => ({
  statuses: () => [
    {
      id: { id: EXAMPLE_NODE, digest: 'd' },
      isArchive: false,
      state: 'healthy',
      isUsable: true,
      reason: null,
      cordonedAtMs: null,
      slot: 1,
      slotsBehind: 0,
      latencyMs: 1.25,
      falseSlots: 0,
      inFlight: 0,
      budget: { limit: 100, learned: null, left: 99.5 },
      recent: [{ method: 'getBalance', requests: 4, errors: 1, p50Ms: 1, p99Ms: 2 }],
      totals: [{ method: 'getBalance', answered: 3, failed: 1 }]
    }
  ],
  followCordons: async () => undefined
})

/** The JSON-RPC side over fake nodes, which answer every read with 1; null for a process without a node. */
export function fakeRpc(
  upstreams: RpcUpstreams | null = fakeUpstreams(),
  allowed: readonly string[] = [],
  accounts: GatewayDeps['accounts'] = { answer: async () => ({ result: [Buffer.from('[]')], slot: 1 }) },
  weights?: CallWeights,
  { clock = CLOCK, turns }: Partial<Pick<GatewayDeps, 'clock' | 'turns'>> = {}
): RpcServices {
  const methods = new MethodTable(allowed, weights)
  const gateway = new Gateway({
    methods,
    reads: upstreams && new SharedReads(upstreams, new AnswerCache(2 ** 20, CLOCK), CLOCK),
    floors: new SlotFloors(),
    accounts,
    sends: { send: async () => ({ result: '"signature"' }) },
    ...(turns !== undefined && { turns }),
    clock
  })
  const finalized = upstreams === null ? null : { newest: () => upstreams.newest('finalized') }
  const nodes = upstreams && fakeNodeControl()
  return { gateway, methods, hasNode: upstreams !== null, nodes, finalized }
}

/** A caller of the tenant `acme`. */
export function callerWith(scopes: readonly string[], id = 'key'): Caller {
  const row = { id, tenant: 'acme', scopes, ratePerMinute: null, allowedIps: [], corsOrigins: [] }
  return new Caller(row as unknown as KeyRow, 600)
}

import { AnswerCache } from '../../src/rpc/answer-cache.ts'
import { MethodTable } from '../../src/rpc/methods.ts'
import { parseRequest } from '../../src/rpc/requests.ts'
import { Gateway } from '../../src/rpc/rpc-gateway.ts'
import { SharedFloorGateway } from '../../src/rpc/shared-floors.ts'
import { SharedReads } from '../../src/rpc/shared-reads.ts'
import { SlotFloors } from '../../src/rpc/slot-floors.ts'
import type { SharedSlotFloors } from '../../storage/cluster/coordination.ts'
import { virtualClock } from '../virtual-time.ts'
import { callerWith, fakeUpstreams, resultOf } from './fake-rpc.ts'

/** Reads of the measured case, and those after which the lagging node was behind. */
const READS = 327
const LAGGING = 25

export const contextOf = () => ({
  caller: callerWith(['rpc:read']),
  batchMax: 100,
  tracks: false,
  signal: new AbortController().signal
})

/** Returns one gateway of a fleet, whose only node is at a slot of its own and waits until it reaches a call's slot. */
export function gatewayOf(shared: SharedSlotFloors | null) {
  const node = { slot: 0, asked: [] as number[] }
  const upstreams = fakeUpstreams(({ minSlot }) => {
    node.asked.push(minSlot)
    node.slot = Math.max(node.slot, minSlot)
    return resultOf('1', node.slot)
  })
  const clock = virtualClock()
  const floors = new SlotFloors()
  const own = new Gateway({
    methods: new MethodTable(),
    reads: new SharedReads(upstreams, new AnswerCache(2 ** 20, clock), clock),
    floors,
    accounts: { answer: async () => ({ isForNode: true }) },
    sends: null,
    clock
  })
  const gateway = shared === null ? own : new SharedFloorGateway(own, floors, shared, clock)
  const read = async (): Promise<number | null> => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getBalance', params: ['x'] }))
    return (await gateway.answer(parseRequest(body, 100), contextOf())).facts.slot
  }
  return { clock, node, floors, read }
}

/**
 * Reads with one key at two gateways in turn, and returns how many answers are of an older slot than one before. The node of
 * the second gateway lags three slots at 25 of the reads, spread evenly.
 */
export async function backstepsOf(floorsOf: () => SharedSlotFloors | null): Promise<number> {
  const gateways = [gatewayOf(floorsOf()), gatewayOf(floorsOf())] as const
  const every = Math.floor(READS / 2 / LAGGING)
  let [newest, back, lagged] = [0, 0, 0]
  for (let at = 0; at < READS; at++) {
    const { node, read, clock } = gateways[at % 2]!
    const isLagging = at % 2 === 1 && (at >> 1) % every === 0 && lagged < LAGGING
    if (isLagging) lagged++
    node.slot = 1_000 + at - (isLagging ? 3 : 0)
    // Answers of the cache would be older than the node.
    clock.increment(10_000)
    const slot = await read()
    if (slot === null) throw new Error('the answer has no slot')
    if (slot < newest) back++
    newest = Math.max(newest, slot)
  }
  return back
}

import t, { type Test } from 'tap'
import { TimeNode } from '../../../src/archive/commands/time-node.ts'
import { nodeAddresses } from '../../../src/node/node-address.ts'
import { systemPorts } from '../../../src/ports.ts'
import { at, FaultyNode, jsonChain } from '../../node/faulty-node.ts'

const { signal } = new AbortController()
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => 100 + at)

async function timed(t: Test, requestsPerSecond: number) {
  const node = await FaultyNode.start(t, jsonChain(numbers(60).filter((slot) => slot !== 103)))
  const [address] = nodeAddresses([node.url])
  const times = new TimeNode(address!, systemPorts.clock, requestsPerSecond)
  t.teardown(() => times.close())
  return { node, times }
}

const given = (slot: number) => ({ kind: 'time', time: 1_700_000_000 + slot })

t.test('each call of a batch counts as a request, so a batch has at most those of a second', async (t) => {
  for (const [rate, slotsAtOnce] of [
    [1, 1],
    [5, 5],
    [50, 50],
    [60, 30],
    [1_000, 50]
  ] as const) {
    const { times } = await timed(t, rate)
    t.equal(times.slotsAtOnce, slotsAtOnce, `${rate} requests a second`)
  }
})

t.test('times come in batches, and what the node lacks by its reason', async (t) => {
  const { node, times } = await timed(t, 1_000)
  node.firstSlot = 101
  node.inject('null', { kind: 'result', result: null }, at('getBlockTime', 102))
  node.inject('text', { kind: 'result', result: 'noon' }, at('getBlockTime', 105))
  node.inject('early', { kind: 'result', result: 1_500_000_000 }, at('getBlockTime', 106))
  t.match(await times.times([100, 101, 102, 103, 104, 105, 106, 200], signal), [
    { kind: 'absent', reason: 'not-stored' },
    given(101),
    { kind: 'absent', reason: 'no-time' },
    { kind: 'absent', reason: 'no-block' },
    given(104),
    { kind: 'failed', fault: { kind: 'garbage' } },
    { kind: 'failed', fault: { kind: 'garbage' } },
    { kind: 'failed', fault: { code: -32004 } }
  ])
  t.strictSame(node.batches, [8])
})

t.test('a slot that a node skipped before its first block is not stored there', async (t) => {
  const { node, times } = await timed(t, 1_000)
  node.inject('skipped', { kind: 'error', code: -32007, message: 'skipped' }, at('getBlockTime', 110))
  node.inject('first', { kind: 'result', result: 150 }, at('getFirstAvailableBlock'))
  t.strictSame(await times.times([110], signal), [{ kind: 'absent', reason: 'not-stored' }])
})

t.test('a node that refuses batches gets single requests', async (t) => {
  for (const fault of [
    { kind: 'status', status: 400 },
    { kind: 'body', body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}' },
    { kind: 'body', body: 'no batches' }
  ] as const) {
    const { node, times } = await timed(t, 1_000)
    node.inject('refused', fault, at('getBlockTime'))
    const slots = [101, 102, 104]
    t.strictSame(await times.times(slots, signal), slots.map(given), JSON.stringify(fault))
    t.strictSame(await times.times([105], signal), [given(105)])
    t.equal(node.batches.length, 1, 'no further batch is sent')
  }
})

t.test('faults of the connection and the rate are faults of all slots of the request', async (t) => {
  const { node, times } = await timed(t, 1_000)
  node.inject('down', { kind: 'status', status: 503 }, at('getBlockTime'))
  const down = { kind: 'failed', fault: { kind: 'http', status: 503 } }
  t.match(await times.times([101, 102], signal), [down, down])
  t.strictSame(await times.times([101, 102], signal), [given(101), given(102)])
  node.inject('limit', { kind: 'status', status: 429, retryAfter: '5' }, at('getBlockTime'))
  const limited = { kind: 'failed', fault: { kind: 'throttled' } }
  t.match(await times.times([101, 102], signal), [limited, limited])
  t.equal(node.batches.length, 3)
})

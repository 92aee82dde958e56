import t from 'tap'
import { blockNotAvailable } from '../../../src/localnet/node/rpc-error.ts'
import { advance, virtualClock } from '../../virtual-time.ts'
import { openBank } from '../bank/sending.ts'
import { call, PubsubClient, result, startNode } from './node-client.ts'

t.test('a method fails as often as it is asked to, and the others do not', async (t) => {
  const node = await startNode(t, await openBank())
  node.faults.fail('getBlock', blockNotAvailable(0), 2)
  const refusal = { code: -32004, message: 'Block not available for slot 0' }
  t.same((await call(node, 'getBlock', [0])).error, refusal)
  t.equal(await result(node, 'getSlot'), 0)
  t.same((await call(node, 'getBlock', [0])).error, refusal)
  t.match(await result(node, 'getBlock', [0]), { transactions: [] })
  t.equal(node.faults.fired.errors, 2)
  node.faults.fail('getSlot', blockNotAvailable(1))
  t.match((await call(node, 'getSlot')).error, { code: -32004 })
  node.faults.fail('getSlot', blockNotAvailable(1), 0)
  t.equal(await result(node, 'getSlot'), 0)
})

t.test('a node says that it is behind until it has caught up', async (t) => {
  const node = await startNode(t, await openBank())
  node.faults.fallBehind(42)
  t.same((await call(node, 'getHealth')).error, {
    code: -32005,
    message: 'Node is behind by 42 slots',
    data: { numSlotsBehind: 42 }
  })
  node.faults.fallBehind(0)
  t.equal(await result(node, 'getHealth'), 'ok')
  t.equal(node.faults.fired.unhealthy, 1)
})

t.test('answers come late while they are asked to', async (t) => {
  const clock = virtualClock()
  const node = await startNode(t, await openBank(), { clock })
  node.faults.answerAfter(5)
  let answered = false
  const asked = call(node, 'getSlot').then((answer) => {
    answered = true
    return answer
  })
  while (node.faults.fired.slowAnswers === 0) await advance(clock, 0)
  t.equal(answered, false)
  await advance(clock, 5)
  t.same((await asked).result, 0)
  node.faults.answerAfter(0)
  t.equal(await result(node, 'getSlot'), 0)
  t.equal(node.faults.fired.slowAnswers, 1)
})

t.test('sockets are dropped without a word, and may come back', async (t) => {
  const node = await startNode(t, await openBank())
  const client = await PubsubClient.open(t, node)
  await client.call('slotSubscribe')
  node.faults.dropSockets()
  t.equal(await client.until(() => client.closed), 1006)
  t.equal(node.faults.fired.droppedSockets, 1)
  const again = await PubsubClient.open(t, node)
  t.match(await again.call('slotSubscribe'), { result: Number })
})

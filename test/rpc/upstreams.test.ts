import t from 'tap'
import { NoUpstream } from '../../src/rpc/upstreams.ts'
import { fakeNodes } from './fake-rpc-node.ts'
import { callOf, isFirst, opened, textOf } from './opened-nodes.ts'
import { until } from '../until.ts'

const { signal } = new AbortController()

const FAULTS = [
  'killed before headers',
  'killed after headers',
  'half the bytes',
  'half the bytes, well framed',
  'stalled',
  'wrong JSON',
  'another id',
  '429',
  '500'
] as const

t.test('a read that one node fails is answered by the other, whatever the fault', async (t) => {
  for (const fault of FAULTS) {
    const [bad, good] = await fakeNodes(t, 2)
    const nodes = await opened(t, [bad!, good!])
    await until(() => isFirst(nodes, 0))
    bad!.fault = fault
    const text = await textOf(await nodes.request(callOf('getBalance', '["x"]'), signal))
    t.match(text, good!.url, fault)
    t.ok(bad!.fired > 0, `${fault} was shown`)
  }
})

t.test('with one node a fault is an error that may be repeated, and nothing of the answer', async (t) => {
  const [bad] = await fakeNodes(t, 1)
  const nodes = await opened(t, [bad!])
  for (const fault of FAULTS.filter((each) => each !== 'stalled')) {
    bad!.fault = fault
    await until(() => nodes.inOrder('confirmed', 0).length > 0)
    await t.rejects(nodes.request(callOf('getBalance', '["x"]'), signal), { name: 'NoUpstream' }, fault)
  }
})

t.test('a transaction is sent to one node only, unless that was not reached', async (t) => {
  const [bad, good] = await fakeNodes(t, 2)
  const nodes = await opened(t, [bad!, good!])
  for (const fault of ['killed after headers', 'half the bytes', 'slow', '500'] as const) {
    bad!.fault = fault
    bad!.slowMs = 300
    await until(() => isFirst(nodes, 0))
    await nodes.request(callOf('sendTransaction', '["x"]'), signal).catch(() => null)
    t.same(good!.asked, [], fault)
  }
  await bad!.close()
  // Time for the closed connections to be noticed: a transaction on one of them may have arrived.
  await new Promise((resolve) => setTimeout(resolve, 20))
  const sent = await nodes.request(callOf('sendTransaction', '["x"]'), signal)
  t.equal(sent.kind, 'result', 'no connection was made')
  t.equal(good!.asked.length, 1)
})

t.test('a node that is 200 slots behind is asked last, and its answers never go back', async (t) => {
  const [behind, good] = await fakeNodes(t, 2)
  behind!.slot = 800
  const nodes = await opened(t, [behind!, good!], [], { indexedSlot: () => 998 })
  await until(() => nodes.nodes[0]!.state === 'lagging')
  t.match(await textOf(await nodes.request(callOf('getBalance', '["x"]'), signal)), good!.url)
  t.same(behind!.asked, [])
  await good!.close()
  await t.rejects(
    nodes.request(callOf('getBalance', '["x"]', 1_000, 'confirmed', 1_000), signal),
    { message: /no node/ },
    'an error, and nothing of slot 800'
  )
  t.ok(behind!.asked.length > 0, 'it was asked')
})

t.test('a node that claims a slot that its answers do not bear out is not believed', async (t) => {
  const [liar, good] = await fakeNodes(t, 2)
  liar!.lie = 5_000
  const nodes = await opened(t, [liar!, good!])
  const { slot } = await nodes.request(callOf('getSlot'), signal)
  t.equal(slot, 1_000)
  t.same(liar!.asked, ['getSlot'], 'it was asked')
  t.equal(nodes.nodes[0]!.falseSlots, 1)
  t.equal(nodes.newest('confirmed'), 1_000)
})

t.test('a node of another cluster is never used', async (t) => {
  const [good, foreign] = await fakeNodes(t, 2)
  foreign!.genesis = 'other'
  const nodes = await opened(t, [good!, foreign!])
  await until(() => nodes.nodes[1]!.state === 'refused')
  t.match(nodes.nodes[1]!.facts.reason, /another cluster: its genesis is other, not G/)
  t.equal(nodes.inOrder('processed', 0).length, 1)
})

t.test(
  "yesterday's block: an answer of an older slot than the client has seen is waited for, or refused",
  async (t) => {
    const [node] = await fakeNodes(t, 1)
    const nodes = await opened(t, [node!])
    node!.answer = () => ({ result: { context: { slot: 500 }, value: 'old' } })
    await t.rejects(nodes.request(callOf('getBalance', '["x"]', 1_000), signal), {
      message: /reached slot 1000/
    })
    t.equal(node!.asked.length, 2, 'it was asked again once its probes had shown the slot')
    const asked = nodes.request(callOf('getBalance', '["x"]', 1_000), signal)
    setTimeout(() => (node!.answer = () => ({ result: { context: { slot: 1_001 }, value: 'new' } })), 100)
    t.match(await textOf(await asked), /new/)
  }
)

t.test(
  'what a node no longer has comes from the archive; while that is away, an error that may be repeated',
  async (t) => {
    const [node, archive] = await fakeNodes(t, 2)
    const nodes = await opened(t, [node!], [archive!])
    for (const code of [-32001, -32004, -32007, -32009, -32011, -32019]) {
      node!.answer = () => ({ error: { code, message: 'gone' } })
      archive!.answer = () => ({ result: `kept ${code}` })
      t.equal(await textOf(await nodes.request(callOf('getBlock', '[5]'), signal)), `"kept ${code}"`)
    }
    node!.answer = () => ({ result: null })
    t.match(await textOf(await nodes.request(callOf('getTransaction', '["x"]'), signal)), /kept/)
    node!.answer = () => ({ error: { code: -32001, message: 'cleaned up', data: [1.0, 'as it is'] } })
    archive!.answer = () => ({ error: { code: -32009, message: 'skipped, or missing in long-term storage' } })
    const refused = await nodes.request(callOf('getBlock', '[5]'), signal)
    t.equal(refused.code, -32009, "the archive's own error")
    const asked = archive!.asked.length
    t.equal((await nodes.request(callOf('getBlock', '[2000]'), signal)).code, -32001, 'a slot of the future')
    t.equal(archive!.asked.length, asked, 'for which the archive is not asked')
    await archive!.close()
    await t.rejects(nodes.request(callOf('getBlock', '[5]'), signal), { name: 'NoUpstream' })
  }
)

t.test('errors of a node pass to the byte', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!])
  const error = {
    code: -32002,
    message: 'Transaction simulation failed: "x"',
    data: { err: 'é', logs: ['a'], n: 1e21 }
  }
  node!.answer = () => ({ error })
  const answer = await nodes.request(callOf('simulateTransaction', '["x"]'), signal)
  t.equal(await textOf(answer), JSON.stringify(error))
  const behind = { code: -32005, message: 'Node is behind by 42 slots', data: { numSlotsBehind: 42 } }
  node!.answer = () => ({ error: behind })
  const health = await nodes.request(callOf('getHealth'), signal)
  t.equal(await textOf(health), JSON.stringify(behind), 'a node that is behind, where there is no other')
  t.same([answer.kind, answer.code], ['error', -32002])
})

t.test('params that a node cannot parse are refused as it does, and do not take it down', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!])
  node!.fault = 'parse error'
  for (let i = 0; i < 5; i++) {
    const { code } = await nodes.request(callOf('getBalance', '["\\ud800"]'), signal)
    t.equal(code, -32700)
  }
  const both = await nodes.requestAll([callOf('getBalance', '["a"]'), callOf('getBalance', '["b"]')], signal)
  t.same(
    both.map((each) => (each instanceof Error ? each.message : each.code)),
    [-32700, -32700]
  )
  t.equal(nodes.nodes[0]!.takesBatches, true)
  t.equal(nodes.nodes[0]!.state, 'healthy')
  t.equal(nodes.nodes[0]!.facts.failures, 0)
})

t.test('a slow node is hedged, within the budget, and never for a transaction', async (t) => {
  const [slow, good] = await fakeNodes(t, 2)
  const nodes = await opened(t, [slow!, good!])
  // Slow means four times as long as the requests before, however slow the machine.
  slow!.slowMs = 2_000
  await until(() => isFirst(nodes, 0) && (nodes.nodes[0]!.latencyMs ?? 0) < 100)
  slow!.fault = 'slow'
  t.match(await textOf(await nodes.request(callOf('getBalance', '["x"]'), signal)), good!.url)
  t.equal(nodes.counts.hedges, 1)
  const many = Array.from({ length: 40 }, (_, at) => nodes.request(callOf('getBalance', `["${at}"]`), signal))
  await Promise.all(many)
  t.ok(nodes.counts.hedges <= 13, `${nodes.counts.hedges} hedges`)
  t.ok(nodes.counts.hedges >= 5)
})

t.test('a batch goes up as one; refused as a whole it goes up singly; nothing is mixed up', async (t) => {
  const [node, other] = await fakeNodes(t, 2)
  const nodes = await opened(t, [node!, other!])
  const echo = (each: { readonly params?: readonly unknown[] }) => ({ result: each.params![0] })
  node!.answer = other!.answer = echo
  const calls = Array.from({ length: 50 }, (_, at) => callOf('getVersion', `["p${at}"]`))
  const ask = async (): Promise<string[]> =>
    Promise.all(
      (await nodes.requestAll(calls, signal)).map((each) => {
        if (each instanceof Error) throw each
        return textOf(each)
      })
    )
  const expected = calls.map((_, at) => `"p${at}"`)
  t.same(await ask(), expected)
  t.equal(node!.posts, 1)
  for (const fault of ['no batches', 'half the bytes', 'wrong JSON', 'another id'] as const) {
    node!.fault = fault
    const { fired } = node!
    nodes.nodes[0]!.takesBatches = true
    await until(() => nodes.inOrder('confirmed', 0).length === 2 && isFirst(nodes, 0))
    t.same(await ask(), expected, fault)
    t.ok(node!.fired > fired, `${fault} was shown`)
  }
})

t.test('a long answer arrives in pieces, unchanged; one that breaks off ends with an error', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!])
  const long = {
    context: { slot: 1_000 },
    value: Array.from({ length: 20_000 }, (_, at) => `{"id":${at}} "`)
  }
  node!.answer = () => ({ result: long })
  const answer = await nodes.request(callOf('getMultipleAccounts', '["x"]'), signal)
  t.ok(answer.rest !== null && answer.slot === 1_000)
  t.ok((await textOf(answer)) === JSON.stringify(long))
  for (const fault of ['half the bytes', 'half the bytes, well framed'] as const) {
    node!.fault = fault
    const broken = await nodes.request(callOf('getMultipleAccounts', '["y"]'), signal)
    await t.rejects(textOf(broken), fault)
    await until(() => nodes.inOrder('confirmed', 0).length > 0)
  }
})

t.test('without a node there is no answer', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!])
  await node!.close()
  await until(() => nodes.inOrder('confirmed', 0).length === 0)
  await t.rejects(nodes.request(callOf('getSlot'), signal), NoUpstream)
})

import t, { type Test } from 'tap'
import { MissingBlocks } from '../../src/node/missing-blocks.ts'
import { systemPorts } from '../../src/ports.ts'
import { at, FaultyNode, jsonChain } from './faulty-node.ts'

const { signal } = new AbortController()

function missingOf(
  t: Test,
  nodes: readonly FaultyNode[],
  archives: readonly FaultyNode[] = [],
  expected: string | null = 'genesis-a'
) {
  const settled: string[] = []
  const time = { passedMs: 0 }
  const refused: string[] = []
  const missing = new MissingBlocks({
    urls: nodes.map(({ url }) => url),
    archiveUrls: archives.map(({ url }) => url),
    commitment: 'confirmed',
    expectedGenesis: async () => expected,
    onGenesis: async (genesis) => void settled.push(genesis),
    onRefused: (line) => void refused.push(line),
    clock: { ...systemPorts.clock, now: () => Date.now() + time.passedMs },
    client: { timeoutMs: 60_000 }
  })
  t.teardown(() => missing.close())
  return { missing, refused, settled, time }
}

t.test('a block comes from the first node that has it, archives last', async (t) => {
  const chain = jsonChain([1, 2, 4, 5])
  const [node, archive] = [await FaultyNode.start(t, chain), await FaultyNode.start(t, chain)]
  node.firstSlot = 4
  const { missing } = missingOf(t, [node], [archive])
  t.match(await missing.fetch(5, signal), { slot: 5, parentSlot: 4 })
  t.equal(archive.requests.length, 0)
  t.match(await missing.fetch(2, signal), { slot: 2, parentSlot: 1 })
})

t.test('a slot is skipped when every node says so, and else not known', async (t) => {
  const chain = jsonChain([1, 2, 4, 5])
  const [node, archive] = [await FaultyNode.start(t, chain), await FaultyNode.start(t, chain)]
  const { missing } = missingOf(t, [node], [archive])
  t.equal(await missing.fetch(3, signal), 'skipped')
  t.equal(await missing.fetch(9, signal), null, 'it is not there yet')
  archive.inject('500', { kind: 'status', status: 500 }, at('getBlock', 3))
  t.equal(await missing.fetch(3, signal), null)
  node.firstSlot = 4
  t.equal(await missing.fetch(3, signal), null, 'one has pruned it, the other says that there is none')
  t.same(archive.unfired, [])
})

t.test('nodes of another cluster, and nodes that refuse us, are named once and never asked', async (t) => {
  const chain = jsonChain([1, 2, 4])
  const [other, refusing, node] = [
    await FaultyNode.start(t, chain),
    await FaultyNode.start(t, chain),
    await FaultyNode.start(t, chain)
  ]
  other.genesis = 'genesis-b'
  refusing.inject('401', { kind: 'status', status: 401 }, undefined, Infinity)
  const { missing, refused } = missingOf(t, [other, refusing, node])
  t.match(await missing.fetch(2, signal), { slot: 2 })
  t.equal(await missing.fetch(3, signal), 'skipped')
  t.match(refused, [/is of another cluster: its genesis is genesis-b, not genesis-a/, /HTTP 401/])
  t.equal(refused.length, 2)
  t.same([other.requests.length, refusing.requests.length], [1, 1])
})

t.test('nodes that are away have nothing, and are asked again', async (t) => {
  const node = await FaultyNode.start(t, jsonChain([1, 2]))
  const { missing } = missingOf(t, [node])
  await node.stop()
  t.equal(await missing.fetch(2, signal), null)
  await node.listen()
  t.match(await missing.fetch(2, signal), { slot: 2 })
})

t.test('a signal ends a fetch', async (t) => {
  const node = await FaultyNode.start(t, jsonChain([1, 2]))
  node.inject('silent', { kind: 'silent' }, at('getBlock'))
  const end = new AbortController()
  const { missing } = missingOf(t, [node])
  const answer = missing.fetch(2, end.signal)
  while (node.asked('getBlock').length === 0) await new Promise((resolve) => setImmediate(resolve))
  end.abort(new Error('enough'))
  await t.rejects(answer, { message: 'enough' })
})

const seen = (slot: number, blockhash = `h${slot}`) => ({ slot, blockhash, isSettled: true })

t.test("a stream is of the store's cluster when a node has its block, and the store's genesis", async (t) => {
  const node = await FaultyNode.start(t, jsonChain([1, 2, 4]))
  const { missing, settled } = missingOf(t, [node])
  t.same(await missing.standingOf(seen(4), signal), { kind: 'same' })
  t.match(node.asked('getBlock')[0]?.params, [4, { transactionDetails: 'none', commitment: 'confirmed' }])
  t.same(settled, [], 'it is known already')
  t.match(await missing.standingOf({ ...seen(4, 'other'), isSettled: false }, signal), { kind: 'unknown' })
})

t.test(
  "a stream whose block differs from a node's of the store's genesis is waited for until both agree",
  async (t) => {
    const chain = jsonChain([1, 2, 4])
    const node = await FaultyNode.start(t, chain)
    const { missing, refused } = missingOf(t, [node])
    t.match(await missing.standingOf(seen(4, 'other'), signal), {
      kind: 'unknown',
      reason:
        /its block of slot 4 differs from the one of 127.0.0.1:\d+: .*was restored to an older state; ingest waits/
    })
    t.same(await missing.standingOf(seen(4), signal), { kind: 'same' }, 'the server has caught up')
    t.same(refused, [])
  }
)

t.test('of an empty store, the genesis is settled by a node that agrees with the stream', async (t) => {
  const node = await FaultyNode.start(t, jsonChain([1, 2, 4]))
  const { missing, settled } = missingOf(t, [node], [], null)
  t.match(await missing.standingOf(seen(4, 'other'), signal), {
    kind: 'other',
    reason:
      /^is of another cluster than the stored blocks: its block of slot 4 differs from the one of 127.0.0.1:\d+$/
  })
  t.same(settled, [])
  t.same(await missing.standingOf(seen(4), signal), { kind: 'same' })
  t.same(settled, ['genesis-a'])
})

t.test('a node that has become another one takes its stream along, and is asked for no block', async (t) => {
  const node = await FaultyNode.start(t, jsonChain([1, 2, 4]))
  const { missing, refused } = missingOf(t, [node])
  t.match(await missing.fetch(2, signal), { slot: 2 })
  node.genesis = 'genesis-b'
  t.same(await missing.standingOf(seen(4), signal), {
    kind: 'other',
    reason:
      'is of another cluster than the stored blocks: its genesis is genesis-b, the stored one is genesis-a'
  })
  t.equal(await missing.fetch(2, signal), null)
  t.equal(refused.length, 1)
})

t.test('of nodes that are behind, away, or of another cluster, the one that knows is heard', async (t) => {
  const chain = jsonChain([1, 2, 4])
  const [other, away, node] = [
    await FaultyNode.start(t, jsonChain([1])),
    await FaultyNode.start(t, chain),
    await FaultyNode.start(t, chain)
  ]
  other.genesis = 'genesis-b'
  await away.stop()
  node.headSlot = 2
  const { missing } = missingOf(t, [other, away, node])
  const standing = missing.standingOf(seen(4), signal)
  while (node.asked('getBlock').length < 2) await new Promise((resolve) => setImmediate(resolve))
  node.headSlot = 4
  t.same(await standing, { kind: 'same' })
  t.match(missing.status(), [
    { state: 'healthy' },
    { state: 'down', reason: /ECONNREFUSED/ },
    { state: 'healthy', reason: null }
  ])
  await node.stop()
  const unknown = await missing.standingOf(seen(4), signal)
  t.match(unknown, {
    kind: 'unknown',
    reason: /^cannot be verified to be of the stored cluster: .*itself is of another cluster; .*ECONNREFUSED/
  })
})

t.test('a node in whose place another one came is found out within seconds', async (t) => {
  const node = await FaultyNode.start(t, jsonChain([1, 2, 4]))
  const { missing, refused, time } = missingOf(t, [node])
  t.match(await missing.fetch(2, signal), { slot: 2 })
  t.match(await missing.fetch(4, signal), { slot: 4 })
  t.equal(node.asked('getGenesisHash').length, 1, 'it is believed for a while')
  node.genesis = 'genesis-b'
  time.passedMs = 5_000
  const blocks = node.asked('getBlock').length
  t.equal(await missing.fetch(2, signal), null)
  t.equal(node.asked('getBlock').length, blocks)
  t.match(refused, [/its genesis is genesis-b, not genesis-a/])
})

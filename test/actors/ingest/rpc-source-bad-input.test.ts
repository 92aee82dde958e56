import t from 'tap'
import { at, FaultyNode, jsonChain, type Fault } from '../../node/faulty-node.ts'
import { SourceRun } from '../../node/source-run.ts'

const SLOTS = Array.from({ length: 60 }, (_, i) => i + 1)

t.test('a node that cannot be reached is one line, however often it is tried', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(SLOTS))
  await node.stop()
  const run = new SourceRun({ urls: [node.url] })
  run.read(50)
  await run.until(() => run.gauge('requests_sent') > 5)
  t.same([run.source.status.state === 'advancing', run.said(40).length], [false, 1])
  t.match(run.said(40), [/^the source has no node: 127.0.0.1:\d+: unreachable: connect ECONNREFUSED/])
  t.match(run.source.status, { reason: /ECONNREFUSED/, nodes: [{ reason: /ECONNREFUSED/ }] })
  await node.listen()
  await run.advanceTo(60)
  await run.end()
  t.equal(run.source.status.state, 'advancing')
  t.equal(run.source.status.reason, null)
  t.equal(run.said(40).length, 1)
})

const GARBAGE: Readonly<Record<string, Fault>> = {
  'no JSON': { kind: 'body', body: '{"jsonrpc":"2.0","result":{"blockh' },
  'no block': { kind: 'result', result: { blockhash: 'x', parentSlot: 29, blockTime: 1 } },
  'a block of nonsense': { kind: 'result', result: { ...jsonChain([30]).get(30), transactions: 'none' } },
  'compressed bytes that end early': { kind: 'cut-gzip' }
}
for (const [name, fault] of Object.entries(GARBAGE)) {
  t.test(`${name} for a block, always, is one line and a gap, and the chain goes on`, async (t) => {
    const node = await FaultyNode.start(t, jsonChain(SLOTS))
    node.inject(name, fault, at('getBlock', 30), Infinity)
    const run = new SourceRun({ urls: [node.url], tuning: { giveUpMs: 300 } })
    run.read(20)
    await run.advanceTo(60)
    await run.end()
    t.ok(node.fired.get(name)! > 1, 'it was asked for again')
    t.match(run.gaps, [{ from: 30, to: 30, reason: 'unreadable' }])
    t.match(run.said(40), [/^slots 30 to 30 are abandoned as unreadable: /])
    t.equal(run.said(40).length, 1)
    t.same(
      run.slots,
      SLOTS.filter((slot) => slot > 20 && slot !== 30)
    )
    t.match(run.source.status, { state: 'advancing', reason: null })
    t.equal(run.gauge('slots_given_up'), 1)
  })
}

t.test('a block that is cut off on its way, always, is missing in one line', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(SLOTS))
  node.inject('truncate', { kind: 'truncate' }, at('getBlock', 30), Infinity)
  const run = new SourceRun({ urls: [node.url], tuning: { giveUpMs: 300 } })
  run.read(20)
  await run.advanceTo(60)
  await run.end()
  t.ok(node.fired.get('truncate')! > 1)
  t.match(run.said(40), [/^slots 30 to 30 are abandoned as missing: unreachable: /])
  t.equal(run.said(40).length, 1)
})

t.test('a node that prunes faster than we read loses no more than it prunes, and that is told', async (t) => {
  const slots = Array.from({ length: 400 }, (_, i) => i + 1)
  const node = await FaultyNode.start(t, jsonChain(slots))
  const run = new SourceRun({ urls: [node.url], tuning: { prefetch: 2 } })
  let pruned = 0
  run.read(10, ({ slot }) => {
    // The node prunes five slots with each block that is read, up to the middle of its chain.
    if (node.firstSlot >= 200) return
    node.firstSlot = Math.max(node.firstSlot, slot) + 5
    pruned++
  })
  await run.advanceTo(400)
  await run.end()
  t.ok(pruned > 10, `it pruned ${pruned} times`)
  t.ok(run.gaps.length > 0)
  const lost = new Set(
    run.gaps.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
  )
  t.ok(
    run.gaps.every(({ reason }) => reason === 'pruned'),
    'each is told as pruned'
  )
  t.same(
    slots.filter((slot) => slot > 10 && !lost.has(slot)),
    run.slots,
    'what is not told as lost came'
  )
  t.ok(
    slots.filter((slot) => slot > 210).every((slot) => !lost.has(slot)),
    'what it keeps came'
  )
  t.equal(run.said(50).length, run.gaps.length, 'a line for each stretch')
  t.match(run.source.status, { state: 'advancing' })
})

import t from 'tap'
import { at, FaultyNode, jsonChain, type Fault } from '../../node/faulty-node.ts'
import { range } from '../../node/scripted-node.ts'
import { IMPATIENT, SourceRun } from '../../node/source-run.ts'

/** Returns the slots of a chain in which every seventh slot is skipped. */
function slotsTo(last: number): number[] {
  return range(1, last).filter((slot) => slot % 7 !== 0)
}

t.test('a source is ready before any node is, and follows the chain once one is', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(slotsTo(200)))
  node.headSlot = 100
  await node.stop()
  const run = new SourceRun({ urls: [node.url] })
  t.ok(run.source)
  run.read(90)
  await run.until(() => run.source.status.state === 'waiting')
  t.equal(run.gauge('nodes_down') + run.gauge('nodes_probing'), 1)
  t.equal(run.gauge('is_waiting'), 1)
  t.match(run.said(40), [/^the source has no node: 127.0.0.1:\d+: unreachable: .*ECONNREFUSED/])
  await node.listen()
  await run.advanceTo(100)
  await run.until(() => run.gauge('nodes_healthy') === 1)
  for (const slot of [101, 102, 104, 108]) {
    node.headSlot = slot
    await run.until(() => run.slots.at(-1) === slot)
  }
  await run.end()
  t.same(
    run.slots,
    slotsTo(108).filter((slot) => slot > 90)
  )
  t.same(run.genesis, ['genesis-a'], 'the first genesis is told once')
  t.match(
    node.asked('getBlock')[0]?.params[1],
    {
      commitment: 'confirmed',
      encoding: 'base64',
      transactionDetails: 'full',
      rewards: true,
      maxSupportedTransactionVersion: 1
    },
    'blocks are asked for in the stated form'
  )
  t.same(run.gaps, [])
})

const EVERY_FAULT: Readonly<Record<string, Fault>> = {
  'slow answer': { kind: 'slow', ms: 200 },
  'no answer': { kind: 'silent' },
  'HTTP 500': { kind: 'status', status: 500 },
  'HTTP 429': { kind: 'status', status: 429, retryAfter: '0.2' },
  'HTTP 503': { kind: 'status', status: 503 },
  'dropped socket': { kind: 'drop' },
  'truncated body': { kind: 'truncate' },
  'cut gzip': { kind: 'cut-gzip' },
  'garbage JSON': { kind: 'body', body: '{"jsonrpc":"2.0","result":{"blockh' },
  'block without transactions': { kind: 'result', result: { blockhash: 'x', parentSlot: 3, blockTime: 1 } },
  'null result': { kind: 'result', result: null },
  'not available yet': { kind: 'error', code: -32004, message: 'Block not available for slot' },
  'status not available yet': { kind: 'error', code: -32014, message: 'Block status not yet available' },
  'said to be skipped': { kind: 'error', code: -32007, message: 'Slot was skipped' },
  'said to be skipped for good': { kind: 'error', code: -32009, message: 'Slot was skipped' },
  unhealthy: { kind: 'error', code: -32005, message: 'Node is behind by 42 slots' }
}

t.test('with any fault of one node, the chain is delivered in order, each block once', async (t) => {
  const slots = slotsTo(160)
  const node = await FaultyNode.start(t, jsonChain(slots))
  Object.entries(EVERY_FAULT).forEach(([name, fault], index) => {
    node.inject(name, fault, at('getBlock', slots[5 + index * 6]))
    node.inject(`${name}, of a list`, fault, at('getBlocksWithLimit'))
  })
  const run = new SourceRun({ urls: [node.url], tuning: { ...IMPATIENT, giveUpMs: 240_000 } })
  run.read(0)
  for (const slot of slots.slice(20)) {
    node.headSlot = slot
    await run.until(() => run.slots.at(-1) === slot)
  }
  await run.end()
  t.same(run.slots, slots)
  t.same(run.gaps, [])
  for (const name of Object.keys(EVERY_FAULT)) {
    t.equal(node.fired.get(name), 1, `${name}: it was done`)
    t.equal(node.fired.get(`${name}, of a list`), 1, `${name}, of a list: it was done`)
  }
})

t.test('a permanent fault of one node is made up for by another', async (t) => {
  const slots = slotsTo(120)
  const chain = jsonChain(slots)
  const wrong = { ...chain.get(60), previousBlockhash: 'x' }
  const faults: [name: string, fault: Fault][] = [
    ['HTTP 500', { kind: 'status', status: 500 }],
    ['block of another fork', { kind: 'result', result: wrong }],
    ['no answer', { kind: 'silent' }],
    ['cut gzip', { kind: 'cut-gzip' }],
    ['truncated body', { kind: 'truncate' }]
  ]
  for (const [name, fault] of faults) {
    const [first, second] = [await FaultyNode.start(t, chain), await FaultyNode.start(t, chain)]
    first.inject(name, fault, at('getBlock', 60), Infinity)
    const run = new SourceRun({ urls: [first.url, second.url], tuning: IMPATIENT })
    await run.until(() => run.gauge('nodes_healthy') === 2)
    run.read(0)
    await run.until(() => run.slots.at(-1) === 120)
    await run.end()
    t.same(run.slots, slots, name)
    t.same(run.gaps, [])
    t.ok(first.fired.get(name)! >= 1, 'it was done')
    t.ok(second.asked('getBlock').some(({ params }) => params[0] === 60))
    t.ok(run.gauge('blocks_from_another_node') >= 1)
  }
})

t.test('a node that goes away is replaced by another, and taken back when it is there again', async (t) => {
  const chain = jsonChain(slotsTo(300))
  const [first, second] = [await FaultyNode.start(t, chain), await FaultyNode.start(t, chain)]
  const setHead = (slot: number): void => void (first.headSlot = second.headSlot = slot)
  setHead(100)
  const run = new SourceRun({ urls: [first.url, second.url] })
  run.read(80)
  await run.until(() => run.slots.at(-1) === 100)
  t.equal(second.asked('getBlock').length, 0, 'the first one is preferred')
  await first.stop()
  setHead(150)
  await run.advanceTo(150)
  await run.until(() => run.gauge('nodes_healthy') === 1)
  t.ok(second.asked('getBlock').length > 0)
  await first.listen()
  await run.until(() => run.gauge('nodes_healthy') === 2)
  setHead(200)
  await run.until(() => run.slots.at(-1) === 200)
  await run.end()
  t.same(
    run.slots,
    slotsTo(200).filter((slot) => slot > 80)
  )
  t.same(run.gaps, [])
  t.match(run.said(40).join('\n'), new RegExp(`node ${first.name} is down`))
  t.equal(first.asked('getGenesisHash').length, 2, 'it is asked again which cluster it is of')
})

t.test('a node of another cluster is refused with one line, and asked for no block', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(slotsTo(50)))
  node.genesis = 'genesis-b'
  const run = new SourceRun({ urls: [node.url], expectedGenesis: async () => 'genesis-a' })
  run.read(0)
  await run.until(() => run.source.status.state === 'refused')
  await new Promise((resolve) => setTimeout(resolve, 300))
  await run.end()
  t.equal(node.asked('getBlock').length + node.asked('getBlocksWithLimit').length, 0)
  t.equal(node.requests.length, 1)
  const refusal = 'it is of another cluster: its genesis is genesis-b, the stored one is genesis-a'
  t.same(run.said(40), [`the source is refused: ${refusal}`])
  t.match(run.source.status, { reason: refusal, nodes: [{ state: 'refused', reason: refusal }] })
  t.same(run.genesis, [])
  t.same(run.slots, [])
})

t.test('of two nodes, the one of another cluster is left out', async (t) => {
  const slots = slotsTo(50)
  const other = await FaultyNode.start(t, jsonChain(range(1, 90)))
  other.genesis = 'genesis-b'
  const node = await FaultyNode.start(t, jsonChain(slots))
  const run = new SourceRun({ urls: [other.url, node.url], expectedGenesis: async () => 'genesis-a' })
  run.read(0)
  await run.until(() => run.slots.at(-1) === slots.at(-1))
  await run.end()
  t.same(run.slots, slots)
  t.equal(other.asked('getBlock').length, 0)
  t.equal(run.source.status.headSlot, 50, 'its head does not count')
})

t.test('a node that refuses our token is one line and one request, not a storm', async (t) => {
  for (const status of [401, 403]) {
    const node = await FaultyNode.start(t, jsonChain(slotsTo(50)))
    node.inject('refusal', { kind: 'status', status, body: 'bad token' }, undefined, Infinity)
    const run = new SourceRun({ urls: [`${node.url}/?api-key=t0p-s3cr3t`] })
    run.read(0)
    await run.until(() => run.source.status.state === 'refused')
    await new Promise((resolve) => setTimeout(resolve, 300))
    t.equal(node.requests.length, 1)
    t.equal(run.gauge('nodes_refused'), 1)
    await run.end()
    const refusal = `${node.name}: refuses requests with HTTP ${status}: check the token in its URL`
    t.same(run.said(40), [`the source is refused: ${refusal}`])
    t.match(run.source.status, { reason: refusal, nodes: [{ state: 'refused', reason: refusal }] })
    t.notMatch(JSON.stringify(run.lines), 't0p-s3cr3t')
  }
})

t.test('a node that is let in again is used after the next look at it', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(slotsTo(50)))
  node.inject('refusal', { kind: 'status', status: 401 }, undefined, 1)
  const run = new SourceRun({ urls: [node.url], tuning: { recheckMs: 200 } })
  run.read(40)
  await run.until(() => run.source.status.state === 'refused')
  await run.until(() => run.slots.at(-1) === 50)
  await run.end()
  t.equal(node.fired.get('refusal'), 1)
})

t.test('a source whose slot does not move is stalled, whatever else its node answers', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(slotsTo(50)))
  node.headSlot = 20
  const run = new SourceRun({ urls: [node.url], tuning: { stallMs: 400 } })
  run.read(10)
  await run.until(() => run.slots.length === 9)
  t.same(run.slots, [11, 12, 13, 15, 16, 17, 18, 19, 20])
  await run.until(() => run.source.status.state === 'stalled')
  t.match(run.source.status.reason, /no newer slot for 400 ms/)
  const requests = node.requests.length
  await run.until(() => node.requests.length > requests + 3)
  await run.until(() => node.asked('getGenesisHash').length > 1)
  t.pass('it connects anew')
  node.headSlot = 30
  await run.until(() => run.source.status.state === 'advancing')
  await run.until(() => run.slots.at(-1) === 30)
  await run.end()
  t.match(run.said(40), [/the source is stalled/])
})

t.test('a node that goes backwards is seen, counted and waited for', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(slotsTo(200)))
  node.headSlot = 100
  const run = new SourceRun({ urls: [node.url], tuning: { stallMs: 200 } })
  run.read(90)
  await run.until(() => run.slots.at(-1) === 100)
  node.headSlot = 40
  await run.until(() => run.gauge('nodes_lagging') === 1)
  t.equal(run.gauge('backwards'), 1)
  t.equal(run.gauge(`lag ${node.name}`), 60)
  await run.until(() => run.source.status.state === 'stalled')
  node.headSlot = 120
  await run.until(() => run.slots.at(-1) === 120)
  await run.end()
  t.same(
    run.slots,
    slotsTo(120).filter((slot) => slot > 90)
  )
  t.match(run.said(40).join('\n'), /is 60 slots behind/)
})

t.test(
  'a probe answered with an older slot than heads announced meanwhile does not make the node lag',
  async (t) => {
    const node = await FaultyNode.start(t, jsonChain(slotsTo(200)))
    node.headSlot = 50
    let announce: (slot: number) => void = () => undefined
    const ownHeads = (listener: (slot: number) => void) => {
      announce = listener
      return () => undefined
    }
    const run = new SourceRun({ urls: [node.url], ownHeads })
    run.read(40)
    await run.until(() => run.slots.at(-1) === 50)
    // The head moves while the node's answer to the probe is on its way.
    const whileProbed = ({ method }: { readonly method: string }): boolean => {
      if (method !== 'getSlot') return false
      node.headSlot = 150
      announce(150)
      return true
    }
    node.inject('an answer from before', { kind: 'result', result: 50 }, whileProbed)
    await run.advanceTo(150)
    const { length } = node.asked('getSlot')
    await run.until(() => node.asked('getSlot').length > length + 2)
    await run.end()
    t.same(node.unfired, [])
    t.same(run.said(40), [], 'nothing is logged of a node that is behind')
    t.equal(run.gauge('backwards'), 0)
  }
)

t.test('a lagging node is asked after the one that is not', async (t) => {
  const chain = jsonChain(slotsTo(200))
  const [late, node] = [await FaultyNode.start(t, chain), await FaultyNode.start(t, chain)]
  late.headSlot = 60
  const run = new SourceRun({ urls: [late.url, node.url] })
  await run.until(() => run.gauge('nodes_lagging') === 1 && run.gauge('nodes_healthy') === 1)
  run.read(50)
  await run.until(() => run.slots.at(-1) === 200)
  await run.end()
  t.equal(late.asked('getBlock').length, 0)
  t.same(
    run.slots,
    slotsTo(200).filter((slot) => slot > 50)
  )
})

t.test('what a node has pruned comes from the archive; what that has not either is a gap', async (t) => {
  const chain = jsonChain(slotsTo(400))
  const [node, archive] = [await FaultyNode.start(t, chain), await FaultyNode.start(t, chain)]
  node.firstSlot = 300
  archive.firstSlot = 100
  const run = new SourceRun({ urls: [node.url], archiveUrls: [archive.url] })
  await run.until(() => run.gauge('nodes_healthy') === 2)
  run.read(50)
  await run.until(() => run.slots.at(-1) === 400)
  await run.end()
  t.same(
    run.slots,
    slotsTo(400).filter((slot) => slot >= 100)
  )
  t.match(run.gaps, [{ from: 51, to: 99, reason: 'pruned', detail: /First available block/ }])
  t.equal(run.gaps.length, 1)
  t.ok(archive.asked('getBlock').every(({ params }) => (params[0] as number) < 300))
  t.match(run.said(50), [/slots 51 to 99 are abandoned as pruned: .*First available block: \d+/])
})

t.test(
  'slots before the snapshot of a node, which it calls skipped, are pruned and not skipped',
  async (t) => {
    const node = await FaultyNode.start(t, jsonChain(slotsTo(100)))
    node.inject(
      'jump',
      { kind: 'error', code: -32007, message: 'missing due to ledger jump' },
      (request) => request.method === 'getBlock' && (request.params[0] as number) < 60,
      Infinity
    )
    node.firstSlot = 60
    const run = new SourceRun({ urls: [node.url] })
    run.read(30)
    await run.until(() => run.slots.at(-1) === 100)
    await run.end()
    t.match(run.gaps, [{ from: 31, to: 59, reason: 'pruned' }])
    t.ok(node.fired.has('jump'))
    t.ok(node.asked('getFirstAvailableBlock').length > 0)
  }
)

t.test('a block that is missing and then there is waited for; one that stays missing is a gap', async (t) => {
  const slots = slotsTo(100)
  const chain = jsonChain(slots)
  const late = chain.get(20)!
  chain.delete(20)
  chain.delete(50)
  const node = await FaultyNode.start(t, chain)
  // Long enough for the late block on a starved machine; the missing one takes all of it.
  const run = new SourceRun({ urls: [node.url], tuning: { giveUpMs: 10_000 } })
  run.read(0)
  await run.until(() => node.asked('getBlock').filter(({ params }) => params[0] === 20).length > 2)
  t.equal(run.slots.at(-1), 19)
  chain.set(20, late)
  await run.until(() => run.slots.at(-1) === 100)
  await run.end()
  t.same(
    run.slots,
    slots.filter((slot) => slot !== 50)
  )
  // Slot 49 is skipped: only block 50 could have shown that.
  t.match(run.gaps, [{ from: 49, to: 50, reason: 'missing' }])
})

t.test('a block of transactions of a version that is not known is a gap that says so', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(range(1, 40)))
  const message = 'Transaction version (2) is not supported by the requesting client.'
  node.inject('version', { kind: 'error', code: -32015, message }, at('getBlock', 30), Infinity)
  const run = new SourceRun({ urls: [node.url], tuning: { giveUpMs: 300 } })
  run.read(20)
  await run.until(() => run.slots.at(-1) === 40)
  await run.end()
  t.match(run.gaps, [{ from: 30, to: 30, reason: 'unsupported', detail: /version \(2\)/ }])
  t.ok(node.fired.has('version'))
})

t.test('at commitment processed a warning is logged, and blocks are read at confirmed', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(range(1, 10)))
  const run = new SourceRun({ urls: [node.url], commitment: 'processed' })
  run.read(5)
  await run.until(() => run.slots.at(-1) === 10)
  await run.end()
  t.match(run.said(40), [/at confirmed at the earliest/])
  t.match(node.asked('getSlot')[0]?.params, [{ commitment: 'confirmed' }])
})

t.test('a drain ends a source in the middle of requests', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(range(1, 100)))
  node.inject('silent', { kind: 'silent' }, at('getBlock'), Infinity)
  const run = new SourceRun({ urls: [node.url], tuning: { client: { timeoutMs: 3_600_000 } } })
  run.read(0)
  await run.until(() => node.fired.get('silent') === 8)
  await run.end()
  t.same(run.slots, [])
})

t.test('a second reader goes on from its own position', async (t) => {
  const node = await FaultyNode.start(t, jsonChain(range(1, 60)))
  const run = new SourceRun({ urls: [node.url] })
  run.read(50)
  await run.until(() => run.slots.length === 10)
  run.read(30)
  await run.until(() => run.slots.length === 40)
  await run.end()
  t.same(run.slots, [...range(51, 60), ...range(31, 60)])
})

import t, { type Test } from 'tap'
import { NodeError } from '../../src/node/node-fault.ts'
import { systemPorts } from '../../src/ports.ts'
import { RpcTransactionNode } from '../../src/transactions/node-client.ts'
import { at, FaultyNode } from '../node/faulty-node.ts'
import { virtualClock, type VirtualClock } from '../virtual-time.ts'
import { AnsweringNode, type Answer } from './answering-node.ts'

const { signal } = new AbortController()
const WIRE = new Uint8Array([1, 2, 3])

/** A node at a slot, whose statuses are at that slot. */
async function nodeAt(t: Test, slot: number): Promise<AnsweringNode & { slot: number }> {
  const node = Object.assign(await AnsweringNode.start(t), { slot })
  const inContext = (value: unknown): Answer => ({ result: { context: { slot: node.slot }, value } })
  node.answer = ({ method, params }) => {
    switch (method) {
      case 'getSlot':
        return { result: node.slot }
      case 'getEpochInfo':
        return { result: { absoluteSlot: node.slot, blockHeight: node.slot - 10 } }
      case 'isBlockhashValid':
        return inContext(params[0] === 'valid')
      case 'getSignatureStatuses':
        return inContext((params[0] as string[]).map(() => null))
      default:
        return { result: 'taken' }
    }
  }
  return node
}

function clientOf(t: Test, nodes: readonly AnsweringNode[], clock: VirtualClock | null = null) {
  const client = new RpcTransactionNode(() => nodes.map(({ url }) => url), clock ?? systemPorts.clock)
  t.teardown(() => client.close())
  return client
}

const faultOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => 'an answer',
    (error: unknown) => (error instanceof NodeError ? error.fault.kind : error)
  )

t.test(
  'a block is requested by its signatures alone; a node without it, or with other data, is a fault',
  async (t) => {
    const node = await nodeAt(t, 100)
    const client = clientOf(t, [node])
    const answer = node.answer
    let block: Answer = { result: { blockhash: 'hash', signatures: ['a', 'b'] } }
    node.answer = (request) => (request.method === 'getBlock' ? block : answer(request))
    t.same(await client.blockSignatures(90, signal), ['a', 'b'])
    t.match(node.asked('getBlock'), [
      { params: [90, { transactionDetails: 'signatures', rewards: false, commitment: 'confirmed' }] }
    ])
    for (const result of [null, {}, { signatures: [1] }]) {
      block = { result }
      t.equal(await faultOf(client.blockSignatures(90, signal)), 'garbage')
    }
    block = { error: { code: -32007, message: 'Slot 90 was skipped' } }
    t.equal(await faultOf(client.blockSignatures(90, signal)), 'rpc')
  }
)

t.test(
  'of two nodes the one with the newest slot is asked, also after the other has overtaken it',
  async (t) => {
    const [one, two] = [await nodeAt(t, 100), await nodeAt(t, 140)]
    const clock = virtualClock()
    const client = clientOf(t, [one, two], clock)
    t.same(await client.isBlockhashValid('valid', signal), { contextSlot: 140, isValid: true })
    t.same(await client.height(signal), { slot: 140, height: 130 })
    await client.send(WIRE, signal)
    t.match(two.asked('sendTransaction'), [
      { params: ['AQID', { encoding: 'base64', skipPreflight: true, maxRetries: 0 }] }
    ])
    t.same(
      one.requests.map(({ method }) => method),
      ['getSlot']
    )
    one.slot = 150
    clock.increment(1_000)
    // The slots are requested separately from this request.
    await client.isBlockhashValid('valid', signal)
    while (one.asked('getSlot').length < 2 || two.asked('getSlot').length < 2)
      await new Promise((resolve) => setImmediate(resolve))
    for (let turn = 0; turn < 1_000 && one.asked('isBlockhashValid').length === 0; turn++)
      await client.isBlockhashValid('valid', signal)
    t.same(await client.isBlockhashValid('other', signal), { contextSlot: 150, isValid: false })
  }
)

t.test('a node that dies is passed over: the other one answers, and has the send once', async (t) => {
  const [one, two] = [await nodeAt(t, 140), await nodeAt(t, 100)]
  const client = clientOf(t, [one, two])
  t.match(await client.height(signal), { slot: 140 })
  await one.stop()
  await client.send(WIRE, signal)
  t.equal(two.asked('sendTransaction').length, 1)
  t.match(await client.height(signal), { slot: 100 })
  await two.stop()
  t.equal(await faultOf(client.height(signal)), 'unreachable')
  t.equal(await faultOf(client.send(WIRE, signal)), 'unreachable')
})

t.test('a send that a node refuses, or may have taken, goes to no other node; a read does', async (t) => {
  const [one, two] = [await nodeAt(t, 140), await nodeAt(t, 100)]
  const client = clientOf(t, [one, two])
  const { answer } = one
  one.answer = (request) =>
    request.method === 'getSlot' ? answer(request) : { error: { code: -32005, message: 'Node is behind' } }
  t.equal(await faultOf(client.send(WIRE, signal)), 'rpc')
  t.equal(two.asked('sendTransaction').length, 0)
  t.match(await client.height(signal), { slot: 100 }, 'the next one is asked')
  one.answer = (request) => (request.method === 'getSlot' ? answer(request) : { result: undefined })
  t.equal(await faultOf(client.send(WIRE, signal)), 'garbage')
  t.equal(two.asked('sendTransaction').length, 0)
})

t.test(
  'a send whose connection breaks is not sent again; one refused for its rate goes to the next',
  async (t) => {
    const next = await nodeAt(t, 100)
    const faults = [
      { fault: { kind: 'drop' }, outcome: 'unreachable', sends: 0 },
      { fault: { kind: 'status', status: 429 }, outcome: 'an answer', sends: 1 }
    ] as const
    for (const { fault, outcome, sends } of faults) {
      const node = await FaultyNode.start(t)
      node.headSlot = 140
      const urls = [node.url, next.url]
      const client = new RpcTransactionNode(() => urls, systemPorts.clock)
      t.teardown(() => client.close())
      node.inject(fault.kind, fault, at('sendTransaction'))
      t.equal(await faultOf(client.send(WIRE, signal)), outcome)
      t.equal(node.fired.get(fault.kind), 1)
      t.equal(next.asked('sendTransaction').length, sends, fault.kind)
    }
  }
)

t.test('a read that the newest node answers in the wrong form goes to the next node', async (t) => {
  const [one, two] = [await nodeAt(t, 140), await nodeAt(t, 100)]
  const { answer } = one
  one.answer = (request) => (request.method === 'getSlot' ? answer(request) : { result: 7 })
  const rest = two.answer
  const signatures = ['a']
  two.answer = (request) => {
    if (request.method === 'getBlock') return { result: { signatures } }
    if (request.method === 'simulateTransaction') return { result: inContext({ err: null, logs: [] }, 100) }
    return request.method === 'getAccountInfo' ? { result: inContext(null, 100) } : rest(request)
  }
  // Each time with a client that does not know the fault yet.
  const client = () => clientOf(t, [one, two])
  t.same(await client().isBlockhashValid('valid', signal), { contextSlot: 100, isValid: true })
  t.same(await client().blockSignatures(90, signal), signatures)
  t.same(await client().simulate(WIRE, signal), { err: null, logs: [], unitsConsumed: null })
  t.equal(await client().account('a', signal), null)
})

t.test('an owner that is no address is a fault of the node', async (t) => {
  const node = await nodeAt(t, 100)
  node.answer = () => ({ result: inContext({ owner: 'o', data: ['', 'base64'] }) })
  t.equal(await faultOf(clientOf(t, [node]).nonce('a', signal)), 'garbage')
})

t.test('statuses come in the order of the signatures, as of a slot, from the history if asked', async (t) => {
  const node = await nodeAt(t, 200)
  const known = {
    slot: 190,
    confirmations: 3,
    err: null,
    confirmationStatus: 'confirmed',
    status: { Ok: null }
  }
  const value: unknown[] = [null, known, { slot: 5, err: 'AccountInUse', confirmationStatus: 'finalized' }]
  node.answer = () => ({ result: { context: { slot: 200, apiVersion: '3.0.0' }, value } })
  const client = clientOf(t, [node])
  for (const history of [true, false])
    t.same(await client.statuses(['a', 'b', 'c'], { history }, signal), {
      contextSlot: 200,
      statuses: [
        null,
        { slot: 190, confirmations: 3, err: null, commitment: 'confirmed' },
        { slot: 5, confirmations: null, err: 'AccountInUse', commitment: 'finalized' }
      ]
    })
  t.same(
    node.requests.map(({ params }) => params),
    [true, false].map((searchTransactionHistory) => [['a', 'b', 'c'], { searchTransactionHistory }])
  )
})

const inContext = (value: unknown, slot: unknown = 200): unknown => ({ context: { slot }, value })
type Ask = (client: RpcTransactionNode) => Promise<unknown>
const statuses: Ask = (client) => client.statuses(['a', 'b'], { history: true }, signal)
const height: Ask = (client) => client.height(signal)
const isValid: Ask = (client) => client.isBlockhashValid('h', signal)
const account: Ask = (client) => client.account('a', signal)
const simulate: Ask = (client) => client.simulate(WIRE, signal)
const WRONG: readonly [name: string, ask: Ask, result: unknown][] = [
  ['statuses without a slot', statuses, { value: [null, null] }],
  ['statuses as of a slot that is none', statuses, inContext([null, null], -1)],
  ['statuses as of a slot in text', statuses, inContext([null, null], '200')],
  ['fewer statuses than signatures', statuses, inContext([null])],
  ['more statuses than signatures', statuses, inContext([null, null, null])],
  ['statuses that are no list', statuses, inContext({ a: null, b: null })],
  ['a status of an unknown commitment', statuses, inContext([null, { slot: 1, confirmationStatus: 'sure' }])],
  ['a status without a slot', statuses, inContext([null, { confirmationStatus: 'processed' }])],
  ['no status at all', statuses, null],
  ['a height in text', height, { absoluteSlot: 1, blockHeight: '1' }],
  ['no slot of the height', height, { blockHeight: 1 }],
  ['a negative height', height, { absoluteSlot: 1, blockHeight: -1 }],
  ['a validity that is no boolean', isValid, inContext('true')],
  ['a validity without a slot', isValid, true],
  ['an account without data', account, inContext({ owner: 'o' })],
  ['an account without owner', account, inContext({ data: ['', 'base64'] })],
  ['a simulation that is none', simulate, inContext(7)]
]
t.test('an answer of the wrong form is a fault, and never a status or a height', async (t) => {
  const node = await AnsweringNode.start(t)
  const client = clientOf(t, [node])
  for (const [name, ask, result] of WRONG) {
    node.answer = () => ({ result })
    t.equal(await faultOf(ask(client)), 'garbage', name)
  }
})

t.test('a node that is listed twice is one node, whose requests in flight go on', async (t) => {
  const node = await nodeAt(t, 100)
  const client = clientOf(t, [node, node])
  const both = [client.height(signal), client.isBlockhashValid('valid', signal)]
  t.match(await Promise.all(both), [{ slot: 100 }, { isValid: true }])
})

t.test('without a node each request fails at once', async (t) => {
  t.equal(await faultOf(height(clientOf(t, []))), 'unreachable')
})

t.test('with two nodes both must deny a landing that the history tells of', async (t) => {
  const [newest, other] = [await nodeAt(t, 140), await nodeAt(t, 100)]
  const client = clientOf(t, [newest, other])
  const know = (confirmationStatus: string): void => {
    const { answer } = other
    const status = { slot: 90, confirmations: null, err: null, status: { Ok: null }, confirmationStatus }
    other.answer = (request) =>
      request.method === 'getSignatureStatuses'
        ? { result: { context: { slot: 100 }, value: [status, null] } }
        : answer(request)
  }
  const ask = (history: boolean) => client.statuses(['a', 'b'], { history }, signal)
  const unknown = { contextSlot: 140, statuses: [null, null] }
  t.same(await ask(true), unknown)
  know('processed')
  t.same(await ask(true), unknown, 'a block of a lagging node may be on a fork that was left')
  know('finalized')
  t.match(await ask(true), { contextSlot: 140, statuses: [{ slot: 90, commitment: 'finalized' }, null] })
  t.same(await ask(false), unknown, 'the newest node alone is asked for its cache')
  await newest.stop()
  t.match(
    await ask(true),
    { contextSlot: 100, statuses: [{ slot: 90 }, null] },
    'one that is away is left out'
  )
  other.answer = () => ({
    error: { code: -32011, message: 'Transaction history is not available from this node' }
  })
  t.equal(await faultOf(ask(true)), 'rpc', 'a refusal tells more than a node that is away')
})

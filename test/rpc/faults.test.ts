import * as fc from 'fast-check'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t from 'tap'
import { systemPorts } from '../../src/ports.ts'
import { AnswerCache } from '../../src/rpc/answer-cache.ts'
import { MethodTable } from '../../src/rpc/methods.ts'
import { parseRequest } from '../../src/rpc/requests.ts'
import { Gateway } from '../../src/rpc/rpc-gateway.ts'
import { SharedReads } from '../../src/rpc/shared-reads.ts'
import { SlotFloors } from '../../src/rpc/slot-floors.ts'
import { makeCertificate } from '../actors/webhooks/receiver.ts'
import { randomRuns } from '../random-runs.ts'
import { callerWith } from './fake-rpc.ts'
import { fakeNodes, type Fault, type FakeRpcNode } from './fake-rpc-node.ts'
import { callOf, isFirst, opened, textOf } from './opened-nodes.ts'
import { until } from '../until.ts'

const { signal } = new AbortController()

t.test('TLS that ends: in the handshake, before, within and after the answer', async (t) => {
  const certificate = makeCertificate(t, 'localhost')
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, certificate.cert])
  t.teardown(() => setDefaultCACertificates(before))
  for (const fault of [
    'killed before headers',
    'killed after headers',
    'half the bytes',
    'half the bytes, until the end',
    'stalled'
  ] as const) {
    const [bad, good] = await fakeNodes(t, 2, certificate)
    const nodes = await opened(t, [bad!, good!], [], { stallMs: 300 })
    t.equal(nodes.nodes[0]!.state, 'healthy')
    await until(() => isFirst(nodes, 0))
    bad!.fault = fault
    t.match(await textOf(await nodes.request(callOf('getBalance', '["x"]'), signal)), good!.url, fault)
    t.ok(bad!.fired > 0, `${fault} was shown`)
  }
  const [bad, good] = await fakeNodes(t, 2, certificate)
  const nodes = await opened(t, [bad!, good!])
  await until(() => isFirst(nodes, 0))
  bad!.answer = () => ({ result: { context: { slot: 1_000 }, value: 'x'.repeat(200_000) } })
  bad!.fault = 'half the bytes, until the end'
  await t.rejects(
    nodes.request(callOf('getBalance', '["y"]'), signal).then(textOf),
    { message: /incomplete/ },
    'a long answer whose connection ends in order is not taken for whole'
  )
  bad!.refusesConnections = true
  bad!.dropConnections()
  const { fired } = bad!
  t.match(await textOf(await nodes.request(callOf('getBalance', '["z"]'), signal)), good!.url)
  await until(() => bad!.fired > fired)
})

const FAULTS: readonly Fault[] = [
  'none',
  'none',
  'killed before headers',
  'killed after headers',
  'half the bytes',
  'half the bytes, until the end',
  'wrong JSON',
  'another id',
  '500',
  'stalled'
]

/** An event before a request: a node advances by some slots, and has a fault afterwards. */
const step = fc.record({
  node: fc.nat({ max: 1 }),
  slots: fc.nat({ max: 3 }),
  fault: fc.constantFrom(...FAULTS),
  key: fc.constantFrom('a', 'b'),
  commitment: fc.constantFrom('processed', 'confirmed', 'finalized'),
  reads: fc.integer({ min: 1, max: 4 })
})

t.test(
  'two nodes that differ, with faults at random: each answer is one node’s, or an error to retry, and no key goes back in slot',
  async (t) => {
    const seen = new Set<Fault>()
    let [answered, refused] = [0, 0]
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
        const live = await fakeNodes(t, 2)
        for (const node of live) node.answer = () => ({ result: stateOf(node) })
        live[1]!.slot = 990
        // No floor is abandoned meanwhile.
        const tuning = { stallMs: 100, deadlineMs: 400, reachedForMs: 600_000 }
        const nodes = await opened(t, live, [], tuning)
        const { clock } = systemPorts
        const gateway = new Gateway({
          methods: new MethodTable(),
          reads: new SharedReads(nodes, new AnswerCache(2 ** 20, clock), clock),
          floors: new SlotFloors(),
          accounts: { answer: () => Promise.reject(new Error('nothing is mirrored')) },
          sends: null,
          clock
        })
        const floors = new Map<string, number>()
        for (const { node, slots, fault, key, commitment, reads } of steps) {
          live[node]!.slot += slots
          live[node]!.fault = fault
          const params = `["address",{"commitment":"${commitment}"}]`
          const call = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"getBalance","params":${params}}`
          const body = `[${Array.from({ length: reads }, (_, id) => call(id)).join(',')}]`
          const request = parseRequest(Buffer.from(reads === 1 ? call(0) : body), 100)
          const context = { caller: callerWith(['rpc:read'], key), batchMax: 100, tracks: false, signal }
          const reply = await gateway.answer(request, context)
          const answers = [JSON.parse((reply.body as Buffer).toString('utf8')) as Answer].flat()
          const floor = floors.get(`${key} ${commitment}`) ?? 0
          for (const { id, result, error } of answers) {
            if (!(id < reads)) throw new Error(`an answer to ${id}`)
            if (error !== undefined) {
              refused++
              if (error.code !== -32603 || error.data?.retryable !== true)
                throw new Error(JSON.stringify(error))
              continue
            }
            answered++
            const { slot } = result!.context
            if (slot < floor) throw new Error(`${key} saw slot ${slot} after ${floor} at ${commitment}`)
            if (!live.some(({ url }) => result!.value === `${url} ${slot}`))
              throw new Error(`no node has given ${JSON.stringify(result)}`)
            // A settled slot is in newer states too.
            for (const level of LEVELS.slice(0, LEVELS.indexOf(commitment) + 1))
              floors.set(`${key} ${level}`, Math.max(floors.get(`${key} ${level}`) ?? 0, slot))
          }
        }
        for (const { fault, fired } of live) if (fired > 0) seen.add(fault)
        for (const node of live) await node.close()
      }),
      randomRuns(12)
    )
    t.ok(answered > refused, `${answered} answers, ${refused} refusals`)
    t.ok(seen.size > 5, [...seen].join(', '))
  }
)

const LEVELS = ['processed', 'confirmed', 'finalized']

interface Answer {
  readonly id: number
  readonly result?: { readonly context: { readonly slot: number }; readonly value: string }
  readonly error?: { readonly code: number; readonly data?: { readonly retryable: boolean } }
}

const stateOf = ({ slot, url }: FakeRpcNode): unknown => ({ context: { slot }, value: `${url} ${slot}` })

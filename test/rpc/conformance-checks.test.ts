import t from 'tap'
import { bodyChecks } from '../../src/rpc/commands/body-checks.ts'
import { originChecks } from '../../src/rpc/commands/origin-checks.ts'
import { openRpcEndpoint } from '../../src/rpc/commands/rpc-endpoint.ts'
import { patientSend } from '../../src/rpc/commands/rpc-probe.ts'
import { systemPorts } from '../../src/ports.ts'
import { AnswerDeadline } from '../../src/rpc/answer-deadline.ts'
import type { Ask } from '../../src/rpc/conformance-cases.ts'
import type { ConformanceCheck } from '../../src/rpc/conformance-check.ts'
import { compareEndpoints } from '../../src/rpc/conformance.ts'
import { derivedUrls, httpUrlOf } from '../../src/rpc/derived-urls.ts'
import { programChecks } from '../../src/rpc/program-rows.ts'
import { marketApp } from '../http/market-app.ts'
import { until } from '../until.ts'
import { settle, virtualClock } from '../virtual-time.ts'
import { fakeNodes } from './fake-rpc-node.ts'
import { fakeRpc } from './fake-rpc.ts'
import { isFirst, opened } from './opened-nodes.ts'

const PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const ORIGIN = 'https://app.example.org'
const send = patientSend(systemPorts.clock, new AbortController().signal, () => undefined)
const outcomes = (checks: readonly ConformanceCheck[]): readonly string[] =>
  checks.map(({ outcome }) => outcome)
const failed = (checks: readonly ConformanceCheck[]): readonly ConformanceCheck[] =>
  checks.filter(({ outcome }) => outcome === 'failed')

t.test('the URLs that clients derive from an RPC URL', async (t) => {
  const { requests, sockets } = derivedUrls('http://127.0.0.1:8900/v1/rpc?api-key=K')
  t.same(
    requests.map(({ url }) => url),
    ['http://127.0.0.1:8900/v1/rpc/?api-key=K', 'http://127.0.0.1:8900/v1/rpc?key=K']
  )
  t.same(
    sockets.map(({ url, isOptional }) => [url, isOptional]),
    [
      ['ws://127.0.0.1:8900/v1/rpc?api-key=K', false],
      ['ws://127.0.0.1:8900/v1/rpc/?api-key=K', false],
      ['ws://127.0.0.1:8900/v1/rpc?key=K', false],
      ['ws://127.0.0.1:8901/v1/rpc?api-key=K', true]
    ]
  )
  const hosted = derivedUrls('https://host/v1/rpc?key=K')
  t.same(
    hosted.sockets.map(({ url }) => url),
    ['wss://host/v1/rpc?key=K', 'wss://host/v1/rpc/?key=K', 'wss://host/v1/rpc?api-key=K'],
    'a URL without a port has no next one'
  )
  t.equal(httpUrlOf('ws://127.0.0.1:1/v1/rpc/ws?key=K'), 'http://127.0.0.1:1/v1/rpc?key=K')
})

t.test(
  'malformed bodies are refused as documented, and a service that answers otherwise is found',
  async (t) => {
    const app = await marketApp(t)
    const key = await app.makeKey(['rpc:read'])
    const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
    const checks = await bodyChecks(`${url}/v1/rpc?api-key=${key}`, send)
    t.same(failed(checks), [])
    t.equal(checks.length, 11)
    const lenient = await bodyChecks('http://127.0.0.1/v1/rpc', async () => ({
      status: 200,
      headers: {},
      body: { result: 1 }
    }))
    t.ok(lenient.every(({ outcome }) => outcome === 'failed'))
    t.match(lenient[0], { detail: 'HTTP 200, undefined instead of HTTP 200, -32700' })
  }
)

t.test(
  'a page of a listed origin is admitted and reads its refusals; one of another origin gets the remedy',
  async (t) => {
    const app = await marketApp(t)
    const key = await app.makeKey(['rpc:read'], { corsOrigins: [ORIGIN] })
    const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
    const rpcUrl = `${url}/v1/rpc?api-key=${key}`
    // Sockets are served by a process alone.
    const opens = async (): Promise<null> => null
    const checks = await originChecks(rpcUrl, ORIGIN, send, opens)
    t.same(failed(checks), [])
    t.equal(checks.length, 10)
    t.match(checks[0], { check: 'page of an unlisted origin', outcome: 'passed', detail: /remedy/ })
    const other = await originChecks(rpcUrl, 'https://other.example.org', send, opens)
    t.ok(failed(other).length >= 7, 'an origin that the key does not list fails')
    t.match(await originChecks(rpcUrl, undefined, send), [
      { outcome: 'passed' },
      { outcome: 'not checked', detail: /--origin/ }
    ])
  }
)

interface Row {
  readonly pubkey: string
  readonly account: { readonly lamports: number; readonly data: readonly string[]; readonly space: number }
}
const rowOf = (pubkey: string, lamports: number): Row => ({
  pubkey,
  account: { lamports, data: ['AQ==', 'base64'], space: 1 }
})
const accountsOf =
  (slotOf: () => number, rows: readonly Row[]): Ask =>
  async () => ({ body: { jsonrpc: '2.0', id: 1, result: { context: { slot: slotOf() }, value: rows } } })
const errorOf =
  (code: number, message: string): Ask =>
  async () => ({ body: { jsonrpc: '2.0', id: 1, error: { code, message } } })
const noPause = async (): Promise<void> => undefined

t.test("accounts of a program are compared with the node's row by row, every one, at one slot", async (t) => {
  const rows = [rowOf('a', 1), rowOf('b', 2), rowOf('c', 3)]
  const node = accountsOf(() => 7, rows.toReversed())
  const good = await programChecks(
    PROGRAM,
    accountsOf(() => 7, rows),
    node,
    noPause
  )
  t.same(failed(good), [])
  t.equal(good.length, 7, 'each commitment, encoding, slice and filter')
  t.match(good[0], { detail: '3 accounts equal at slot 7' })

  const last = [...rows.slice(0, 2), rowOf('c', 4)]
  t.match(
    (
      await programChecks(
        PROGRAM,
        accountsOf(() => 7, last),
        node,
        noPause
      )
    )[0],
    {
      outcome: 'failed',
      detail: '1 of 3 accounts differ at slot 7: c'
    }
  )
  const fewer = accountsOf(() => 7, rows.slice(1))
  t.match((await programChecks(PROGRAM, fewer, node, noPause))[0], {
    outcome: 'failed',
    detail: /a \(missing\)/
  })
  const twice = accountsOf(() => 7, [...rows, rows[0]!])
  t.match((await programChecks(PROGRAM, twice, node, noPause))[0], { outcome: 'failed', detail: /twice/ })
})

t.test(
  'answers of two slots are not compared: both are requested until one side has been at the slot of the other',
  async (t) => {
    const rows = [rowOf('a', 1)]
    // The mirror is where the node was three slots before.
    let slot = 1
    const ahead = accountsOf(() => 3 + slot++, rows)
    const behind = accountsOf(() => slot, rows)
    const met = await programChecks(PROGRAM, behind, ahead, noPause)
    t.same(failed(met), [])
    t.ok(met.every(({ outcome }) => outcome === 'passed'))
    const stuck = accountsOf(() => 6, [])
    t.match(
      await programChecks(
        PROGRAM,
        stuck,
        accountsOf(() => 7, rows),
        noPause
      ),
      [
        {
          outcome: 'not checked',
          detail: 'no two answers of one slot in 60 attempts; the last are of 6 and 7'
        }
      ]
    )
  }
)

t.test('what cannot be compared says why', async (t) => {
  const rows = accountsOf(() => 1, [])
  t.match(await programChecks(PROGRAM, errorOf(-32010, 'excluded'), rows, noPause), [
    { outcome: 'not checked', detail: /does not mirror/ }
  ])
  t.match(await programChecks(PROGRAM, rows, null, noPause), [{ outcome: 'not checked', detail: /--node/ }])
  const refused = await programChecks(PROGRAM, errorOf(-32602, 'bad'), rows, noPause)
  t.match(refused[0], { outcome: 'failed', detail: 'service: -32602 bad; node: 0 accounts' })
  let asked = 0
  const counted: Ask = async (body) => {
    asked++
    return rows(body)
  }
  t.same(
    new Set(outcomes(await programChecks(PROGRAM, errorOf(-32603, 'too large'), counted, noPause))),
    new Set(['not checked'])
  )
  t.equal(asked, 0, 'a node is not asked for what is too large')
})

t.test('an answer after the deadline is found', async (t) => {
  const clock = virtualClock()
  const deadline = new AnswerDeadline(1_000, clock)
  let answer: () => void = () => undefined
  const ask = deadline.timed((body) => new Promise((resolve) => void (answer = () => resolve({ body }))))
  const first = ask('{"method":"getBalance"}')
  clock.increment(999)
  answer()
  await first
  t.match(deadline.check(), { outcome: 'passed', detail: '1 answers within 1000 ms each' })
  const late = ask('{"method":"getSlot"}')
  clock.increment(1_000)
  answer()
  await late
  await settle()
  t.match(deadline.check(), { outcome: 'failed', detail: /^1 of 2 answers .*getSlot/ })
  t.match(new AnswerDeadline(null, clock).check(), { outcome: 'not checked', detail: /--deadline-ms/ })
})

/** Reads that no cache answers. */
const READS = [
  { method: 'getVersion', params: '[]' },
  { method: 'getHealth', params: '[]' },
  { method: 'getBlockCommitment', params: '[5]' },
  { method: 'getFirstAvailableBlock', params: '[]' }
]
const listener = {
  differs: () => undefined,
  asked: () => undefined,
  beforeLook: async () => undefined
}

t.test('beside a good node, one that answers -32603 makes no difference to a client', async (t) => {
  const [bad, good] = await fakeNodes(t, 2)
  const nodes = await opened(t, [bad!, good!])
  const app = await marketApp(t, undefined, { rpc: fakeRpc(nodes) })
  const key = await app.makeKey(['rpc:read'])
  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  const service = await openRpcEndpoint('--against', `${url}/v1/rpc?api-key=${key}`)
  const node = await openRpcEndpoint('--node', good!.url)
  await until(() => isFirst(nodes, 0))
  bad!.answer = () => ({ error: { code: -32603, message: 'broken' } })
  const rows = await compareEndpoints(READS, service.ask, node.ask, listener)
  t.same(
    rows.map(({ method, different }) => [method, different]),
    READS.map(({ method }) => [method, 0])
  )
  t.ok(bad!.asked.length > 0, 'the node at fault was asked')

  good!.answer = bad!.answer
  const told: string[] = []
  const working = async () => ({ body: { jsonrpc: '2.0', id: 1, result: 'ok' } })
  await compareEndpoints(READS, service.ask, working, { ...listener, differs: (_, ours) => told.push(ours) })
  t.match(told, Array(READS.length).fill(/-32603/), 'without a good node each read differs')
})

t.test('behind silent nodes every read is answered by the overall deadline', async (t) => {
  const silent = await fakeNodes(t, 2)
  const nodes = await opened(t, silent, [], { stallMs: 60_000, deadlineMs: 300 })
  const app = await marketApp(t, undefined, { rpc: fakeRpc(nodes) })
  const key = await app.makeKey(['rpc:read'])
  const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
  const service = await openRpcEndpoint('--against', `${url}/v1/rpc?api-key=${key}`)
  for (const node of silent) node.fault = 'stalled'
  // A multiple of the deadline: the machine may be slow. Without the deadline a read takes a minute.
  const deadline = new AnswerDeadline(50_000, systemPorts.clock)
  await compareEndpoints(READS, deadline.timed(service.ask), null, listener)
  t.match(deadline.check(), { outcome: 'passed', detail: /^4 answers/ })
  t.match(await service.ask('{"jsonrpc":"2.0","id":1,"method":"getVersion","params":[]}'), {
    body: { error: { code: -32603, data: { retryable: true } } }
  })
})

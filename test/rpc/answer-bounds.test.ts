import t from 'tap'
import { parseRequest } from '../../src/rpc/requests.ts'
import { ANSWER_BYTES_MAX, ANSWER_TOO_LARGE } from '../../src/rpc/rpc-error.ts'
import { callerWith, fakeRpc, fakeUpstreams, resultOf } from './fake-rpc.ts'
import { fakeNodes } from './fake-rpc-node.ts'
import { callOf, isFirst, opened, textOf } from './opened-nodes.ts'
import { until } from '../until.ts'

const { signal } = new AbortController()
/** Two of them are below the bound, three above it. */
const LONG = `"${'x'.repeat(12 * 2 ** 20)}"`

t.test(
  'answers of a batch beyond 32 MiB together are an error each, and those before them stay',
  async (t) => {
    const parts = fakeRpc(fakeUpstreams(() => resultOf(LONG)))
    const call = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"getBlock","params":[${id}]}`
    const request = parseRequest(Buffer.from(`[${[1, 2, 3].map(call).join(',')}]`), 100)
    const context = { caller: callerWith(['rpc:read']), batchMax: 100, tracks: false, signal }
    const { body } = await parts.gateway.answer(request, context)
    const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body!))
    t.ok(bytes.length < ANSWER_BYTES_MAX)
    const answers = JSON.parse(bytes.toString('latin1')) as { id: number; result?: string; error?: object }[]
    t.same(
      answers.map(({ id, result, error }) => [id, result?.length, error]),
      [
        [1, LONG.length - 2, undefined],
        [2, LONG.length - 2, undefined],
        [3, undefined, ANSWER_TOO_LARGE.error]
      ]
    )
  }
)

t.test('a node is read no further than 32 MiB, in one answer or in those of a batch', async (t) => {
  const [node] = await fakeNodes(t, 1)
  const nodes = await opened(t, [node!], [], { stallMs: 10_000 })
  node!.answer = () => ({ result: 'x'.repeat(ANSWER_BYTES_MAX) })
  await t.rejects(nodes.request(callOf('getBlock', '[1]'), signal), { name: 'AnswerTooLarge' })
  node!.answer = () => ({ result: LONG })
  const calls = [1, 2, 3].map((slot) => callOf('getBlock', `[${slot}]`))
  for (const each of await nodes.requestAll(calls, signal)) t.match(each, { name: 'AnswerTooLarge' })
  node!.answer = () => ({ result: 1 })
  t.match(
    await nodes.request(callOf('getBlock', '[1]'), signal),
    { kind: 'result' },
    'the node is in use as before'
  )
})

t.test('a batch whose answers break off in the middle is asked of another node', async (t) => {
  const [bad, good] = await fakeNodes(t, 2)
  const nodes = await opened(t, [bad!, good!])
  // Longer than the bytes received before a batch is examined.
  for (const each of [bad!, good!])
    each.answer = ({ params }) => ({ result: `${String(params![0])}${'x'.repeat(4_000)}` })
  const calls = Array.from({ length: 50 }, (_, at) => callOf('getVersion', `["p${at} "]`))
  await until(() => isFirst(nodes, 0))
  bad!.fault = 'half the bytes'
  const answers = await nodes.requestAll(calls, signal)
  t.ok(bad!.fired > 0, 'the fault was shown')
  for (const [at, answer] of answers.entries()) {
    if (answer instanceof Error) throw answer
    t.ok((await textOf(answer)).startsWith(`"p${at} x`))
  }
})

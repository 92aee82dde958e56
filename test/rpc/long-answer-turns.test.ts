import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { LoopWork } from '../http/loop-work.ts'
import { marketApp } from '../http/market-app.ts'
import type { FakeRpcNode } from './fake-rpc-node.ts'
import { fakeRpc } from './fake-rpc.ts'
import { opened } from './opened-nodes.ts'

/** Maximum calls in one turn of the event loop: about 2 ms. */
const CALLS_MAX = 40_000
/** Characters of an answer: a third of a block of mainnet. Scanned at once they are 100,000 calls. */
const ANSWER_LENGTH = 3_000_000
const BATCH = 100
/** An element of a value as nodes write it: more tokens than most. */
const ELEMENT = { owner: 'x'.repeat(44), lamports: 1, data: ['y'.repeat(60), 'base64'], executable: false }

/** Serves the RPC URL over a node whose results have a length. Returns a function that gives the length of an answer. */
async function rpcOver(t: Test, length: number): Promise<(body: unknown) => Promise<number>> {
  const element = JSON.stringify(ELEMENT)
  const value = Array.from({ length: Math.ceil(length / element.length) }, () => element).join(',')
  const result = `{"context":{"slot":1000},"value":[${value}]}`
  const node = new Worker(new URL('./long-answer-node.ts', import.meta.url), { workerData: result })
  t.teardown(() => node.terminate())
  const [port] = (await once(node, 'message')) as [number]
  const nodes = await opened(t, [{ url: `http://127.0.0.1:${port}` } as FakeRpcNode], [], {
    stallMs: 60_000,
    deadlineMs: 60_000
  })
  const app = await marketApp(t, undefined, { rpc: fakeRpc(nodes) })
  const key = await app.makeKey(['rpc:read'])
  const url = await app.app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.app.close())
  return async (body) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    const answer = await fetch(`${url}/v1/rpc`, { method: 'POST', headers, body: JSON.stringify(body) })
    let bytes = 0
    for await (const chunk of answer.body!) bytes += (chunk as Uint8Array).length
    return bytes
  }
}

const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'getMultipleAccounts', params: [[String(id)]] })

t.test('a long answer of a node is passed on in turns of the event loop of 2 ms each', async (t) => {
  const work = LoopWork.start(t)
  const ask = await rpcOver(t, ANSWER_LENGTH)
  let bytes = 0
  const turn = await work.dearestTurn(async () => (bytes = await ask(call(1))))
  t.ok(bytes > ANSWER_LENGTH)
  t.ok(turn.calls <= CALLS_MAX, `${turn.calls} calls`, { most: turn.most })
})

t.test('the long answer to a batch is joined, scanned and cached in turns of 2 ms each', async (t) => {
  const work = LoopWork.start(t, { countsLoops: true })
  const ask = await rpcOver(t, ANSWER_LENGTH / BATCH)
  let bytes = 0
  const batch = Array.from({ length: BATCH }, (_, at) => call(at))
  const turn = await work.dearestTurn(async () => (bytes = await ask(batch)))
  t.ok(bytes > ANSWER_LENGTH)
  t.ok(turn.calls <= CALLS_MAX, `${turn.calls} calls`, { most: turn.most })
})

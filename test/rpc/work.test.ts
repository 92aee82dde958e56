import t from 'tap'
import { WORK_PRICES } from '../../src/kernel/work/work-units.ts'
import type { GatewayDeps } from '../../src/rpc/rpc-gateway.ts'
import { marketApp } from '../http/market-app.ts'
import { fakeRpc, fakeUpstreams, resultOf } from './fake-rpc.ts'

const SCAN = '{"jsonrpc":"2.0","id":1,"method":"getProgramAccounts","params":["p"]}'
const SLOT = '{"jsonrpc":"2.0","id":2,"method":"getSlot"}'
const BLOCK = '{"jsonrpc":"2.0","id":3,"method":"getBlock","params":[5]}'

/** Examines a number of accounts in each call. */
const accountsOf = (examined: number, result: Buffer): GatewayDeps['accounts'] => ({
  answer: async (_params, _signal, _runPiece, work) => {
    work?.count('account', examined)
    return { result: [result], slot: 1 }
  }
})

async function start(t: Parameters<typeof marketApp>[0], workPerMinute: number, examined = 1_000) {
  const { app, key } = await open(t, workPerMinute, examined)
  return async (body: string) => {
    const answer = await app.ask(
      'POST',
      '/v1/rpc',
      { 'content-type': 'application/json', 'x-api-key': key },
      body
    )
    const { 'x-work-units': units, ratelimit } = answer.headers
    return { ...answer, units: Number(units), left: leftIn(String(ratelimit)) }
  }
}

async function open(
  t: Parameters<typeof marketApp>[0],
  workPerMinute: number,
  examined: number,
  result = Buffer.from('[]')
) {
  const upstreams = fakeUpstreams(({ method }) =>
    method.name === 'getBlock' ? resultOf(`"${'x'.repeat(100 * 1024)}"`, 5) : resultOf('1')
  )
  const app = await marketApp(t, undefined, { rpc: fakeRpc(upstreams, [], accountsOf(examined, result)) })
  return { app, key: await app.makeKey(['rpc:read'], { workPerMinute }) }
}

const leftIn = (ratelimit: string): string | undefined => /"work";r=(\d+)/.exec(ratelimit)?.[1]

t.test('a body costs a call for each element, the accounts that they examined, and its bytes', async (t) => {
  const ask = await start(t, 1_000_000)
  t.equal((await ask(SCAN)).units, WORK_PRICES.call + 1_000 * WORK_PRICES.account + 1)
  const batch = await ask(`[${SCAN},${SLOT},${SCAN}]`)
  t.equal(batch.units, 3 * WORK_PRICES.call + 2_000 * WORK_PRICES.account + 1)
  t.ok((await ask(BLOCK)).units >= 100 * WORK_PRICES.kibibyte)
})

t.test('the bytes of a long answer that this process made are charged once, and stated', async (t) => {
  const { app, key } = await open(t, 1_000_000, 0, Buffer.alloc(2 * 2 ** 20, '0'))
  const url = await app.app.listen({ host: '127.0.0.1', port: 0 })
  const ask = async (body: string) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    const answer = await fetch(`${url}/v1/rpc`, { method: 'POST', headers, body })
    await answer.arrayBuffer()
    return answer.headers
  }
  const scanned = await ask(SCAN)
  const units = WORK_PRICES.call + Math.ceil(2 * 1024 * WORK_PRICES.kibibyte)
  t.equal(scanned.get('x-work-units'), String(units))
  t.equal(leftIn(scanned.get('ratelimit')!), String(1_000_000 - units))
  t.equal(leftIn((await ask(SLOT)).get('ratelimit')!), String(1_000_000 - units - WORK_PRICES.call - 1))
})

t.test('a body of a key without work left is refused with 429 and -32429', async (t) => {
  const ask = await start(t, 500)
  t.match(await ask(SCAN), { status: 200, left: '0' })
  const refused = await ask(SLOT)
  t.equal(refused.status, 429)
  t.match(refused.text, /"code":-32429/)
  t.match(refused.text, /units of work/)
  t.ok(Number(refused.headers['retry-after']) > 0)
  t.ok(Number.isNaN(refused.units))
})

t.test(
  'a batch ends where its elements have used up the work: the others are refused by themselves',
  async (t) => {
    const ask = await start(t, 1_000)
    const { status, text } = await ask(`[${Array(5).fill(SCAN).join(',')}]`)
    t.equal(status, 200)
    const answers = JSON.parse(text) as { error?: { code: number; data: object } }[]
    t.strictSame(
      answers.map(({ error }) => error?.code),
      [undefined, undefined, -32429, -32429, -32429]
    )
    t.match(answers[4]!.error!.data, { violated_policies: ['work'], limit: 1_000 })
  }
)

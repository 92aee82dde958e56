import t, { type Test } from 'tap'
import { WEIGHT_SETTINGS } from '../../src/access/call-weights.ts'
import { SETTING_NAMES } from '../../src/configuration.ts'
import { variableOf } from '../../src/kernel/config/config.ts'
import { EXAMPLE_PROGRAM } from '../../src/edge/routes/example-values.ts'
import { WSOL } from '../../src/market/cash.ts'
import { fakeRpc, fakeUpstreams } from '../rpc/fake-rpc.ts'
import { marketApp } from '../http/market-app.ts'

const WEIGHTS = { 'program-accounts': 4, holders: 3 }
const ACCOUNTS = `/v1/programs/${EXAMPLE_PROGRAM}/accounts`
const HOLDERS = `/v1/tokens/${WSOL}/holders`
const SLOT = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}'
const SCAN = `{"jsonrpc":"2.0","id":2,"method":"getProgramAccounts","params":["${EXAMPLE_PROGRAM}"]}`

/** The API where a scan costs four units and a page of holders three, and a caller of a key with a quota. */
async function weighted(t: Test, ratePerMinute: number) {
  const rpc = fakeRpc(fakeUpstreams(), [], undefined, WEIGHTS)
  const app = await marketApp(t, undefined, { rpc, weights: WEIGHTS })
  const key = await app.makeKey(['data:read', 'rpc:read'], { ratePerMinute })
  /** Makes a call, by a path or a body of JSON-RPC. Returns whether the quota allowed it, and the rest of the quota. */
  const call = async (given: string): Promise<readonly [isAllowed: boolean, left: number]> => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const isPath = given.startsWith('/')
    const answer = isPath ? await app.get(given, headers) : await app.ask('POST', '/v1/rpc', headers, given)
    const left = Number(answer.headers['x-ratelimit-remaining'])
    t.match(answer.headers.ratelimit, new RegExp(`^"per-minute";r=${left};`))
    if (answer.status === 429) t.ok(Number(answer.headers['retry-after']) > 0)
    return [answer.status !== 429, left]
  }
  return call
}

t.test('a page of accounts or of holders costs its weight, and any other call one', async (t) => {
  const call = await weighted(t, 10)
  t.strictSame(await call(ACCOUNTS), [true, 6])
  t.strictSame(await call(HOLDERS), [true, 3])
  t.strictSame(await call(ACCOUNTS), [false, 3])
  t.strictSame(await call('/v1/launches'), [true, 2])
  t.strictSame(await call(HOLDERS), [false, 2])
})

t.test('getProgramAccounts costs its weight alone and in a batch, which is refused whole', async (t) => {
  const call = await weighted(t, 12)
  t.strictSame(await call(SCAN), [true, 8])
  t.strictSame(await call(`[${SLOT},${SCAN},${SLOT}]`), [true, 2])
  t.strictSame(await call(`[${SLOT},${SCAN}]`), [false, 2])
  t.strictSame(await call(SCAN), [false, 2])
  t.strictSame(await call(`[${SLOT},${SLOT}]`), [true, 0])
})

t.test('a notification of getProgramAccounts costs as much as a call', async (t) => {
  const call = await weighted(t, 12)
  t.strictSame(await call(SCAN.replace('"id":2,', '')), [true, 8])
})

for (const [name, given] of [
  ['a page of accounts', ACCOUNTS],
  ['a page of holders', HOLDERS],
  ['getProgramAccounts', SCAN]
] as const)
  t.test(`${name} costs a whole quota that is smaller than its weight`, async (t) => {
    const call = await weighted(t, 2)
    t.strictSame(await call(given), [true, 0])
    t.strictSame(await call('/v1/launches'), [false, 0])
  })

t.test('the document states the setting of each weight where it applies', async (t) => {
  const app = await marketApp(t)
  const { body } = await app.get('/openapi.json', {})
  const paths = body['paths'] as Record<string, Record<string, { description: string }>>
  const variables = SETTING_NAMES.map(variableOf)
  for (const { endpoint } of app.app.served) {
    const { description } = paths[endpoint.path]![endpoint.method.toLowerCase()]!
    const scans = endpoint.path === '/v1/rpc' ? 'program-accounts' : endpoint.weighted
    const stated = Object.values(WEIGHT_SETTINGS).filter((setting) => description.includes(setting))
    t.strictSame(stated, scans === null ? [] : [WEIGHT_SETTINGS[scans]], endpoint.path)
  }
  for (const setting of Object.values(WEIGHT_SETTINGS)) t.ok(variables.includes(setting), setting)
})

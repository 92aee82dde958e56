import { gzipSync } from 'node:zlib'
import t from 'tap'
import { marketApp } from '../http/market-app.ts'
import { fakeRpc, fakeUpstreams, resultOf } from './fake-rpc.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const SLOT = '{"jsonrpc":"2.0","id":7,"method":"getSlot"}'
const PATH = '/v1/rpc'

t.test(
  'the key may stand in the query or a header; two that differ, or none, are refused with 401',
  async (t) => {
    const app = await marketApp(t)
    const key = await app.makeKey(['rpc:read'])
    const other = await app.makeKey(['rpc:read'])
    const ask = (path: string, headers: Record<string, string> = {}) =>
      app.ask('POST', path, { ...JSON_TYPE, ...headers }, SLOT)
    for (const answer of [
      await ask(`${PATH}?api-key=${key}`),
      await ask(PATH, { 'x-api-key': key }),
      await ask(PATH, { authorization: `Bearer ${key}` }),
      await ask(`${PATH}?api-key=${key}`, { 'x-api-key': key })
    ]) {
      t.equal(answer.status, 200)
      t.equal(answer.text, '{"jsonrpc":"2.0","result":1,"id":7}')
    }
    for (const answer of [
      await ask(PATH),
      await ask(`${PATH}?api-key=nobody`),
      await ask(`${PATH}?api-key=${key}&api-key=${other}`),
      await ask(`${PATH}?api-key=${key}`, { 'x-api-key': other }),
      await ask(PATH, { 'x-api-key': key, authorization: `Bearer ${other}` })
    ]) {
      t.equal(answer.status, 401)
      t.match(answer.text, /^\{"jsonrpc":"2.0","error":\{"code":-32600,/)
      t.match(answer.text, /"id":null\}$/)
      t.equal(answer.headers['www-authenticate'], 'Bearer')
    }
  }
)

t.test('each element costs one unit; a batch beyond the quota is refused whole with -32429', async (t) => {
  const app = await marketApp(t)
  const key = await app.makeKey(['rpc:read'], { ratePerMinute: 10 })
  const batch = (count: number) => `[${Array.from({ length: count }, () => SLOT).join(',')}]`
  const ask = (body: string) => app.ask('POST', PATH, { ...JSON_TYPE, 'x-api-key': key }, body)
  t.equal((await ask(batch(7))).headers['x-ratelimit-remaining'], '3')
  const refused = await ask(batch(4))
  t.equal(refused.status, 429)
  t.match(refused.text, /"code":-32429,.*"limit":10/)
  t.ok(Number(refused.headers['retry-after']) > 0)
  t.match(refused.text, /"id":null\}$/)
  t.equal((await ask(batch(3))).status, 200, 'the refused ones were not counted')
  const single = await ask('{"jsonrpc":"2.0","id":"a \\u00e9","method":"getSlot","params":[{}]}')
  t.match([single.status, single.text], [429, /"id":"a \\u00e9"\}$/], 'a single request has its id')
  t.equal((await ask('{')).status, 429, 'a body that cannot be read costs one')
})

t.test('a body that cannot be taken is refused with a JSON-RPC error', async (t) => {
  const app = await marketApp(t)
  const key = await app.makeKey(['rpc:read', 'rpc:send'])
  const ask = (body: string, headers: Record<string, string> = JSON_TYPE) =>
    app.ask('POST', PATH, { ...headers, 'x-api-key': key }, body)
  const cases: readonly (readonly [string, Awaited<ReturnType<typeof ask>>, number, RegExp])[] = [
    ['257 KiB', await ask(' '.repeat(257 * 1024)), 413, /-32600,"message":"request body too large"/],
    ['a batch of 101', await ask(`[${Array(101).fill('1').join(',')}]`), 413, /batch too large.*"limit":100/],
    ['text', await ask(SLOT, { 'content-type': 'text/plain' }), 415, /-32600/],
    [
      'gzip',
      await ask(gzipSync(SLOT).toString('latin1'), { ...JSON_TYPE, 'content-encoding': 'gzip' }),
      415,
      /must not be compressed/
    ],
    ['nothing', await ask(''), 200, /-32700/],
    ['[[]]', await ask('[[]]'), 200, /^\[\{"jsonrpc":"2.0","error":\{"code":-32600/],
    ['a rejected method', await ask(SLOT.replace('getSlot', 'getSupply')), 403, /-32601.*"see"/],
    ['a notification', await ask('{"jsonrpc":"2.0","method":"getSlot"}'), 204, /^$/]
  ]
  for (const [name, { status, text }, expected, pattern] of cases) {
    t.equal(status, expected, name)
    t.match(text, pattern, name)
  }
  app.draining = true
  const draining = await ask(SLOT)
  t.equal(draining.status, 503)
  t.match(draining.text, /-32603.*"retryable":true/)
})

t.test(
  'a process without a node refuses what needs one for good, each element of a batch by itself',
  async (t) => {
    const app = await marketApp(t, undefined, { rpc: fakeRpc(null) })
    const key = await app.makeKey(['rpc:read'])
    const ask = (body: string) => app.ask('POST', PATH, { ...JSON_TYPE, 'x-api-key': key }, body)
    const error =
      '{"code":-32603,"message":"this service has no node","data":{"code":"not_configured","retryable":false}}'
    const single = await ask(SLOT)
    t.same(
      [single.status, single.text, single.headers['retry-after']],
      [501, `{"jsonrpc":"2.0","error":${error},"id":7}`, undefined]
    )
    const batch = await ask(`[${SLOT},{"jsonrpc":"2.0","id":"b","method":"getGenesisHash"},1]`)
    t.equal(batch.status, 200)
    t.match(JSON.parse(batch.text), [
      { id: 7, error: JSON.parse(error) as object },
      { id: 'b', result: /./ },
      { id: null, error: { code: -32600 } }
    ])
    t.equal((await ask(SLOT.replace('getSlot', 'getSupply'))).status, 403, 'rejected methods stay rejected')
    t.match((await ask(SLOT.replace('getSlot', 'getNothing'))).text, /-32601/)
    t.match(await app.get('/openrpc.json'), { status: 503, body: { code: 'not_served_here' } })
  }
)

t.test(
  'header fields say what answered; equal reads are one request, kept until the next slot',
  async (t) => {
    let newest = 5
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return resultOf('{"context":{"slot":5},"value":0}', 5)
    }
    const upstreams = { ...fakeUpstreams(slow), newest: () => newest }
    const app = await marketApp(t, undefined, { rpc: fakeRpc(upstreams) })
    const key = await app.makeKey(['rpc:read'])
    const ask = () =>
      app.ask(
        'POST',
        PATH,
        { ...JSON_TYPE, 'x-api-key': key },
        '{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["x"]}'
      )
    const said = async () => {
      const { headers } = await ask()
      return [headers['x-millrace-cache'], headers['x-millrace-age-ms'], headers['x-millrace-slot']]
    }
    const both = (await Promise.all([ask(), ask()])).map(({ headers }) => headers['x-millrace-cache'])
    t.same(both.toSorted(), ['joined', 'miss'])
    t.same(await said(), ['hit', '0', '5'])
    newest = 6
    t.same(await said(), ['miss', undefined, '5'])
    t.same(await said(), ['miss', undefined, '5'], 'an answer that is old already is not kept')
    t.equal(upstreams.calls.length, 3)
  }
)

t.test(
  'a long answer is compressed as the client asks, and one that breaks off ends the connection',
  async (t) => {
    const pieces = Array.from({ length: 50 }, (_, at) =>
      Buffer.from(`${at === 0 ? '[' : ','}"${'x'.repeat(3_000)}"`)
    )
    let breaksAt = Infinity
    const upstreams = fakeUpstreams(() => ({
      ...resultOf(''),
      rest: (async function* () {
        for (const [at, piece] of pieces.entries()) {
          if (at === breaksAt) throw new Error('broke off')
          yield piece
        }
        yield Buffer.from(']')
      })()
    }))
    const app = await marketApp(t, undefined, { rpc: fakeRpc(upstreams) })
    const url = await app.app.listen({ port: 0, host: '127.0.0.1' })
    const key = await app.makeKey(['rpc:read'])
    const ask = (coding: string) =>
      fetch(`${url}${PATH}?api-key=${key}`, {
        method: 'POST',
        headers: { ...JSON_TYPE, 'accept-encoding': coding },
        body: '{"jsonrpc":"2.0","id":"i","method":"getBlock","params":[1]}'
      })
    const expected = `{"jsonrpc":"2.0","result":${Buffer.concat(pieces).toString()}],"id":"i"}`
    for (const coding of ['identity', 'gzip']) {
      breaksAt = Infinity
      const answer = await ask(coding)
      t.equal(answer.headers.get('content-encoding'), coding === 'gzip' ? 'gzip' : null)
      t.ok((await answer.text()) === expected, coding)
      breaksAt = 30
      await t.rejects(async () => (await ask(coding)).text(), `${coding}, broken off`)
    }
  }
)

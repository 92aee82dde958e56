import { gunzipSync } from 'node:zlib'
import { request } from 'node:http'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { answer, BATCH_ANSWER_CHARACTERS_MAX, runner } from '../../../src/localnet/node/json-rpc.ts'
import { method, type NodeContext } from '../../../src/localnet/node/method.ts'
import { methodNotFound } from '../../../src/localnet/node/rpc-error.ts'
import { openBank, produce } from '../bank/sending.ts'
import { post, startNode, urlOf } from './node-client.ts'

const run = (name: string): string => {
  if (name !== 'known') throw methodNotFound()
  return '"yes"'
}
const PARSE_ERROR = '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}'
const invalid = (id: string): string =>
  `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"},"id":${id}}`
const yes = (id: string): string => `{"jsonrpc":"2.0","result":"yes","id":${id}}`

t.test('a call is answered with its own id, whatever a node takes as one', async (t) => {
  for (const id of ['1', '0', '"a"', 'null', '18446744073709551615', '9007199254740993']) {
    t.equal(answer(`{"jsonrpc":"2.0","id":${id},"method":"known"}`, run), yes(id))
  }
})

t.test('a body that is no call is a parse error', async (t) => {
  const bodies = [
    '',
    '{bad',
    '1',
    '"x"',
    'null',
    'true',
    '[1]',
    '[{"jsonrpc":"2.0","id":1,"method":"known"},1]'
  ]
  for (const body of bodies) t.equal(answer(body, run), PARSE_ERROR, body)
  for (const id of ['1.5', '-1', '{}', '[]', 'true', '18446744073709551616', '1e40']) {
    t.equal(answer(`{"jsonrpc":"2.0","id":${id},"method":"known"}`, run), PARSE_ERROR, `id ${id}`)
  }
})

t.test('a call with parts that a call has not is an invalid request, under its id', async (t) => {
  t.equal(answer('{"jsonrpc":"1.0","id":1,"method":"known"}', run), invalid('1'))
  t.equal(answer('{"jsonrpc":"2.0","id":1}', run), invalid('1'))
  t.equal(answer('{"jsonrpc":"2.0","id":1,"method":1}', run), invalid('1'))
  t.equal(answer('{"jsonrpc":"2.0","id":1,"method":"known","params":"x"}', run), invalid('1'))
  t.equal(answer('{"jsonrpc":"2.0","id":1,"method":"known","more":1}', run), invalid('1'))
  t.equal(
    answer('{"id":1,"method":"known"}', run),
    '{"error":{"code":-32600,"message":"Unsupported JSON-RPC protocol version"},"id":1}'
  )
  t.equal(
    answer('{"jsonrpc":"2.0","id":7,"method":"nope"}', run),
    '{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":7}'
  )
})

t.test('notifications have no answer, and a batch of nothing has none either', async (t) => {
  t.equal(answer('{"jsonrpc":"2.0","method":"known"}', run), null)
  t.equal(answer('[{"jsonrpc":"2.0","method":"known"}]', run), null)
  t.equal(answer('[]', run), null)
})

t.test('a batch is answered in order, without its notifications', async (t) => {
  const body = `[{"jsonrpc":"2.0","id":"a","method":"known"},{"jsonrpc":"2.0","method":"known"},
    {"jsonrpc":"2.0","id":2,"method":"known"},{"jsonrpc":"2.0","id":3}]`
  t.equal(answer(body, run), `[${yes('"a"')},${yes('2')},${invalid('3')}]`)
})

t.test('a batch whose answers grow too large runs no further', async (t) => {
  const large = JSON.stringify('x'.repeat(BATCH_ANSWER_CHARACTERS_MAX / 2))
  let calls = 0
  const body = JSON.stringify([1, 2, 3, 4].map((id) => ({ jsonrpc: '2.0', id, method: 'large' })))
  const text = answer(body, () => {
    calls++
    return large
  })
  t.equal(calls, 2)
  const answers = JSON.parse(text!) as { error?: { code: number } }[]
  t.same(
    answers.map(({ error }) => error?.code),
    [undefined, undefined, -32603, -32603]
  )
})

t.test('a fault of ours is an internal error to the client, and heard of', async (t) => {
  const faults: unknown[] = []
  const fault = new Error('secret')
  const broken = method(0, 0, () => {
    throw fault
  })
  const runBroken = runner({} as NodeContext, new Map([['broken', broken]]), (error) => faults.push(error))
  t.equal(
    answer('{"jsonrpc":"2.0","id":1,"method":"broken"}', runBroken),
    '{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"},"id":1}'
  )
  t.same(faults, [fault])
})

t.test('parameters of a wrong number are refused in the words of a node', async (t) => {
  const none = method(0, 0, () => 1)
  const some = method(1, 2, () => 1)
  const exact = method(2, 2, () => 1)
  const methods = new Map([
    ['none', none],
    ['some', some],
    ['exact', exact]
  ])
  const ask = runner({} as NodeContext, methods, (error) => t.error(error))
  const message = (name: string, params?: unknown): unknown => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: name,
      ...(params === undefined ? {} : { params })
    })
    const { error, result } = JSON.parse(answer(body, ask)!) as { error?: object; result?: unknown }
    return error ?? result
  }
  const refused = (message: string, data?: string): object => ({
    code: -32602,
    message,
    ...(data === undefined ? {} : { data })
  })
  t.equal(message('none', []), 1)
  t.equal(message('none', null), 1)
  t.same(
    message('none', [{}, 1, 'x', null, true, [1]]),
    refused(
      'Invalid parameters: No parameters were expected',
      'Array([Object {}, Number(1), String("x"), Null, Bool(true), Array([Number(1)])])'
    )
  )
  for (const params of [undefined, []]) {
    t.same(message('some', params), refused('`params` should have at least 1 argument(s)'))
  }
  t.same(message('some', { a: 1 }), refused('`params` should be an array'))
  t.same(
    message('some', [1, 2, 3]),
    refused('Invalid parameters: Expected from 1 to 2 parameters.', '"Got: 3"')
  )
  t.same(message('exact'), refused('Invalid params: invalid type: null, expected a tuple of size 2.'))
  t.same(message('exact', [1]), refused('Invalid params: invalid length 1, expected a tuple of size 2.'))
})

t.test(
  'over HTTP the node takes JSON by POST at any path, and says what else it does not take',
  async (t) => {
    const node = await startNode(t, await openBank())
    const body = '{"jsonrpc":"2.0","id":1,"method":"getHealth"}'
    const ok = '{"jsonrpc":"2.0","result":"ok","id":1}\n'
    for (const path of ['/', '/any/path?x=1']) {
      const response = await fetch(urlOf(node) + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body
      })
      t.equal(response.status, 200)
      t.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
      t.equal(response.headers.get('access-control-allow-origin'), '*')
      t.equal(await response.text(), ok)
    }
    const nothing = await post(node, '[]')
    t.equal(nothing.status, 200)
    t.equal(await nothing.text(), '')
    const get = await fetch(urlOf(node))
    t.equal(get.status, 405)
    t.equal(await get.text(), 'Used HTTP Method is not allowed. POST or OPTIONS is required\n')
    t.equal((await fetch(urlOf(node), { method: 'PUT', body: 'x' })).status, 405)
    const health = await fetch(`${urlOf(node)}/health`)
    t.equal(await health.text(), 'ok')
    const options = await fetch(urlOf(node), { method: 'OPTIONS' })
    t.equal(options.status, 200)
    t.equal(options.headers.get('access-control-allow-methods'), 'POST')
    for (const headers of [{ 'content-type': 'text/plain' }, {}]) {
      const response = await fetch(urlOf(node), { method: 'POST', headers, body: Buffer.from(body) })
      t.equal(response.status, 415)
      t.equal(
        await response.text(),
        'Supplied content type is not allowed. Content-Type: application/json is required\n'
      )
    }
    const large = await post(node, ' '.repeat(50 * 1024 + 1))
    t.equal(large.status, 413)
    t.equal(await large.text(), 'request body size exceeds allowed maximum\n')
    t.equal(
      await (await post(node, body + ' '.repeat(50 * 1024 - body.length))).text(),
      ok,
      'as much as may be'
    )
  }
)

t.test('a long answer is gzipped for those who ask for it', async (t) => {
  const bank = await openBank()
  await produce(bank, 500)
  const node = await startNode(t, bank)
  const body = '{"jsonrpc":"2.0","id":1,"method":"getBlocks","params":[0,460]}'
  const ask = async (accept: string): Promise<{ coding: string | undefined; bytes: Buffer }> => {
    const sent = request(urlOf(node), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': accept }
    })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return { coding: response.headers['content-encoding'], bytes: await buffer(response) }
  }
  const plain = await ask('identity')
  t.equal(plain.coding, undefined)
  t.ok(plain.bytes.length > 1_400)
  for (const accept of ['gzip', 'br, gzip;q=0.5', 'GZIP']) {
    const zipped = await ask(accept)
    t.equal(zipped.coding, 'gzip', accept)
    t.ok(zipped.bytes.length < plain.bytes.length / 2)
    t.same(gunzipSync(zipped.bytes), plain.bytes)
  }
  for (const accept of ['gzip;q=0', 'br', '']) t.equal((await ask(accept)).coding, undefined, accept)
})

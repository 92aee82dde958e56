import * as fc from 'fast-check'
import t from 'tap'
import type { RpcReply } from '../../src/rpc/gateway.ts'
import { parseRequest } from '../../src/rpc/requests.ts'
import { BODY_BYTES_MAX } from '../../src/rpc/rpc-error.ts'
import { randomRuns } from '../random-runs.ts'
import { callerWith, fakeRpc, fakeUpstreams, resultOf } from './fake-rpc.ts'

const CALLER = callerWith(['rpc:read', 'rpc:send'])
/** Each read is answered with its own params. */
const echo = () => fakeUpstreams(({ params }) => resultOf(params ?? '"none"'))

async function answered(body: string | Buffer, caller = CALLER, parts = fakeRpc(echo())): Promise<RpcReply> {
  const request = parseRequest(Buffer.from(body), 100)
  const { signal } = new AbortController()
  return parts.gateway.answer(request, { caller, batchMax: 100, tracks: false, signal })
}

const textOf = ({ body }: RpcReply): string | null =>
  body === null ? null : (body as Buffer).toString('utf8')

const INVALID = '{"code":-32600,"message":"Invalid request"}'
const UNKNOWN = '{"code":-32601,"message":"Method not found","data":{"setting":"MILLRACE_RPC_ALLOW"}}'
const NO_VERSION = '{"code":-32600,"message":"Unsupported JSON-RPC protocol version"}'
const REJECTED =
  '{"code":-32601,"message":"Method not available: use the Data API","data":{"method":"getVoteAccounts","see":"/docs"}}'

/** An element of a batch, and its answer by the model; null for no answer. */
interface Element {
  readonly text: string
  readonly answer: string | null
  readonly isRejected: boolean
  /** Answer that stands where the whole request is rejected: a rejected notification has one too. */
  readonly rejection?: string
}

const IDS = [
  '1',
  '0',
  '-7',
  '1.50',
  '12345678901234567890123',
  '9'.repeat(400),
  `"${'x'.repeat(2_000)}"`,
  '1e400',
  '"a"',
  '"\\u0041\\n"',
  '""',
  'null',
  '"é😀"'
]
const BAD_IDS = ['true', '{}', '[]', '[1]', '{"id":1}']
const PARAMS = [
  '[]',
  '[ "x" ,1.0]',
  '{"a":[1,{"id":2}]}',
  '["\\"id\\":9",{"commitment":"confirmed"}]',
  '[[[]]]'
]
const space = fc.constantFrom('', ' ', '\n\t')

const id = fc.constantFrom<string | null>(...IDS, null)
const ok = (result: string, id: string): string => `{"jsonrpc":"2.0","result":${result},"id":${id}}`
const bad = (error: string, id: string): string => `{"jsonrpc":"2.0","error":${error},"id":${id}}`

/** Members of a request in a random order, with random white space. */
const objectOf = (members: readonly (readonly [string, string])[]) =>
  fc
    .tuple(fc.shuffledSubarray([...members], { minLength: members.length }), space)
    .map(
      ([order, gap]) =>
        `{${order.map(([key, value]) => `${gap}"${key}"${gap}:${gap}${value}`).join(',')}${gap}}`
    )

const withId = (id: string | null): [string, string][] => (id === null ? [] : [['id', id]])

const read: fc.Arbitrary<Element> = fc
  .tuple(
    id,
    fc.constantFrom<string | null>(...PARAMS, null),
    fc.constantFrom('getSlot', 'getBalance', 'getVersion')
  )
  .chain(([id, params, method]) =>
    objectOf([
      ['jsonrpc', '"2.0"'],
      ['method', `"${method}"`],
      ...withId(id),
      ...(params === null ? [] : [['params', params] as [string, string]])
    ]).map((text) => ({ text, answer: id === null ? null : ok(params ?? '"none"', id), isRejected: false }))
  )

const refused = (method: string, error: string, isRejected: boolean): fc.Arbitrary<Element> =>
  id.chain((id) =>
    objectOf([['jsonrpc', '"2.0"'], ['method', method], ...withId(id)]).map((text) => ({
      text,
      answer: id === null ? null : bad(error, id),
      isRejected,
      ...(isRejected ? { rejection: bad(error, id ?? 'null') } : {})
    }))
  )

const malformed = (members: readonly [string, string][], error = INVALID): fc.Arbitrary<Element> =>
  id.chain((id) =>
    objectOf([...members, ...withId(id)]).map((text) => ({
      text,
      answer: bad(error, id ?? 'null'),
      isRejected: false
    }))
  )

const element: fc.Arbitrary<Element> = fc.oneof<fc.MaybeWeightedArbitrary<Element>[]>(
  { weight: 4, arbitrary: read },
  refused('"getVoteAccounts"', REJECTED, true),
  refused('"getNothing"', UNKNOWN, false),
  malformed([
    ['jsonrpc', '"2.0"'],
    ['method', '5']
  ]),
  malformed([
    ['jsonrpc', '"2.0"'],
    ['method', '"getSlot"'],
    ['params', '"text"']
  ]),
  malformed([['method', '"getSlot"']], NO_VERSION),
  malformed(
    [
      ['jsonrpc', '2.0'],
      ['method', '"getSlot"']
    ],
    NO_VERSION
  ),
  fc.constantFrom(...BAD_IDS).map((id) => ({
    text: `{"jsonrpc":"2.0","method":"getSlot","id":${id}}`,
    answer: bad(INVALID, 'null'),
    isRejected: false
  })),
  fc.constantFrom('[]', '[[]]', '1', '"x"', 'null', 'true').map((text) => ({
    text,
    answer: bad(INVALID, 'null'),
    isRejected: false
  })),
  // The last of two members with one key counts, also where it is escaped.
  fc.constantFrom(...IDS).map((id) => ({
    text: `{"jsonrpc":"2.0","id":"first","method":"getSlot","\\u0069d":${id}}`,
    answer: ok('"none"', id),
    isRejected: false
  }))
)

t.test('a batch of any elements is answered as the model says, in order, to the byte', async (t) => {
  const seen = new Set<number>()
  await fc.assert(
    fc.asyncProperty(fc.array(element, { minLength: 1, maxLength: 12 }), space, async (elements, gap) => {
      const body = `${gap}[${elements.map(({ text }) => text).join(`${gap},`)}]${gap}`
      const reply = await answered(body)
      const isAllRejected = elements.every(({ isRejected }) => isRejected)
      const answers = elements.flatMap(({ answer, rejection }) => (isAllRejected ? rejection : answer) ?? [])
      const expected = answers.length === 0 ? null : `[${answers.join(',')}]`
      const status = isAllRejected ? 403 : expected === null ? 204 : 200
      seen.add(status)
      if (textOf(reply) !== expected || reply.status !== status)
        throw new Error(`${body}\n${reply.status} ${textOf(reply)}\n${status} ${expected}`)
    }),
    randomRuns(10_000)
  )
  t.same([...seen].toSorted(), [200, 204, 403], 'every status came up')
})

t.test('a single request is answered as an element is, with its own status', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      element.filter(({ text }) => !text.startsWith('[')),
      async (one) => {
        const reply = await answered(one.text)
        const status = one.isRejected ? 403 : one.answer === null ? 204 : null
        if (textOf(reply) !== (one.rejection ?? one.answer)) throw new Error(`${one.text}\n${textOf(reply)}`)
        if (status !== null && reply.status !== status) throw new Error(`${one.text}: ${reply.status}`)
      }
    ),
    randomRuns(1_000)
  )
  t.equal((await answered('{"jsonrpc":"2.0","method":"getSlot"}')).status, 204, 'a notification')
})

const NULL_ID = (error: string): string => `{"jsonrpc":"2.0","error":${error},"id":null}`

/** A call whose params have this many levels below their array. */
const nestedCall = (levels: number): string =>
  `{"jsonrpc":"2.0","id":1,"method":"getBalance","params":[${'['.repeat(levels)}${']'.repeat(levels)}]}`

t.test('a body that is no request is refused as a whole', async (t) => {
  const TOO_DEEP = '{"code":-32700,"message":"Parse error: nested deeper than 64"}'
  const PARSE = '{"code":-32700,"message":"Parse error"}'
  const cases: readonly (readonly [string, string | Buffer, number, string])[] = [
    ['empty', '', 200, PARSE],
    ['not JSON', '{"jsonrpc"', 200, PARSE],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 200, PARSE],
    ['a byte order mark', Buffer.from('\ufeff[]'), 200, PARSE],
    ['100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000), 200, TOO_DEEP],
    ['65 levels in a call', nestedCall(63), 200, TOO_DEEP],
    ['an empty array', '[]', 200, INVALID],
    ['a number', '5', 200, INVALID],
    [
      'a batch of 101',
      `[${Array.from({ length: 101 }, () => '1').join(',')}]`,
      413,
      '{"code":-32600,"message":"batch too large","data":{"limit":100}}'
    ],
    [
      '256 KiB and a byte',
      Buffer.alloc(BODY_BYTES_MAX + 1, ' '),
      413,
      '{"code":-32600,"message":"request body too large","data":{"limit":262144}}'
    ]
  ]
  t.match(textOf(await answered(nestedCall(62))), /"result"/, '64 levels are answered')
  for (const [name, body, status, error] of cases) {
    const reply = await answered(body)
    t.equal(textOf(reply), NULL_ID(error), name)
    t.equal(reply.status, status, name)
  }
})

t.test('scopes: reads need rpc:read, sends rpc:send; tracked ones tx:send too', async (t) => {
  const send = '{"jsonrpc":"2.0","id":1,"method":"sendTransaction","params":["x"]}'
  const reader = callerWith(['rpc:read'])
  const refusal = await answered(send, reader)
  t.equal(refusal.status, 403)
  t.match(textOf(refusal), /"code":-32600,"message":"this key lacks the scope rpc:send"/)
  const mixed = await answered(`[${send},{"jsonrpc":"2.0","id":2,"method":"getSlot"}]`, reader)
  t.equal(mixed.status, 200)
  t.match(textOf(mixed), /rpc:send.*"result":"none","id":2/)
  const { gateway } = fakeRpc(echo())
  const tracked = { batchMax: 100, tracks: true, signal: new AbortController().signal }
  const parsed = parseRequest(Buffer.from(send), 100)
  t.match(textOf(await gateway.answer(parsed, { ...tracked, caller: CALLER })), /lacks the scope tx:send/)
  const may = callerWith(['rpc:send', 'tx:send'])
  t.match(textOf(await gateway.answer(parsed, { ...tracked, caller: may })), /"result":"signature"/)
})

t.test('methods: history refuses processed, and the operator may allow more', async (t) => {
  const ask = (method: string, params: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
  for (const [method, params] of [
    ['getBlock', '[1,{"commitment":"processed"}]'],
    ['getBlocksWithLimit', '[1,2,{"commitment":"processed"}]'],
    ['getTransaction', '["x",{"commitment":"processed"}]'],
    ['getSignaturesForAddress', '["x",{"commitment":"processed"}]']
  ] as const)
    t.match(textOf(await answered(ask(method, params))), /-32602,"message":"Method does not support/, method)
  t.match(
    textOf(await answered(ask('getIdentity', '[]'))),
    /-32601.*"data":\{"setting":"MILLRACE_RPC_ALLOW"\}/
  )
  t.notMatch(textOf(await answered(ask('slotsUpdatesSubscribe', '[]'))), /setting/, 'which no setting adds')
  const open = fakeRpc(echo(), ['getIdentity', 'getSupply'])
  t.match(textOf(await answered(ask('getIdentity', '[7]'), CALLER, open)), /"result":\[7\]/)
  t.equal((await answered(ask('getSupply', '[]'), CALLER, open)).status, 403, 'rejected all the same')
  t.equal((await answered(ask('getInflationReward', '[]'))).status, 403, 'by its prefix')
  t.match(textOf(await answered(ask('getGenesisHash', '[]'))), /5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d/)
})

t.test(
  'minContextSlot, and the newest slot that the key has seen, are the least slot that nodes are asked for',
  async (t) => {
    const upstreams = fakeUpstreams(() => resultOf('{"context":{"slot":70},"value":1}', 70))
    const parts = fakeRpc({ ...upstreams, newest: () => null })
    const ask = (config: object, key = 'key', method = 'getBalance') =>
      answered(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: ['x', config] }),
        callerWith(['rpc:read'], key),
        parts
      )
    await ask({ commitment: 'confirmed', minContextSlot: 60 })
    await ask({ commitment: 'confirmed', minContextSlot: 65 })
    await ask({ commitment: 'confirmed', minContextSlot: 75 })
    await ask({ commitment: 'processed' })
    await ask({ commitment: 'finalized' })
    await ask({ commitment: 'confirmed' }, 'another')
    await ask({ commitment: 'confirmed', minContextSlot: 'x' }, 'another')
    await ask({ commitment: 'confirmed' }, 'key', 'getSignaturesForAddress')
    t.same(
      upstreams.calls.map(({ commitment, minSlot }) => [commitment, minSlot]),
      [
        ['confirmed', 60],
        ['confirmed', 70],
        ['confirmed', 75],
        ['processed', 70],
        ['finalized', 0],
        ['confirmed', 0],
        ['confirmed', 70],
        ['confirmed', 0]
      ]
    )
  }
)

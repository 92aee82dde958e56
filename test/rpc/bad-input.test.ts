import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import t from 'tap'
import { MirroredAccounts, type MirroredAnswer } from '../../src/rpc/mirrored-accounts.ts'
import { listeningApp, type ListeningApp } from '../http/raw-client.ts'
import { ALL_FINALIZED, fakeRpc, fakeUpstreams } from './fake-rpc.ts'

const PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const PARSE = { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' }, id: null }
const INVALID = { jsonrpc: '2.0', error: { code: -32600, message: 'Invalid request' }, id: null }
const call = (members: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot', ...members })
const text = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"getSlot"}`
const programAccounts = (config: object): string =>
  call({ method: 'getProgramAccounts', params: [PROGRAM, config] })
/** 100 MB that take 100 KB. */
const bomb = gzipSync(Buffer.alloc(100_000_000, ' '))

interface Case {
  readonly name: string
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
  /** The answer, as parsed JSON. */
  readonly answer: unknown
}

const refusal = (code: number, message: string | RegExp, data?: object): object => ({
  error: { code, message, ...(data !== undefined && { data }) },
  id: null
})

const CASES: readonly Case[] = [
  { name: 'an empty body', body: '', status: 200, answer: PARSE },
  { name: 'an empty array', body: '[]', status: 200, answer: INVALID },
  { name: '[[]]', body: '[[]]', status: 200, answer: [INVALID] },
  {
    name: 'a batch of 101',
    body: `[${Array(101).fill(call({})).join(',')}]`,
    status: 413,
    answer: refusal(-32600, 'batch too large', { limit: 100 })
  },
  {
    name: 'a body of 257 KiB',
    body: call({ params: ['x'.repeat(257 * 1024)] }),
    status: 413,
    answer: refusal(-32600, 'request body too large', { limit: 262_144 })
  },
  { name: 'a number as method', body: call({ method: 5 }), status: 200, answer: { ...INVALID, id: 1 } },
  { name: 'params as text', body: call({ params: 'x' }), status: 200, answer: { ...INVALID, id: 1 } },
  ...['1', '-0.5', '1e3', '"x"', '""', 'null', '18446744073709551616'].map((id) => ({
    name: `the id ${id}`,
    body: text(id),
    status: 200,
    answer: `{"jsonrpc":"2.0","result":1,"id":${id}}`
  })),
  ...['true', 'false', '{}', '[]', '[1]'].map((id) => ({
    name: `the id ${id}`,
    body: text(id),
    status: 200,
    answer: INVALID
  })),
  {
    name: 'an unknown encoding of accounts of the mirror',
    body: programAccounts({ encoding: 'base65' }),
    status: 200,
    answer: {
      error: { code: -32602, message: /encoding is an unknown variant, expected one of binary, base58/ },
      id: 1
    }
  },
  {
    name: 'five filters',
    body: programAccounts({ filters: Array(5).fill({ dataSize: 1 }) }),
    status: 200,
    answer: { error: { code: -32602, message: /^Invalid params: filters must not .* more than 4$/ }, id: 1 }
  },
  ...(
    [
      [{ filters: [{ dataSize: 1 }, { memcmp: { offset: '3', bytes: '1' } }] }, 'filters[1].memcmp.offset'],
      [{ filters: [{ dataSize: '3' }] }, 'filters[0].dataSize'],
      [{ filters: [{ memcmp: { offset: 0, bytes: '0OIl' } }] }, 'filters[0].memcmp.bytes'],
      [{ filters: 5 }, 'filters'],
      [{ dataSlice: { offset: '3', length: 1 } }, 'dataSlice.offset'],
      [{ dataSlice: { offset: 3, length: '1' } }, 'dataSlice.length'],
      [{ dataSlice: { offset: 3 } }, 'dataSlice.length'],
      [{ dataSlice: '3:1' }, 'dataSlice'],
      [{ minContextSlot: '5' }, 'minContextSlot'],
      [{ withContext: 'true' }, 'withContext'],
      [{ sortResults: 1 }, 'sortResults'],
      [{ commitment: 'processed' }, 'commitment'],
      [{ commitment: 'rooted' }, 'commitment'],
      [{ commitment: 5 }, 'commitment'],
      [{ filters: ['tokenAccount'] }, 'filters[0]'],
      [{ filters: [{ memcmp: { offset: 0, bytes: [1, 256] } }] }, 'filters[0].memcmp.bytes[1]']
    ] as const
  ).map(([config, field]) => ({
    name: `accounts of the mirror with a wrong ${field}`,
    body: programAccounts(config),
    status: 200,
    answer: {
      error: {
        code: -32602,
        message: new RegExp(`^Invalid params: ${field.replaceAll(/[[\].]/g, '\\$&')} must `),
        data: { field: `params[1].${field}` }
      },
      id: 1
    }
  })),
  {
    name: 'a gzip bomb',
    body: bomb,
    headers: { 'content-encoding': 'gzip' },
    status: 415,
    answer: refusal(-32600, 'the body must not be compressed')
  },
  { name: 'a gzip bomb that is not declared', body: bomb, status: 200, answer: PARSE },
  {
    name: 'a key in two places that differ',
    body: call({}),
    headers: { authorization: 'Bearer mr_live_another' },
    status: 401,
    answer: refusal(-32600, /differ|several|more than one/i)
  }
]

t.test('each bad input has its answer, and other clients do not notice', async (t) => {
  const accounts = {
    answer: (params: unknown, signal: AbortSignal): Promise<MirroredAnswer> =>
      new MirroredAccounts(app.storage, () => undefined, ALL_FINALIZED).answer(params, signal)
  }
  const app: ListeningApp = await listeningApp(t, (storage) => storage, {
    rpc: fakeRpc(fakeUpstreams(), [], accounts),
    // As in production: at the log level of the other tests the framework answers all, and logs it.
    logger: pino({ level: 'silent' })
  })
  const key = await app.makeKey(['rpc:read'])
  const post = async (
    body: string | Uint8Array<ArrayBuffer>,
    headers: Readonly<Record<string, string>> = {}
  ) => {
    const answer = await fetch(`http://127.0.0.1:${app.port}/v1/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
      body
    })
    return { status: answer.status, text: await answer.text() }
  }
  // Another client sends requests meanwhile.
  let isOver = false
  const other = (async () => {
    let answers = 0
    for (; !isOver; answers++) {
      const { status, text } = await post(call({ id: answers }))
      if (status !== 200 || text !== `{"jsonrpc":"2.0","result":1,"id":${answers}}`) throw new Error(text)
    }
    return answers
  })()
  const before = process.memoryUsage().rss
  for (const { name, body, headers, status, answer } of CASES) {
    const got = await post(body, headers)
    t.equal(got.status, status, name)
    if (typeof answer === 'string') t.equal(got.text, answer, name)
    else t.match(JSON.parse(got.text), answer, name)
  }
  isOver = true
  t.ok((await other) > 5, `${await other} answers to the other client`)
  t.ok(process.memoryUsage().rss - before < 90_000_000, 'the bomb was not unpacked')
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { makeApiKey } from '../../src/access/api-key.ts'
import { marketApp } from '../http/market-app.ts'

/** A listening service. `ask` sends header lines unchanged and returns status, code and the whole answer. */
async function listening(t: Test) {
  const app = await marketApp(t)
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as { port: number }

  async function send(bytes: string): Promise<string> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(Buffer.from(bytes, 'latin1'))
    return text(socket)
  }

  return {
    app,
    send,
    ask: async (...lines: string[]) => {
      const answer = await send(
        `GET /v1/launches HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`
      )
      return { status: Number(answer.slice(9, 12)), code: /"code":"(\w+)"/.exec(answer)?.[1], answer }
    }
  }
}

t.test(
  'a header that comes twice is refused, in whatever order and spelling, even with one key',
  async (t) => {
    const { app, ask } = await listening(t)
    const { key } = app
    const other = await app.makeKey(['data:read'])
    const wrong = makeApiKey()
    const pairs: [first: string, second: string][] = [
      [`X-API-Key: ${key}`, `X-API-Key: ${other}`],
      [`X-API-Key: ${key}`, `X-API-Key: ${key}`],
      [`X-API-Key: ${wrong}`, `X-API-Key: ${key}`],
      [`X-API-Key: ${key}`, `x-api-KEY: ${wrong}`],
      [`Authorization: Bearer ${key}`, `Authorization: Bearer ${other}`],
      [`Authorization: Bearer ${key}`, `Authorization: Bearer ${wrong}`],
      [`Authorization: Bearer ${wrong}`, `authorization: Bearer ${key}`],
      [`Authorization: Bearer ${key}`, `Authorization: Basic dXNlcjpwYXNz`],
      [`X-API-Key: ${key}`, `Authorization: Bearer ${other}`],
      [`Authorization: Bearer ${wrong}`, `X-API-Key: ${key}`]
    ]
    for (const lines of pairs) {
      const { status, code } = await ask(...lines)
      t.strictSame([status, code], [401, 'invalid_api_key'], lines.join(' | ').replaceAll(key, 'KEY'))
    }
    t.strictSame((await ask('Authorization: Basic dXNlcjpwYXNz', `Authorization: Bearer ${key}`)).status, 401)
  }
)

t.test('a key counts as a whole or not at all', async (t) => {
  const { app, ask } = await listening(t)
  const { key } = app
  const missing = [[], ['X-API-Key:'], ['X-API-Key:   '], ['Authorization: Bearer'], [`X_API_KEY: ${key}`]]
  for (const lines of missing) {
    const { status, code } = await ask(...lines)
    t.strictSame([status, code], [401, 'missing_api_key'], lines.join())
  }
  const invalid = [
    `X-API-Key: ${key},`,
    `X-API-Key: ,${key}`,
    `X-API-Key: ${key}, ${key}`,
    `X-API-Key: "${key}"`,
    `X-API-Key: ${key}\xa0`,
    `X-API-Key: \xc3\xa9`,
    `X-API-Key: ${'k'.repeat(15_000)}`,
    `Authorization: Bearer ${key},${key}`,
    `Authorization: Bearer ${key} extra`,
    `Authorization: Bearer "${key}"`,
    `Authorization: Bearer ${'k'.repeat(15_000)}`
  ]
  for (const line of invalid) {
    const { status, code, answer } = await ask(line)
    t.strictSame([status, code], [401, 'invalid_api_key'], line.slice(0, 60))
    t.notOk(answer.includes(key.slice(12)))
  }
  for (const line of [`x-api-key:${key}`, `X-API-KEY: \t ${key} \t`, `Authorization:  bearer   ${key}`])
    t.equal((await ask(line)).status, 200, line)
})

t.test('bytes that hide a header or a request are refused before a key is looked at', async (t) => {
  const { app, send } = await listening(t)
  const { key } = app
  const get = 'GET /v1/launches HTTP/1.1\r\nHost: x\r\nConnection: close\r\n'
  const hidden = [
    `${get}X-API-Key: ${key}\r\n X-API-Key: ${key}\r\n\r\n`,
    `${get}X-API-Key : ${key}\r\n\r\n`,
    `${get}X-API-Key: ${key}\0\r\n\r\n`,
    `${get}X-API-Key: ${key.slice(0, 10)}\n${key.slice(10)}\r\n\r\n`,
    `${get}X-API-Key: ${key}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${get}X-API-Key: ${key}\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd`,
    `${get}X-API-Key: ${'k'.repeat(20_000)}\r\n\r\n`
  ]
  for (const bytes of hidden) {
    const answer = await send(bytes)
    t.match(answer, /^HTTP\/1\.1 4\d\d /, JSON.stringify(bytes.slice(60, 130)))
    t.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1, 'one answer')
    t.notOk(answer.includes(key.slice(12)))
  }
})

t.test('a key in the URL opens nothing', async (t) => {
  const { app, send } = await listening(t)
  const names = ['api-key', 'key', 'api_key', 'X-API-Key', 'access_token', 'token']
  for (const name of names) {
    const answer = await send(
      `GET /v1/launches?${name}=${app.key} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
    )
    t.match(answer, /^HTTP\/1\.1 401 /, name)
    t.notOk(answer.includes(app.key.slice(12)))
  }
  const userinfo = `GET http://${app.key}@x/v1/launches HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
  t.match(await send(userinfo), /^HTTP\/1\.1 40[14] /)
})

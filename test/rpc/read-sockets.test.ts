import * as fc from 'fast-check'
import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { AnswerBody, type ResponseStart } from '../../actors/rpc/answer-body.ts'
import { ReadSockets } from '../../actors/rpc/read-sockets.ts'
import { AnswerMemory } from '../../src/kernel/memory/answer-memory.ts'
import { Pool } from '../../src/node/undici.ts'
import { randomRuns } from '../random-runs.ts'
import { until } from '../until.ts'

const clock = { now: () => Date.now() }

/** A server that answers each request by the bytes that a function gives, in the pieces that it gives. */
async function byteServer(
  t: Test,
  respond: (socket: Socket, body: string, request: number) => void
): Promise<{ readonly origin: string; readonly server: Server; readonly sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  let requests = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8')
      for (;;) {
        const end = text.indexOf('\r\n\r\n')
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
        if (end < 0 || Buffer.byteLength(text) < end + 4 + length) return
        const body = text.slice(end + 4, end + 4 + length)
        text = text.slice(end + 4 + length)
        respond(socket, body, requests++)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, sockets }
}

interface Answered {
  readonly status: number
  readonly text: string
}

/** Sends reads as a link to a node does; counts those that went to the complete client. */
function clientOf(t: Test, origin: string, connections = 4, stallMs = 2_000) {
  const counts = { resent: 0 }
  const headers = { 'content-type': 'application/json' }
  const pool = new Pool(origin, { connections, headersTimeout: stallMs, bodyTimeout: stallMs })
  const options = { origin, path: '/', headers, connections, connectMs: 1_000, stallMs }
  const sockets = new ReadSockets(options, clock)
  t.teardown(async () => {
    sockets.close()
    await pool.destroy()
  })
  const memory = new AnswerMemory()
  const send = (body: string, isFast: boolean): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const limits = { windowBytes: 1_000, bytesMax: 1_000_000, memory }
      const answer = new AnswerBody(limits, (outcome: ResponseStart | Error) => {
        if (outcome instanceof Error) return reject(outcome)
        textOf(outcome).then((text) => resolve({ status: outcome.status, text }), reject)
      })
      const dispatch = (): void => void pool.dispatch({ method: 'POST', path: '/', headers, body }, answer)
      if (!isFast) return dispatch()
      sockets.post(body, answer, () => {
        counts.resent++
        dispatch()
      })
    })
  return { send, counts, sockets, memory }
}

async function textOf({ bytes, rest }: ResponseStart): Promise<string> {
  const chunks = [bytes]
  for await (const chunk of rest?.chunks() ?? []) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const responseOf = (body: string | Buffer, ...fields: string[]): Buffer =>
  Buffer.concat([
    Buffer.from(['HTTP/1.1 200 OK', `content-length: ${body.length}`, ...fields, '', ''].join('\r\n')),
    Buffer.from(body)
  ])

t.test('reads share persistent connections, each with the answer to its own body', async (t) => {
  const connected = new Set<Socket>()
  const { origin } = await byteServer(t, (socket, body) => {
    connected.add(socket)
    // Answers arrive in another order than requests.
    setTimeout(() => socket.write(responseOf(`answer to ${body}`)), Number(body) % 7)
  })
  const { send, counts, memory } = clientOf(t, origin)
  const bodies = Array.from({ length: 200 }, (_, at) => String(at))
  const answers = await Promise.all(bodies.map((body) => send(body, true)))
  t.same(
    answers.map(({ text }) => text),
    bodies.map((body) => `answer to ${body}`)
  )
  t.same([counts.resent, connected.size], [0, 4], 'four connections, and no other client')
  t.equal(memory.bytes, 0)
})

t.test('a response of unusual form ends the socket, and its read goes to the complete client', async (t) => {
  const { origin, sockets } = await byteServer(t, (socket, body) => {
    socket.write(
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    )
  })
  const client = clientOf(t, origin)
  t.equal((await client.send('"chunks"', true)).text, '"chunks"')
  t.equal(client.counts.resent, 1)
  t.equal(client.sockets.isOn, false, 'for a while all reads go there')
  await until(() => sockets.size === 1)
})

t.test('bytes that belong to no answer end the socket', async (t) => {
  const { origin, sockets } = await byteServer(t, (socket, body) => {
    if (body === 'ahead') socket.write(Buffer.concat([responseOf('first'), responseOf('forged')]))
    else if (body === 'late') {
      socket.write(responseOf('second'))
      setTimeout(() => socket.write(responseOf('forged')), 20)
    } else socket.write(responseOf(body))
  })
  const ahead = clientOf(t, origin)
  t.equal((await ahead.send('late', true)).text, 'second')
  await until(() => sockets.size === 0)
  t.equal((await ahead.send('next', true)).text, 'next', 'and never the forged answer')
  await ahead.send('ahead', true).catch(() => null)
  t.equal(ahead.counts.resent, 1, 'two answers to one request are not trusted')
})

t.test('a connection that the node closed while idle costs no answer', async (t) => {
  const { origin, sockets } = await byteServer(t, (socket, body, request) => {
    if (request === 1) return void socket.destroy()
    socket.write(responseOf(body))
  })
  const { send, counts } = clientOf(t, origin)
  t.equal((await send('a', true)).text, 'a')
  t.equal((await send('b', true)).text, 'b', 'the connection was closed on the request')
  t.equal(counts.resent, 1)
  for (const socket of sockets) socket.destroy()
  t.equal((await send('c', true)).text, 'c')
})

t.test('a node that breaks off or stalls within an answer is a fault', async (t) => {
  const { origin } = await byteServer(t, (socket, body) => {
    const bytes = responseOf('x'.repeat(100))
    if (body === 'breaks') socket.end(bytes.subarray(0, 80))
    else if (body === 'longer') socket.write(Buffer.concat([bytes, Buffer.from('more')]))
    else socket.write(bytes.subarray(0, Number(body)))
  })
  const { send } = clientOf(t, origin, 4, 200)
  await t.rejects(send('breaks', true), { code: 'ECONNRESET' })
  for (const length of [10, 60]) await t.rejects(send(String(length), true), { code: 'UND_ERR_BODY_TIMEOUT' })
})

t.test('a read that is aborted, waiting or in flight, leaves no other read without its answer', async (t) => {
  const { origin } = await byteServer(t, (socket, body) => {
    if (body !== 'silent') setTimeout(() => socket.write(responseOf(body)), 5)
  })
  const options = { origin, path: '/', headers: {}, connections: 1, connectMs: 1_000, stallMs: 5_000 }
  const sockets = new ReadSockets(options, clock)
  t.teardown(() => sockets.close())
  const memory = new AnswerMemory()
  const post = (body: string): { readonly answer: AnswerBody; readonly done: Promise<string> } => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const limits = { windowBytes: 1_000, bytesMax: 1_000, memory }
    const answer = new AnswerBody(limits, (outcome) =>
      resolve(outcome instanceof Error ? outcome.message : outcome.bytes.toString('utf8'))
    )
    sockets.post(body, answer, () => resolve('resent'))
    return { answer, done: promise }
  }
  const all = ['silent', 'waiting', 'a', 'b'].map(post)
  all[1]!.answer.abort(new Error('left while waiting'))
  all[0]!.answer.abort(new Error('left in flight'))
  t.same(await Promise.all(all.map(({ done }) => done)), ['left in flight', 'left while waiting', 'a', 'b'])
})

t.test('an answer that waits for its reader holds back no later read of the socket', async (t) => {
  const long = 'x'.repeat(600_000)
  const { origin } = await byteServer(t, (socket, body) => {
    socket.write(responseOf(body === 'long' ? long : body))
  })
  const { send } = clientOf(t, origin, 1)
  const [a, b, c] = await Promise.all([send('long', true), send('b', true), send('long', true)])
  t.ok(a.text === long && c.text === long)
  t.equal(b.text, 'b')
})

/** A response in pieces: of the usual form, or broken in one of the ways that servers and attackers know. */
const response = fc.record({
  status: fc.constantFrom(200, 200, 200, 400, 429, 500),
  body: fc.string({ maxLength: 300 }),
  isPacked: fc.boolean(),
  shape: fc.constantFrom(
    'usual',
    'usual',
    'usual',
    'chunked',
    'two lengths',
    'two equal lengths',
    'both framings',
    'no length',
    'folded',
    'closing',
    'HTTP/1.0'
  ),
  cuts: fc.array(fc.nat({ max: 400 }), { maxLength: 4 })
})

t.test('whatever a node sends, a read gets what the complete client makes of it', async (t) => {
  let current: Buffer[] = []
  let ends = false
  const { origin } = await byteServer(t, (socket) => {
    for (const piece of current) socket.write(piece)
    if (ends) socket.end()
  })
  let compared = 0
  await fc.assert(
    fc.asyncProperty(response, async ({ status, body, isPacked, shape, cuts }) => {
      const client = clientOf(t, origin, 1, 1_000)
      const isGzip = isPacked && shape !== 'chunked'
      const bytes = isGzip ? gzipSync(body) : Buffer.from(body)
      const fields = [`HTTP/1.${shape === 'HTTP/1.0' ? 0 : 1} ${status} Text`]
      if (isGzip) fields.push('content-encoding: gzip')
      if (shape === 'folded') fields.push('x-folded: a', ' b')
      if (shape === 'chunked' || shape === 'both framings') fields.push('transfer-encoding: chunked')
      if (shape !== 'chunked' && shape !== 'no length') fields.push(`content-length: ${bytes.length}`)
      if (shape === 'two lengths') fields.push(`content-length: ${bytes.length + 1}`)
      if (shape === 'two equal lengths') fields.push(`content-length: ${bytes.length}`)
      if (shape === 'closing') fields.push('connection: close')
      const framed =
        shape !== 'chunked' && shape !== 'both framings'
          ? bytes
          : Buffer.concat([
              Buffer.from(bytes.length === 0 ? '' : `${bytes.length.toString(16)}\r\n`),
              bytes,
              Buffer.from(bytes.length === 0 ? '0\r\n\r\n' : '\r\n0\r\n\r\n')
            ])
      const whole = Buffer.concat([Buffer.from(`${fields.join('\r\n')}\r\n\r\n`), framed])
      const places = [...new Set([0, ...cuts.filter((at) => at < whole.length), whole.length])].toSorted(
        (a, b) => a - b
      )
      current = places.slice(1).map((to, at) => whole.subarray(places[at], to))
      ends = ['closing', 'HTTP/1.0', 'no length'].includes(shape)
      const outcome = (isFast: boolean): Promise<Answered | 'fault'> =>
        client.send('{}', isFast).catch(() => 'fault' as const)
      const expected = await outcome(false)
      const found = await outcome(true)
      compared++
      // The body of a refusal is not read, unless it arrives in the usual form.
      const isBodiless = status >= 429 && ['chunked', 'both framings', 'no length'].includes(shape)
      if (isBodiless) {
        if (found === 'fault' || found.status !== status)
          throw new Error(`${shape}: ${JSON.stringify(found)}, not the status ${status}`)
      } else if (JSON.stringify(found) !== JSON.stringify(expected))
        throw new Error(`${shape}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`)
      client.sockets.close()
    }),
    randomRuns(300)
  )
  t.ok(compared >= 300)
})

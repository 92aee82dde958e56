import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { linesWith, OVERSTAYED } from './asking.ts'
import { recordedBlocks, writeLines } from './recorded-folder.ts'
import { ADMIN_KEY, startProcess, type ServiceProcess } from './service-process.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
const PATHS = ['/v1/launches?limit=500', `/v1/tokens/${WSOL}/trades?limit=1000`, `/v1/tokens/${WSOL}/price`]

/** Resolves once the connection has received something, or has ended. */
const heard = (socket: Socket): Promise<unknown> =>
  Promise.race([once(socket, 'readable'), once(socket, 'close')])

async function open(service: ServiceProcess): Promise<Socket> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  return socket
}

const requestOf = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN_KEY}\r\n\r\n`

/** Returns the status of a complete response. Throws if it is incomplete. */
function wholeStatus(response: string): number {
  const split = response.indexOf('\r\n\r\n')
  const length = Number(/content-length: (\d+)/i.exec(response)?.[1])
  const body = response.slice(split + 4)
  if (Buffer.byteLength(body) !== length) throw new Error(`${Buffer.byteLength(body)} of ${length} bytes`)
  JSON.parse(body)
  return Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1])
}

testWithFixtures(
  t,
  'under load, SIGTERM answers every request that was sent, and ends within the deadline',
  async (t) => {
    const directory = t.testdir({ blocks: {}, data: {} })
    writeLines(join(directory, 'blocks'), 'all.ndjson', recordedBlocks(80))
    const service = await startProcess({
      dataDir: join(directory, 'data'),
      recordedDir: join(directory, 'blocks')
    })
    await service.said(/the source has no more blocks/)

    // Clients send one request after another until the port is closed; each answer must be complete.
    const outcomes = { ok: 0, draining: 0, refused: 0, other: [] as string[] }
    let signalled = false
    const caller = async (): Promise<void> => {
      for (let i = 0; ; i++) {
        try {
          const { status, body } = await service.get(PATHS[i % PATHS.length]!)
          if (status === 200) outcomes.ok++
          else if (status === 503 && body.code === 'draining') outcomes.draining++
          else outcomes.other.push(`${status}`)
        } catch (error) {
          const { code } = (error as Error).cause as { code?: string }
          if (signalled && (code === 'ECONNREFUSED' || code === 'ECONNRESET' || code === 'UND_ERR_SOCKET'))
            outcomes.refused++
          else outcomes.other.push(String(code))
          return
        }
      }
    }
    const callers = Array.from({ length: 6 }, caller)
    const sockets = await Promise.all(Array.from({ length: 30 }, () => open(service)))
    const answers = sockets.map((socket) => text(socket))
    while (outcomes.ok < 50) await new Promise((resolve) => setImmediate(resolve))
    for (const [index, socket] of sockets.entries()) socket.write(requestOf(PATHS[index % PATHS.length]!))
    // The first of them is answered, so all of them have arrived.
    await heard(sockets.at(-1)!)
    signalled = true
    const end = await service.end('SIGTERM')
    t.match(end, { code: 0, signal: null })
    t.equal(linesWith(service, OVERSTAYED), 0, 'nothing was killed at its deadline')
    const statuses = (await Promise.all(answers)).map(wholeStatus)
    t.ok(
      statuses.every((status) => status === 200 || status === 503),
      'each sent request has a whole answer'
    )
    t.ok(statuses.includes(200))
    await Promise.all(callers)
    t.strictSame(outcomes.other, [])
    t.equal(outcomes.refused, 6, 'at the end nobody listens')
    t.comment(outcomes)
  }
)

t.test(
  'a drain does not wait for connections that ask for nothing, silent ones and half a request among them',
  async (t) => {
    const directory = t.testdir({ blocks: {}, data: {} })
    const service = await startProcess({
      dataDir: join(directory, 'data'),
      recordedDir: join(directory, 'blocks')
    })
    const silent = await open(service)
    const half = await open(service)
    half.write('GET /v1/launches HTTP/1.1\r\nhost: x\r\n')
    const kept = await open(service)
    kept.write(requestOf('/v1/launches'))
    await heard(kept)
    t.match(await service.end('SIGTERM'), { code: 0 })
    t.equal(linesWith(service, OVERSTAYED), 0, 'nothing was killed at its deadline')
    for (const socket of [silent, half, kept]) socket.destroy()
  }
)

t.test(
  'a request that comes while another is still being answered is told that the service drains',
  async (t) => {
    const directory = t.testdir({ blocks: {}, data: {} })
    const service = await startProcess({
      dataDir: join(directory, 'data'),
      recordedDir: join(directory, 'blocks')
    })
    const slow = await open(service)
    const late = await open(service)
    const health = await open(service)
    slow.write(
      'POST /v1/launches HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n'
    )
    // Half of each request, because a server may close a connection without received bytes.
    for (const [socket, path] of [
      [late, '/v1/launches'],
      [health, '/v1/health']
    ] as const)
      socket.write(requestOf(path).slice(0, -2))
    // An answer on another connection shows that they have arrived.
    await service.get('/v1/launches')
    const answers = [slow, late, health].map((socket) => text(socket))
    const ended = service.end('SIGTERM')
    await service.said(/draining/)
    for (const socket of [late, health]) socket.write('\r\n')
    const [answer, status] = await Promise.all(answers.slice(1))
    t.equal(wholeStatus(answer!), 503)
    t.match(answer, /"code":"draining"/)
    t.match(answer, /connection: close/i)
    t.match(status, /"status":"draining"/)
    slow.write('{}')
    t.equal(wholeStatus((await answers[0])!), 405, 'what was accepted is answered')
    t.match(await ended, { code: 0 })
  }
)

import { EventEmitter, once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTask } from 'node:timers/promises'
import fc from 'fast-check'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { cachedFastPath } from '../../src/kernel/http/cached-fast-path.ts'
import { endpoint } from '../../src/kernel/http/endpoint.ts'
import { wholeNumber } from '../../src/kernel/http/parameters.ts'
import { GatheredText } from '../../src/kernel/http/gathered-text.ts'
import { Rendering } from '../../src/kernel/http/rendering.ts'
import { requestIds } from '../../src/kernel/http/request-id.ts'
import { serveCached } from '../../src/kernel/http/serve-cached.ts'
import { RecycledBuffers } from '../../src/kernel/memory/recycled-buffers.ts'
import { randomRuns } from '../random-runs.ts'
import { marketApp } from './market-app.ts'

const LONG = 20_000
const textOf = (letter: string): Buffer => Buffer.from(letter.repeat(LONG))
const response = (): Pick<ServerResponse, 'once'> & EventEmitter => new EventEmitter() as never
const rendered = (letter: string): Rendering => {
  const text = new GatheredText()
  text.add(letter.repeat(LONG))
  return Rendering.ofGathered(text)
}
const memoryOf = (rendering: Rendering): ArrayBufferLike => (rendering.payload as Buffer).buffer

t.test(
  'the memory of a long answer is used again once it is released and no response sends it',
  async (t) => {
    const first = rendered('a')
    const memory = memoryOf(first)
    const [one, other] = [response(), response()]
    first.useFor(one)
    first.release()
    first.useFor(other)
    await nextTask()
    t.not(memoryOf(rendered('b')), memory, 'two responses send it')
    one.emit('close')
    await nextTask()
    t.not(memoryOf(rendered('c')), memory, 'one response sends it')
    t.strictSame(first.bytes, textOf('a'))
    const packing = first.pack()
    other.emit('close')
    await nextTask()
    t.not(memoryOf(rendered('d')), memory, 'it is compressed')
    await packing
    await nextTask()
    t.throws(() => first.payload, /released/)
    const next = rendered('e')
    t.equal(memoryOf(next), memory)
    t.strictSame(next.bytes, textOf('e'))
    t.equal(next.size, memory.byteLength, 'a cache counts the memory, and not the text alone')
  }
)

t.test('the memory of an answer that is not released stays its own', async (t) => {
  const kept = rendered('f')
  const sent = response()
  kept.useFor(sent)
  sent.emit('close')
  await nextTask()
  t.not(memoryOf(rendered('g')), memoryOf(kept))
  t.strictSame(kept.bytes, textOf('f'))
})

t.test('buffers are at most an eighth larger than needed, and no more are kept than the limit', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 2 ** 21 }), { maxLength: 30 }), (lengths) => {
      const buffers = new RecycledBuffers(2 ** 22)
      const taken = lengths.map((length) => buffers.take(length))
      for (const [at, { length }] of taken.entries())
        t.ok(length >= lengths[at]! && length <= lengths[at]! * (1 + 1 / 8) + 1)
      for (const buffer of taken) buffers.give(buffer)
      t.ok(buffers.bytes <= 2 ** 22)
      const kept = buffers.bytes
      const again = lengths.map((length) => buffers.take(length))
      for (const [at, { length }] of again.entries())
        t.ok(length >= lengths[at]! && length <= lengths[at]! * (1 + 1 / 8) ** 3 + 3)
      const repeated = again.filter((buffer) => taken.includes(buffer))
      t.equal(new Set(repeated).size, repeated.length, 'a buffer is given out once')
      t.equal(
        repeated.reduce((sum, { length }) => sum + length, 0),
        kept - buffers.bytes
      )
    }),
    randomRuns(50)
  )
})

t.test('a buffer for which there is no room is freed at once', async (t) => {
  const buffers = new RecycledBuffers(250)
  const [first, second, third, large] = [100, 100, 100, 300].map((length) => buffers.take(length))
  for (const buffer of [first!, second!, third!, large!]) buffers.give(buffer)
  const left = [first, second, third, large].map((buffer) => buffer!.buffer.byteLength)
  t.strictSame(
    left.map((bytes) => bytes > 0),
    [true, true, false, false]
  )
  buffers.limit(0)
  t.strictSame([first!.length, second!.length, buffers.bytes], [0, 0, 0])
})

/** Bytes of an answer: more than a socket takes from a response whose client does not read. */
const BODY = 1_000_000
const ROWS = 40
const LETTERS = 26

/** An app with answers of one letter each, of which eight fit into memory, behind the cached fast path. */
async function lettersApp(t: Test) {
  const letters = endpoint({
    path: '/v1/letters/{n}',
    tag: 'test',
    summary: 'Letters',
    scope: 'data:read',
    params: z.object({ n: wholeNumber(0, LETTERS - 1, 0) }),
    answer: z.object({ data: z.array(z.string()) })
  })
  const app = await marketApp(t, undefined, {
    answerBytes: 9 * 2 ** 20,
    onApp: ({ app }) =>
      void app.register(async (plugin) =>
        serveCached(plugin, letters, async ({ params: { n } }) => ({
          body: { data: Array.from({ length: ROWS }, () => letterOf(n).repeat(BODY / ROWS)) },
          dependsOn: [],
          changesWith: 'tags'
        }))
      )
  })
  await app.app.ready()
  const fastPath = cachedFastPath(
    { ...app.deps, logger: pino({ level: 'warn' }) },
    app.app.responseCache,
    requestIds(),
    (incoming, outgoing) => app.app.routing(incoming, outgoing)
  )
  // The system takes at most some 200 KB from a local socket, and megabytes from one of TCP.
  const directory = await mkdtemp(join(tmpdir(), 'letters-'))
  const socketPath = join(directory, 'socket')
  const server = createServer({ joinDuplicateHeaders: true }, fastPath).listen(socketPath)
  t.teardown(async () => {
    server.close()
    await rm(directory, { recursive: true, force: true })
  })
  await once(server, 'listening')
  return {
    /** Resolves with a response whose body is not read yet. */
    open: async (n: number): Promise<IncomingMessage> => {
      const sent = request({
        ...{ socketPath, path: `/v1/letters/${n}`, agent: false },
        headers: { 'x-api-key': app.key }
      }).end()
      const [received] = (await once(sent, 'response')) as [IncomingMessage]
      return received
    }
  }
}

const letterOf = (n: number): string => String.fromCharCode(97 + n)

async function lettersIn(received: IncomingMessage): Promise<Set<string>> {
  const { data } = JSON.parse(Buffer.concat(await received.toArray()).toString()) as { data: string[] }
  if (data.join('').length !== BODY) throw new Error('the body is short')
  return new Set(data.join(''))
}

t.test(
  'clients that read slowly get their own answers while others take the memory of evicted ones',
  async (t) => {
    const { open } = await lettersApp(t)
    const slow: { readonly n: number; readonly received: IncomingMessage }[] = []
    for (let n = 0; n < 12; n++) {
      // The second request is sent before the route is looked up.
      for (let repeat = 0; repeat < 2; repeat++) slow.push({ n, received: await open(n) })
      t.strictSame(await lettersIn(await open(12 + n)), new Set(letterOf(12 + n)))
    }
    for (const { n, received } of slow) t.strictSame(await lettersIn(received), new Set(letterOf(n)))
  }
)

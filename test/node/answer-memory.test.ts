import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import t, { type Test } from 'tap'
import { NODE_LINK_TUNING, NodeLink } from '../../actors/rpc/node-link.ts'
import { AnswerMemory } from '../../src/kernel/memory/answer-memory.ts'
import { nodeAddresses } from '../../src/node/node-address.ts'
import { NodeError } from '../../src/node/node-fault.ts'
import { RpcClient } from '../../src/node/rpc-client.ts'
import { systemPorts } from '../../src/ports.ts'
import { randomRuns } from '../random-runs.ts'
import { until } from '../until.ts'

const { clock } = systemPorts
const { signal } = new AbortController()
const MIB = 2 ** 20
const MAX = 32 * MIB
/** 2 GiB of spaces in 2 MB: gzip members follow each other. */
const MEMBER = gzipSync(Buffer.alloc(64 * MIB, ' '))
const BOMB = Buffer.concat(Array.from({ length: 32 }, () => MEMBER))

/** Returns the address of a node that answers with the given bytes, gzip, and resolves `started` at each request. */
async function packedNode(t: Test, answer: (id: number) => Buffer) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { id: number }
      response.on('error', () => undefined)
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(answer(id))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return nodeAddresses([`http://127.0.0.1:${(server.address() as AddressInfo).port}`])[0]!
}

const faultOf = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'none',
    (error: unknown) => (error instanceof NodeError ? error.fault.kind : String(error))
  )

t.test(
  'bombs of several nodes at once are refused, a whole answer beside them arrives, and all memory is released',
  async (t) => {
    const memory = new AnswerMemory(MAX)
    const whole = { jsonrpc: '2.0', result: 'x'.repeat(4 * MIB) }
    const bombs = await Promise.all([1, 2, 3].map(() => packedNode(t, () => BOMB)))
    const good = await packedNode(t, (id) => gzipSync(JSON.stringify({ ...whole, id })))
    const clients = [...bombs, good].map((address) => new RpcClient(address, clock, { memory }))
    t.teardown(() => Promise.all(clients.map((client) => client.close())))
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    const sampled = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers)), 5)
    t.teardown(() => clearInterval(sampled))
    const [answer, ...faults] = await Promise.all([
      clients.at(-1)!.call('getBlock', [1], { signal }),
      ...clients
        .slice(0, -1)
        .flatMap((client) => [1, 2].map(() => faultOf(client.call('getBlock', [1], { signal }))))
    ])
    t.equal(answer.result, whole.result)
    t.same(faults, Array(6).fill('memory-exceeded'))
    t.equal(memory.refused, 6)
    t.equal(memory.bytes, 0)
    t.ok(most - before < 8 * MAX, `${Math.round((most - before) / MIB)} MiB, of 12 GiB that the bombs have`)
  }
)

t.test(
  'an answer that is refused for its own length, is no gzip, or is given up releases its memory',
  async (t) => {
    const memory = new AnswerMemory(MAX)
    const address = await packedNode(t, () => BOMB)
    const client = new RpcClient(address, clock, { memory, bodyBytesMax: MIB })
    const broken = new RpcClient(await packedNode(t, () => MEMBER.subarray(0, 1_000)), clock, { memory })
    t.teardown(() => Promise.all([client.close(), broken.close()]))
    t.equal(await faultOf(client.call('getBlock', [1], { signal })), 'too-large')
    t.equal(await faultOf(broken.call('getBlock', [1], { signal })), 'garbage')
    const left = new AbortController()
    const call = client.call('getBlock', [1], { signal: left.signal })
    left.abort(new Error('left'))
    await t.rejects(call)
    t.equal(memory.bytes, 0)
    t.equal(memory.refused, 0)
  }
)

t.test(
  'a long answer to a slow client of the RPC URL holds little memory and arrives whole; one that is not read holds none',
  async (t) => {
    const memory = new AnswerMemory(2 * MIB)
    const text = JSON.stringify({ jsonrpc: '2.0', result: 'y'.repeat(16 * MIB), id: 1 })
    const link = new NodeLink(await packedNode(t, () => gzipSync(text)), clock, {
      ...NODE_LINK_TUNING,
      memory
    })
    t.teardown(() => link.close())
    const starts = await Promise.all([1, 2, 3].map(() => link.post('{"id":1}', signal)))
    await until(() => memory.bytes > 0)
    const [read, left, aborted] = starts
    await left!.rest!.chunks().return(undefined)
    aborted!.rest!.abort()
    const chunks = [read!.bytes]
    for await (const chunk of read!.rest!.chunks()) {
      chunks.push(chunk)
      await new Promise((resolve) => setImmediate(resolve))
    }
    t.ok(Buffer.concat(chunks).equals(Buffer.from(text)))
    t.equal(memory.refused, 0)
    t.equal(memory.bytes, 0)
  }
)

t.test(
  'in any order of steps the count is that of the open answers, at most the limit, and the largest is refused',
  async () => {
    const step = fc.record({
      answer: fc.nat(4),
      bytes: fc.integer({ min: 1, max: 60 }),
      kind: fc.constantFrom('add', 'add', 'release', 'close')
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const memory = new AnswerMemory(100)
        const sizes = new Map<number, number>()
        const refused: number[] = []
        const answers = Array.from({ length: 5 }, (_, at) => {
          sizes.set(at, 0)
          return memory.open(() => refused.push(at))
        })
        for (const { answer, bytes, kind } of steps) {
          if (!sizes.has(answer)) continue
          if (kind === 'close') sizes.delete(answer)
          else sizes.set(answer, kind === 'add' ? sizes.get(answer)! + bytes : 0)
          const before = refused.length
          if (kind === 'close') answers[answer]!.close()
          else answers[answer]!.add(kind === 'add' ? bytes : -answers[answer]!.bytes)
          for (const at of refused.slice(before)) {
            if (sizes.get(at) !== Math.max(...sizes.values())) return false
            sizes.delete(at)
          }
          const sum = [...sizes.values()].reduce((total, size) => total + size, 0)
          if (memory.bytes !== sum || sum > 100) return false
        }
        return memory.refused === refused.length
      }),
      randomRuns(200)
    )
  }
)

import type { ServerResponse } from 'node:http'
import { PassThrough, Writable } from 'node:stream'
import t from 'tap'
import { AnswerBody, type ResponseStart } from '../../actors/rpc/answer-body.ts'
import { AnswerMemory } from '../../src/kernel/memory/answer-memory.ts'
import { sendPieces } from '../../src/rpc/routes/rpc-reply.ts'

const PIECE_BYTES = 64 * 1024
const ANSWER_BYTES = 10_000_000
/** Bytes that may wait on each side: a quarter of a mebibyte, and the piece that exceeds it. */
const HELD_BYTES_MAX = 256 * 1024 + PIECE_BYTES
const piece = Buffer.alloc(PIECE_BYTES, 'x')
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('of a long answer a node is read no further than its reader takes, however slowly', async (t) => {
  let isPaused = false
  const controller = {
    pause: () => (isPaused = true),
    resume: () => (isPaused = false),
    abort: () => undefined
  }
  const started = Promise.withResolvers<ResponseStart | Error>()
  const body = new AnswerBody(
    { windowBytes: PIECE_BYTES, bytesMax: 2 * ANSWER_BYTES, memory: new AnswerMemory() },
    started.resolve
  )
  const node = controller as unknown as Parameters<AnswerBody['onResponseData']>[0]
  body.onRequestStart(node)
  body.onResponseStart(node, 200, {})
  let arrived = 0
  const arrive = (): void => {
    while (!isPaused && arrived < ANSWER_BYTES) {
      body.onResponseData(node, piece)
      arrived += PIECE_BYTES
    }
  }
  arrive()
  const start = await started.promise
  if (start instanceof Error || start.rest === null) return t.fail('it has not begun')
  let taken = start.bytes.length
  let held = arrived - taken
  const rest = start.rest.chunks()
  while (arrived < ANSWER_BYTES) {
    taken += ((await rest.next()).value as Buffer).length
    arrive()
    held = Math.max(held, arrived - taken)
  }
  t.ok(held <= 2 * HELD_BYTES_MAX, `${held} bytes were held`)
  await rest.return(undefined)
})

t.test('to a client that does not read, a bounded part of a long answer is written', async (t) => {
  const sent: (() => void)[] = []
  const client = new Writable({
    write: (_chunk, _encoding, done) => void sent.push(done)
  })
  let given = 0
  const pieces = async function* (): AsyncGenerator<Buffer> {
    while (given < ANSWER_BYTES) {
      given += PIECE_BYTES
      yield piece
    }
  }
  const sending = sendPieces(client as unknown as ServerResponse, pieces(), false)
  for (let n = 0; n < 500; n++) await turn()
  t.ok(given <= HELD_BYTES_MAX + PIECE_BYTES, `${given} bytes while it reads nothing`)
  let waiting = 0
  while (given < ANSWER_BYTES) {
    sent.shift()?.()
    await turn()
    waiting = Math.max(waiting, client.writableLength)
  }
  t.ok(waiting <= HELD_BYTES_MAX, `${waiting} bytes wait while it reads slowly`)
  client.destroy()
  await sending
})

t.test(
  'an answer is sent in turns of its tenant, of 64 KiB at most, however long its pieces are',
  async (t) => {
    const [client, written] = [new PassThrough(), [] as number[]]
    client.resume()
    let inTurn = 0
    const runPiece = async <T>(run: () => Promise<T>): Promise<T> => {
      inTurn++
      return run()
    }
    const write = client.write.bind(client)
    client.write = ((chunk: Buffer) => {
      written.push(chunk.length)
      return write(chunk)
    }) as typeof client.write
    const body = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.alloc(10 * PIECE_BYTES + 1)
      for (let n = 0; n < 64; n++) yield Buffer.alloc(PIECE_BYTES / 64)
    }
    await sendPieces(client as unknown as ServerResponse, body(), false, runPiece)
    t.equal(Math.max(...written), PIECE_BYTES)
    t.equal(
      written.reduce((sum, bytes) => sum + bytes, 0),
      11 * PIECE_BYTES + 1
    )
    t.equal(inTurn, 11, 'short pieces share a turn')
  }
)

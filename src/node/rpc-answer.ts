import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { isObject } from '../chain/rpc/fields.ts'
import { answerMemory, type AnswerMemory, type AnswersTooLarge } from '../kernel/memory/answer-memory.ts'

/** Large output chunks: a block of 2 MB unpacks in half the time of the default 16 KiB. */
const UNZIP_CHUNK = 1024 * 1024
const MESSAGE_MAX = 200

/** Thrown when an answer exceeds its limit; reading stops there. */
export class TooLarge extends Error {
  readonly bytesMax: number

  constructor(bytesMax: number) {
    super(`more than ${bytesMax} bytes`)
    this.bytesMax = bytesMax
  }
}

/**
 * Reads and decompresses a whole body. Its unpacked bytes count in the memory of all answers until it is returned.
 * Throws TooLarge, AnswersTooLarge, or the error of the stream or zlib.
 */
export async function readBody(
  body: Readable,
  encoding: string | string[] | undefined,
  bytesMax: number,
  memory: AnswerMemory = answerMemory
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  let refusal: AnswersTooLarge | null = null
  // Ends the body also while none of its bytes arrive.
  const held = memory.open((error) => {
    refusal = error
    body.destroy(error)
  })
  const take = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      size += chunk.length
      if (size > bytesMax) throw new TooLarge(bytesMax)
      held.add(chunk.length)
      if (refusal !== null) throw refusal
      chunks.push(chunk)
    }
  }
  try {
    if (encoding === 'gzip') await pipeline(body, createGunzip({ chunkSize: UNZIP_CHUNK }), take)
    else await take(body)
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  } catch (error) {
    throw refusal ?? error
  } finally {
    held.close()
  }
}

export type AnswerReading =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'rpc'; readonly code: number; readonly message: string }
  | { readonly kind: 'garbage'; readonly detail: string }

/** Parses a JSON-RPC response to the request with this id. A node that cannot parse a request answers with id null. */
export function resultOf(bytes: Buffer, id: number): AnswerReading {
  const value = parsed(bytes)
  return value === undefined ? noJson(bytes) : readingOf(value, id)
}

/**
 * Parses the response to a batch with consecutive ids from `first`: the readings in the order of the requests. If a
 * node refuses the whole batch, returns that one reading instead.
 */
export function resultsOf(bytes: Buffer, first: number, count: number): AnswerReading | AnswerReading[] {
  const value = parsed(bytes)
  if (value === undefined) return noJson(bytes)
  if (!Array.isArray(value)) return readingOf(value, first)
  const byId = new Map(value.filter(isObject).map((each) => [each['id'], each]))
  return Array.from({ length: count }, (_, at) => readingOf(byId.get(first + at), first + at))
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

const noJson = (bytes: Buffer): AnswerReading => ({
  kind: 'garbage',
  detail: `no JSON in ${bytes.length} bytes`
})

function readingOf(value: unknown, id: number): AnswerReading {
  if (!isObject(value)) return { kind: 'garbage', detail: 'no JSON-RPC response' }
  const { error, result } = value
  if (isObject(error) && typeof error.code === 'number') {
    const message = typeof error.message === 'string' ? error.message : 'no message'
    return { kind: 'rpc', code: error.code, message: message.slice(0, MESSAGE_MAX) }
  }
  if (result === undefined) return { kind: 'garbage', detail: 'neither a result nor an error' }
  if (value.id !== id) return { kind: 'garbage', detail: 'the answer to another request' }
  return { kind: 'result', result }
}

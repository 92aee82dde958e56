import { endedPieces, endPieces } from '../node/ended-pieces.ts'
import { errorText, ANSWER_BYTES_MAX, type RpcError } from './rpc-error.ts'
import type { UpstreamAnswer } from './upstreams.ts'

/**
 * Puts a node's value between the members that JSON-RPC requires, with the id exactly as the client wrote it. Values longer
 * than `copiedMax` are not copied.
 */
export function wrapped(
  answer: UpstreamAnswer,
  id: string,
  copiedMax = Infinity
): Buffer | AsyncIterable<Buffer> {
  const [head, tail] = around(answer.kind, id)
  const { length } = answer.bytes
  if (answer.rest === null && length > copiedMax)
    return new MadePieces([head, answer.bytes, tail], head.length + length + tail.length)
  if (answer.rest === null) return Buffer.concat([head, answer.bytes, tail])
  const { rest } = answer
  return endedPieces(pieces([head, answer.bytes], rest, tail), () => endPieces(rest))
}

/** Returns a response with an error of this service. */
export const errorBody = (error: RpcError, id: string): Buffer => Buffer.from(errorText(error, id))

/** Returns a response with a result of this service. `result` is its JSON text, or the pieces of its bytes. */
export function resultBody(result: string | readonly Buffer[], id: string): Buffer | MadePieces {
  if (typeof result === 'string') return Buffer.from(`{"jsonrpc":"2.0","result":${result},"id":${id}}`)
  const [head, tail] = around('result', id)
  return joined([head, ...result, tail])
}

/** Joins the responses of a batch. */
export function batchBody(elements: readonly (Buffer | MadePieces)[]): Buffer | MadePieces {
  const parts: Buffer[] = [OPEN]
  for (const [at, each] of elements.entries()) {
    if (at > 0) parts.push(COMMA)
    if (Buffer.isBuffer(each)) parts.push(each)
    else parts.push(...each.pieces)
  }
  parts.push(CLOSE)
  return joined(parts)
}

/** The pieces of a body that is in memory, and too long to be copied into one piece at once. */
export class MadePieces implements AsyncIterable<Buffer> {
  readonly pieces: readonly Buffer[]
  /** Bytes of all pieces. */
  readonly length: number

  constructor(pieces: readonly Buffer[], length: number) {
    this.pieces = pieces
    this.length = length
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    yield* this.pieces
  }
}

/** Longest body in bytes that is copied into one piece: 0.3 ms. */
const JOINED_BYTES_MAX = 2 ** 20

function joined(pieces: readonly Buffer[]): Buffer | MadePieces {
  const length = pieces.reduce((sum, each) => sum + each.length, 0)
  return length <= JOINED_BYTES_MAX ? Buffer.concat(pieces, length) : new MadePieces(pieces, length)
}

/** Reads a whole body. Returns null if it exceeds `bytesMax`; throws if it breaks off. */
export async function whole(
  body: Buffer | AsyncIterable<Buffer>,
  bytesMax = ANSWER_BYTES_MAX
): Promise<Buffer | MadePieces | null> {
  if (Buffer.isBuffer(body) || body instanceof MadePieces) return body.length > bytesMax ? null : body
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > bytesMax) return null
    chunks.push(chunk)
  }
  return joined(chunks)
}

const OPEN = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSE = Buffer.from(']')

const HEADS = {
  result: Buffer.from('{"jsonrpc":"2.0","result":'),
  error: Buffer.from('{"jsonrpc":"2.0","error":')
} as const

const around = (kind: UpstreamAnswer['kind'], id: string): readonly [Buffer, Buffer] => [
  HEADS[kind],
  Buffer.from(`,"id":${id}}`)
]

async function* pieces(
  first: readonly Buffer[],
  rest: AsyncIterable<Buffer>,
  tail: Buffer
): AsyncGenerator<Buffer> {
  for (const each of first) if (each.length > 0) yield each
  yield* rest
  yield tail
}

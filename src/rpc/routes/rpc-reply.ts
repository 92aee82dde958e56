import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import type { RpcReply } from '../gateway.ts'
import { MadePieces } from '../reply-body.ts'
import type { Fields } from '../../kernel/http/fields.ts'
import { afterSockets, type RunPiece } from '../../kernel/work/turns.ts'
import { GZIP_BYTES_MIN } from '../../kernel/http/respond.ts'
import { factFields } from './rpc-fields.ts'

export const RPC_TYPE = 'application/json; charset=utf-8'
/** Header field by which a client requests tracking of its transactions. */
export const TRACK_FIELD = 'x-millrace-track'
/** The fastest level: at any level the text of a block shrinks to a tenth. */
const GZIP = { level: 1 } as const
/** Maximum unsent bytes for a slow client, above which reading from the node pauses. */
const UNSENT_BYTES_MAX = 256 * 1024

const compress = promisify(gzip)

/** Tells whether a client's transactions are tracked. */
export function isTracked(headers: IncomingHttpHeaders): boolean {
  const field = headers[TRACK_FIELD]
  return field === 'true' || field === '1'
}

/** Bytes that are sent in one turn: 0.1 ms. A node's answer arrives in pieces of at most this size. */
const TURN_BYTES = 64 * 1024

/** A JSON-RPC answer as HTTP sends it: its own header fields, and its body. */
export interface RpcMessage {
  readonly status: number
  readonly fields: Fields
  /** Null if the response has no body. */
  readonly body: RpcReply['body']
  /** Whether the pieces of an arriving body are still to be compressed. */
  readonly packs: boolean
}

/** Builds the message of a reply, compressed if the client accepts gzip. */
export function messageOf(
  { status, body, facts, retryAfter = 1 }: RpcReply,
  takesGzip: () => boolean
): RpcMessage | Promise<RpcMessage> {
  const fields = ['cache-control', 'private, no-store', ...factFields(facts)]
  if (status === 502) fields.push('retry-after', String(retryAfter))
  if (body === null) {
    fields.push('vary', 'Origin')
    if (status !== 204) fields.push('content-length', '0')
    return { status, fields, body, packs: false }
  }
  fields.push('content-type', RPC_TYPE, 'vary', 'Origin, Accept-Encoding')
  if (!Buffer.isBuffer(body)) {
    const packs = takesGzip()
    if (packs) fields.push('content-encoding', 'gzip')
    else if (body instanceof MadePieces) fields.push('content-length', String(body.length))
    return { status, fields, body, packs }
  }
  if (body.length >= GZIP_BYTES_MIN && takesGzip()) return packed(status, fields, body)
  fields.push('content-length', String(body.length))
  return { status, fields, body, packs: false }
}

async function packed(status: number, fields: string[], body: Buffer): Promise<RpcMessage> {
  const bytes = await compress(body, GZIP)
  fields.push('content-encoding', 'gzip', 'content-length', String(bytes.length))
  return { status, fields, body: bytes, packs: false }
}

/**
 * Sends a body as it arrives, in turns of its tenant: a fast node delivers megabytes at once, for each of its requests. If
 * the body breaks off, the connection breaks off too, so that no client takes it for complete.
 */
export async function sendPieces(
  response: ServerResponse,
  body: AsyncIterable<Buffer>,
  packs: boolean,
  runPiece: RunPiece = afterSockets
): Promise<void> {
  try {
    // Threads compress, one piece at a time.
    if (packs) return await pipeline(Readable.from(body), createGzip(GZIP), response)
    const closed = once(response, 'close')
    closed.catch(() => undefined)
    let bytes = 0
    for await (const piece of shortPieces(body)) {
      bytes += piece.length
      if (bytes < TURN_BYTES) response.write(piece)
      else {
        bytes = 0
        await runPiece(async () => void response.write(piece))
      }
      if (response.writableLength > UNSENT_BYTES_MAX) await Promise.race([once(response, 'drain'), closed])
      if (response.destroyed) break
    }
    response.end()
  } catch {
    response.destroy()
  }
}

/** Yields pieces of at most TURN_BYTES: the pieces of a body in memory may be as long as an answer. */
async function* shortPieces(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of body)
    if (piece.length <= TURN_BYTES) yield piece
    else for (let at = 0; at < piece.length; at += TURN_BYTES) yield piece.subarray(at, at + TURN_BYTES)
}

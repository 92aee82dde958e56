import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Answers } from './answers.ts'
import type { Rendering } from './rendering.ts'

/** A body below this goes out as it is: what gzip takes and saves of it are both lost in the headers. */
const GZIP_BYTES_MIN = 1400

/** The key says whose answer it is. */
const VARY = 'Accept-Encoding, X-API-Key, Authorization'

/** Sends a kept answer: 304 to who has it already, gzip to who takes it. */
export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Rendering,
  answers: Answers,
  key: string
): FastifyReply | Promise<FastifyReply> {
  const { headers } = request
  const before = reply.getHeader('vary')
  void reply
    .header('cache-control', 'private, no-cache')
    .header('vary', before === undefined ? VARY : `${String(before)}, ${VARY}`)
  const zips = answer.bytes.length >= GZIP_BYTES_MIN && takesGzip(headers['accept-encoding'])
  const known = headers['if-none-match']
  if (known !== undefined && names(known, answer.tag)) {
    return reply
      .code(304)
      .header('etag', zips ? `"${answer.tag}-gzip"` : `"${answer.tag}"`)
      .send()
  }
  const packed = zips ? answers.packed(key, answer) : null
  if (packed instanceof Promise) return packed.then((bytes) => sendPacked(reply, answer, bytes))
  if (packed !== null) return sendPacked(reply, answer, packed)
  return reply
    .header('etag', `"${answer.tag}"`)
    .header('content-type', 'application/json; charset=utf-8')
    .send(answer.bytes)
}

function sendPacked(reply: FastifyReply, answer: Rendering, bytes: Buffer): FastifyReply {
  return reply
    .header('etag', `"${answer.tag}-gzip"`)
    .header('content-encoding', 'gzip')
    .header('content-type', 'application/json; charset=utf-8')
    .send(bytes)
}

/** Whether an If-None-Match names the answer in either form (RFC 9110, 13.1.2: compared weakly). */
function names(known: string, tag: string): boolean {
  if (known.trim() === '*') return true
  return known.split(',').some((text) => {
    const named = text.trim().replace(/^W\//, '')
    return named === `"${tag}"` || named === `"${tag}-gzip"`
  })
}

/** Whether an Accept-Encoding takes gzip: the last word on it, or on `*`, weighs more than 0. */
function takesGzip(accepted: string | string[] | undefined): boolean {
  if (accepted === undefined) return false
  const weights = new Map<string, number>()
  for (const part of String(accepted).toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim())
    const weight = parameters.find((text) => text.startsWith('q='))?.slice(2)
    weights.set(coding, weight === undefined ? 1 : Number(weight))
  }
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0
}

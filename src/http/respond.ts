import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { setFields, type Fields } from './fields.ts'
import type { Rendering } from './rendering.ts'

/**
 * A body below this goes out as it is: it fits one packet. Above, gzip halves a trade of 1.5 KB for 75 µs, and brings a
 * page of 58 KB to a fifth for 0.7 ms, each once for an answer that is kept (decisions/0006).
 */
const GZIP_BYTES_MIN = 1400

/** How a rendering may be used again, and by whom. */
export interface Terms {
  readonly mediaType: string
  readonly cacheControl: string
  /** The request headers that it depends on, Accept-Encoding among them; Origin too where a key is asked for. */
  readonly vary: string
}

/** Of an answer: for the tenant of the key alone, and only after asking whether it still holds. */
export const ANSWER_TERMS: Terms = {
  mediaType: 'application/json; charset=utf-8',
  cacheControl: 'private, no-cache',
  vary: 'Origin, Accept-Encoding, X-API-Key, Authorization'
}

/** A response in full, but for what every response carries. */
export interface Form {
  readonly status: 200 | 304
  readonly fields: Fields
  readonly payload: string | Buffer | undefined
}

/** What a client gets of a rendering; null where it takes gzip and that form is still to be made. */
export function formFor(headers: IncomingHttpHeaders, rendering: Rendering, terms: Terms): Form | null {
  const zips = takesPacked(headers, rendering)
  if (isKnown(headers, rendering)) return notModified(rendering, zips, terms)
  if (!zips) return plainForm(rendering, terms)
  return rendering.packed === null ? null : packedForm(rendering, rendering.packed, terms)
}

/**
 * Sends a rendering: 304 to who has it already, its gzip form to who takes that, where `pack` gives one. Only the wait
 * for a gzip form takes a promise.
 */
export function sendRendering(
  request: FastifyRequest,
  reply: FastifyReply,
  rendering: Rendering,
  terms: Terms,
  pack: () => Buffer | Promise<Buffer> | null
): FastifyReply | Promise<FastifyReply> {
  const form = formFor(request.headers, rendering, terms)
  if (form !== null) return sendForm(reply, form)
  const packed = pack()
  if (packed === null) return sendForm(reply, plainForm(rendering, terms))
  if (packed instanceof Promise) {
    return packed.then((bytes) => sendForm(reply, packedForm(rendering, bytes, terms)))
  }
  return sendForm(reply, packedForm(rendering, packed, terms))
}

function sendForm(reply: FastifyReply, { status, fields, payload }: Form): FastifyReply {
  setFields(reply, fields)
  return reply.code(status).send(payload)
}

function notModified({ tag }: Rendering, zips: boolean, { cacheControl, vary }: Terms): Form {
  const etag = zips ? packedTag(tag) : plainTag(tag)
  const fields = ['cache-control', cacheControl, 'vary', vary, 'etag', etag]
  return { status: 304, fields, payload: undefined }
}

function plainForm({ tag, payload, length }: Rendering, { mediaType, cacheControl, vary }: Terms): Form {
  // prettier-ignore
  const fields = [
    'cache-control', cacheControl,
    'vary', vary,
    'content-type', mediaType,
    'content-length', String(length),
    'etag', plainTag(tag)
  ]
  return { status: 200, fields, payload }
}

function packedForm({ tag }: Rendering, bytes: Buffer, { mediaType, cacheControl, vary }: Terms): Form {
  // prettier-ignore
  const fields = [
    'cache-control', cacheControl,
    'vary', vary,
    'content-type', mediaType,
    'content-encoding', 'gzip',
    'content-length', String(bytes.length),
    'etag', packedTag(tag)
  ]
  return { status: 200, fields, payload: bytes }
}

const plainTag = (tag: string): string => `"${tag}"`
const packedTag = (tag: string): string => `"${tag}-gzip"`

function takesPacked(headers: IncomingHttpHeaders, { length }: Rendering): boolean {
  return length >= GZIP_BYTES_MIN && takesGzip(headers['accept-encoding'])
}

function isKnown(headers: IncomingHttpHeaders, { tag }: Rendering): boolean {
  const known = headers['if-none-match']
  return known !== undefined && names(known, tag)
}

/** Whether an If-None-Match names a rendering in either form (RFC 9110, 13.1.2: compared weakly). */
function names(known: string, tag: string): boolean {
  if (known.trim() === '*') return true
  return known.split(',').some((text) => {
    const named = text.trim().replace(/^W\//, '')
    return named === plainTag(tag) || named === packedTag(tag)
  })
}

/** Whether an Accept-Encoding takes gzip: the last word on it, or else on `*`, weighs more than 0. */
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

import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { PackedFile } from '../../kernel/http/browser-modules.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import { setFields } from '../../kernel/http/fields.ts'
import { takesBrotli, takesGzip } from '../../kernel/http/respond.ts'
import { readPageFiles, type PageFiles } from './page-files.ts'

/** Content security policy of the page: everything from here, nothing inline. Its own scripts make `blob:` URLs of images. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

/** The page names the version of its files, so a browser has to ask for it each time. */
const REVALIDATED = 'no-cache'
/** A file's URL has the hash of all files. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** Serves the page and its files, without a key: each call that the page makes carries the user's key. */
export const pageRoutes: FastifyPluginAsync<object> = async (app) => {
  const config = { scope: 'open', answersWhileDraining: true } as const
  let read: Promise<PageFiles> | null = null
  const page = (): Promise<PageFiles> => {
    read ??= readPageFiles().catch((error: unknown) => {
      read = null
      throw error
    })
    return read
  }

  app.get('/', { config }, async (request, reply) => {
    void reply.header('content-security-policy', POLICY)
    return sendPacked(request, reply, (await page()).html, REVALIDATED)
  })
  app.get<{ Params: { version: string; '*': string } }>(
    '/page/:version/*',
    { config },
    async (request, reply) => {
      const { version, files } = await page()
      const file = request.params.version === version ? files.get(request.params['*']) : undefined
      if (file === undefined) throw new ServiceError(ERRORS.ROUTE_NOT_FOUND, 'no such route')
      return sendPacked(request, reply, file, IMMUTABLE)
    }
  )
}

function sendPacked(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { mediaType, plain, gzip, brotli, tag }: PackedFile,
  cacheControl: string
): FastifyReply {
  const accepted = headers['accept-encoding']
  const packed =
    brotli !== null && takesBrotli(accepted)
      ? ({ coding: 'br', bytes: brotli } as const)
      : gzip !== null && takesGzip(accepted)
        ? ({ coding: 'gzip', bytes: gzip } as const)
        : null
  const etag = packed === null ? `"${tag}"` : `"${tag}-${packed.coding}"`
  setFields(reply, ['cache-control', cacheControl, 'vary', 'Accept-Encoding', 'etag', etag])
  const known = headers['if-none-match']?.split(',').map((text) => text.trim().replace(/^W\//, ''))
  if (known?.includes(etag) === true) return reply.code(304).send()
  if (packed !== null) void reply.header('content-encoding', packed.coding)
  return reply.type(mediaType).send(packed?.bytes ?? plain)
}

import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../errors.ts'
import type { AppDeps } from '../app.ts'
import { asyncApiOf } from '../asyncapi.ts'
import { explorerAssets, type Asset } from '../explorer.ts'
import { openApiOf } from '../openapi.ts'
import { Rendering } from '../rendering.ts'
import { sendRendering } from '../respond.ts'

/**
 * What the explorer may do: run the scripts that lie here, and call this service. Its library sets styles in place and
 * draws its icons from data.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

const REUSE = { cacheControl: 'no-cache', vary: 'Accept-Encoding' } as const

/** The documents of the API and of the stream, and the explorer, open to everybody. */
export const docsRoutes: FastifyPluginAsync<Pick<AppDeps, 'version' | 'localnet'>> = async (
  app,
  { version, localnet }
) => {
  const config = { scope: 'open', answersWhileDraining: true } as const
  const assets = await explorerAssets()
  let document: Asset | null = null
  let streamDocument: Asset | null = null

  app.get('/openapi.json', { config }, (request, reply) => {
    // Made when it is first asked for: then every endpoint has been registered.
    document ??= documentOf(openApiOf(app.served, { version, localnet }))
    return sendAsset(request, reply, document)
  })
  app.get('/asyncapi.json', { config }, (request, reply) => {
    streamDocument ??= documentOf(asyncApiOf({ version, localnet }))
    return sendAsset(request, reply, streamDocument)
  })

  app.get('/docs', { config }, (request, reply) => sendNamed(request, reply, ''))
  app.get<{ Params: { file: string } }>('/docs/:file', { config }, (request, reply) =>
    sendNamed(request, reply, request.params.file)
  )
  app.get('/', { config }, (_request, reply) => reply.redirect('/docs'))

  function sendNamed(request: FastifyRequest, reply: FastifyReply, name: string) {
    const asset = assets.get(name)
    if (asset === undefined) throw new ServiceError('ROUTE_NOT_FOUND', 'no such route')
    void reply.header('content-security-policy', POLICY)
    return sendAsset(request, reply, asset)
  }
}

const documentOf = (document: object): Asset => ({
  mediaType: 'application/json; charset=utf-8',
  rendering: new Rendering(JSON.stringify(document))
})

function sendAsset(request: FastifyRequest, reply: FastifyReply, { mediaType, rendering }: Asset) {
  return sendRendering(
    request,
    reply,
    rendering,
    { mediaType, ...REUSE },
    () => rendering.packed ?? rendering.pack()
  )
}

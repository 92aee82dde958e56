import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { keyState } from '../../access/caller.ts'
import { ServiceError } from '../../errors.ts'
import type { AppDeps } from '../deps.ts'
import { asyncApiOf } from '../asyncapi.ts'
import { explorerAssets, type Asset } from '../explorer.ts'
import { hostName, isLoopbackName } from '../host.ts'
import { exampleValues } from '../example-values.ts'
import { openApiOf } from '../openapi.ts'
import { isLocal } from '../plugins/access.ts'
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

/** How long the examples of the document stay as they are: what they ask for is kept for days. */
const EXAMPLES_MS = 60_000

type Deps = Pick<AppDeps, 'version' | 'sourceKind' | 'demoKey' | 'keys' | 'clock' | 'storage'>

/** The documents of the API and of the stream, and the explorer, open to everybody. */
export const docsRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const config = { scope: 'open', answersWhileDraining: true } as const
  const assets = await explorerAssets()
  let document: { readonly asset: Asset; readonly untilMs: number } | null = null
  let streamDocument: Asset | null = null

  app.get('/openapi.json', { config }, async (request, reply) => {
    // Made when it is asked for: then every endpoint has been registered, and the examples are of the newest data.
    const nowMs = deps.clock.now()
    if (document === null || nowMs >= document.untilMs) {
      // A store that does not answer takes nothing from the document but its examples.
      const values = await exampleValues(deps).catch(() => undefined)
      document = { asset: documentOf(openApiOf(app.served, deps, values)), untilMs: nowMs + EXAMPLES_MS }
    }
    return sendAsset(request, reply, document.asset)
  })
  app.get('/asyncapi.json', { config }, (request, reply) => {
    streamDocument ??= documentOf(asyncApiOf(deps))
    return sendAsset(request, reply, streamDocument)
  })

  app.get('/docs', { config }, (request, reply) => sendNamed(request, reply, ''))
  app.get('/docs/demo-key', { config }, async (request, reply) => {
    void reply.header('cache-control', 'no-store')
    return { key: isOwnPageOnThisMachine(request) ? await offeredKey(deps) : null }
  })
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

/**
 * Whether a request comes from a page of this service in a browser on this machine. The browser itself says that the
 * page is of the same origin; the host must be loopback by name, so that no other name can be made to resolve to it.
 */
function isOwnPageOnThisMachine(request: FastifyRequest): boolean {
  const { host, 'sec-fetch-site': site } = request.headers
  return site === 'same-origin' && isLoopbackName(hostName(host)) && isLocal(request)
}

/** The demo key, as long as it works; null where there is none. */
async function offeredKey({ demoKey, keys, clock }: Deps): Promise<string | null> {
  const key = (await demoKey?.read()) ?? null
  if (key === null) return null
  const caller = keys.find(key)
  return caller !== null && keyState(caller.row, clock.now()) === 'active' ? key : null
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

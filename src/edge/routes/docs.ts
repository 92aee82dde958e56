import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { keyState } from '../../access/caller.ts'
import { ERRORS, ServiceError } from '../../kernel/errors.ts'
import type { EdgeNeeds } from './needs.ts'
import { TimedCache } from '../../kernel/memory/timed-cache.ts'
import { asyncApiOf } from './asyncapi.ts'
import { ExplorerFiles, type Asset } from './explorer.ts'
import { hostName, isLoopbackName } from '../../kernel/http/host.ts'
import { exampleValues } from './example-values.ts'
import { openApiOf } from './openapi.ts'
import { isLocal } from '../../kernel/http/plugins/access.ts'
import { Rendering } from '../../kernel/http/rendering.ts'
import { sendRendering } from '../../kernel/http/respond.ts'

/**
 * Content security policy of the explorer: scripts from here, calls to this service. Its library sets inline styles
 * and draws its icons from data URLs.
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

/** TTL of the document's examples in milliseconds; the data that they name stays in the store for days. */
const EXAMPLES_MS = 60_000

type Deps = Pick<EdgeNeeds, 'version' | 'sourceKind' | 'errors' | 'demoKey' | 'keys' | 'clock' | 'storage'>

/** Serves the documents of the API and the stream, and the explorer, without a key. */
export const docsRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const config = { scope: 'open', answersWhileDraining: true } as const
  const files = new ExplorerFiles()
  const documents = new TimedCache<Asset>(deps.clock, { entriesMax: 1 })
  let streamDocument: Promise<Asset> | null = null

  app.get('/openapi.json', { config }, async (request, reply) => {
    // Built on the first request: by then every endpoint is registered, and the newest data serves as examples.
    const document = await documents.load('openapi', async () => {
      const endsAtMs = deps.clock.now() + EXAMPLES_MS
      // While the store is unavailable the document only lacks its examples.
      const values = await exampleValues(deps).catch(() => undefined)
      return { value: documentOf(await openApiOf(app.served, deps, values)), endsAtMs }
    })
    return sendAsset(request, reply, document)
  })
  app.get('/asyncapi.json', { config }, async (request, reply) => {
    streamDocument ??= asyncApiOf(deps).then(documentOf)
    return sendAsset(request, reply, await streamDocument)
  })

  app.get('/docs', { config }, (request, reply) => sendNamed(request, reply, ''))
  app.get('/docs/demo-key', { config }, async (request, reply) => {
    void reply.header('cache-control', 'no-store')
    return { key: isOwnPageOnThisMachine(request) ? await offeredKey(deps) : null }
  })
  app.get<{ Params: { file: string } }>('/docs/:file', { config }, (request, reply) =>
    sendNamed(request, reply, request.params.file)
  )

  async function sendNamed(request: FastifyRequest, reply: FastifyReply, name: string) {
    const asset = await files.find(name)
    if (asset === null) throw new ServiceError(ERRORS.ROUTE_NOT_FOUND, 'no such route')
    void reply.header('content-security-policy', POLICY)
    return sendAsset(request, reply, asset)
  }
}

/**
 * Tells whether a request comes from a page of this service in a browser on this machine. The browser states that the
 * page is same-origin; the host must be a loopback name, so that no other name can be pointed here (DNS rebinding).
 */
function isOwnPageOnThisMachine(request: FastifyRequest): boolean {
  const { host, 'sec-fetch-site': site } = request.headers
  return site === 'same-origin' && isLoopbackName(hostName(host)) && isLocal(request)
}

/** Returns the demo key while it is active; otherwise null. */
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

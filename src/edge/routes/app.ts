import type { FastifyInstance } from 'fastify'
import { Idempotency } from '../../kernel/http/idempotency.ts'
import { ResponseCache } from '../../kernel/http/response-cache.ts'
import { countedStorage } from '../../kernel/http/counted-storage.ts'
import type { HttpKernel, HttpParts, ShownCache } from '../../kernel/http/http-kernel.ts'
import type { Served } from '../../kernel/http/endpoint.ts'
import { cachedFastPath } from '../../kernel/http/cached-fast-path.ts'
import { access } from '../../kernel/http/plugins/access.ts'
import { cors } from '../../kernel/http/plugins/cors.ts'
import { problems } from '../../kernel/http/plugins/problems.ts'
import { requests } from '../../kernel/http/plugins/requests.ts'
import { sockets } from '../../kernel/http/plugins/sockets.ts'
import { serveSocket } from '../../kernel/http/serve-socket.ts'
import { BODY_BYTES_MAX as MESSAGE_BYTES_MAX } from '../../rpc/rpc-error.ts'
import { isHandshake, routedUrl, RPC_SOCKET_PATH } from '../../kernel/http/handshake.ts'
import { HandshakePort, handshakesAlone } from '../../kernel/http/handshake-port.ts'
import type { Turns } from '../../kernel/work/turns.ts'
import { listenerApp } from '../../kernel/http/listener.ts'
import { requestIds } from '../../kernel/http/request-id.ts'
import { RunningExports } from '../../kernel/http/list/running-exports.ts'
import { UnreadAnswers } from '../../kernel/http/unread-answers.ts'

/** Bytes of a request body that are read before the request is refused; no endpoint takes as many. */
const BODY_BYTES_MAX = 64 * 1024

/** Node refuses longer request lines, so every path reaches a route, which reports the wrong parameter. */
const URL_BYTES_MAX = 16 * 1024

/** Builds an app with the parts of products. It does not listen yet. */
export function buildApp(given: HttpKernel, parts: HttpParts): FastifyInstance {
  const deps: HttpKernel = { ...given, storage: countedStorage(given.storage) }
  const nextRequestId = requestIds()
  const responseCache = new ResponseCache(deps.feed, deps.clock, { bytesMax: deps.answerBytes })
  const { exposed } = parts
  const socketPaths = parts.sockets.map(({ path }) => path)
  const handshakePort = new HandshakePort()
  const handshakePaths = socketPaths.filter((path) => path === RPC_SOCKET_PATH)
  const app = listenerApp(deps, {
    bodyBytesMax: BODY_BYTES_MAX,
    pathParameterLengthMax: URL_BYTES_MAX,
    nextRequestId,
    upgrades: (request) => isHandshake(request, handshakePort.has(request) ? handshakePaths : socketPaths),
    routedUrl: (request) => {
      handshakePort.nameService(request)
      return routedUrl(request)
    },
    inFront: (framework) => {
      const cached = cachedFastPath(deps, responseCache, nextRequestId, framework)
      const main = parts.inFront.reduce((rest, inFront) => inFront(deps, nextRequestId, rest), cached)
      return (request, response) => (handshakePort.has(request) ? framework : main)(request, response)
    }
  })
  const caches = new Map<string, ShownCache>([['kept_answer', responseCache]])
  const onClose = (end: () => void): void => void app.addHook('onClose', async () => end())
  onClose(responseCache.follow())
  app.decorate('responseCache', responseCache)
  app.decorate('caches', caches)
  app.decorate('turns', deps.turns)
  app.decorate('unreadAnswers', new UnreadAnswers())
  app.decorate('idempotency', new Idempotency(deps.storage.documents, deps.seal))
  app.decorate('exports', new RunningExports({ ...deps, documents: deps.storage.documents }))
  app.decorate('served', [])
  app.decorate('handshakePort', handshakePort)
  void app.register(problems, deps)
  void app.register(cors, { ...deps, exposed })
  void app.register(requests, deps)
  void app.register(handshakesAlone, { handshakePort })
  void app.register(access, deps)
  const side = {
    ...deps,
    onClose,
    showCache: (name: string, cache: ShownCache) => void caches.set(name, cache)
  }
  for (const each of parts.routes(side)) void app.register(each)
  if (parts.sockets.length > 0)
    // The plugin of WebSockets wraps each route beside it.
    void app.register(async (scope) => {
      await scope.register(sockets, { messageBytesMax: MESSAGE_BYTES_MAX })
      for (const each of parts.sockets) serveSocket(scope, each, deps.socketPlaces ?? null)
    })
  return app
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Cache of rendered answers. */
    responseCache: ResponseCache
    /** The caches of the HTTP side, by the name of one entry. */
    caches: ReadonlyMap<string, ShownCache>
    /** Turns of tenants for answers that are computed. */
    turns: Turns
    /** Answers that the clients of each tenant have yet to read. */
    unreadAnswers: UnreadAnswers
    /** Executes requests with an `Idempotency-Key` once; null if clients never repeat requests. */
    idempotency: Idempotency | null
    /** Exports that are being sent. */
    exports: RunningExports
    /** Every endpoint that is served, for the OpenAPI document. */
    served: Served[]
  }
}

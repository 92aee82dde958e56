import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Idempotency } from '../../kernel/http/idempotency.ts'
import { ResponseCache } from '../../kernel/http/response-cache.ts'
import { countedStorage } from '../../kernel/http/counted-storage.ts'
import type { AppDeps } from '../../kernel/http/deps.ts'
import type { Served } from '../../kernel/http/endpoint.ts'
import { cachedFastPath } from '../../kernel/http/cached-fast-path.ts'
import { access } from '../../kernel/http/plugins/access.ts'
import { cors } from '../../kernel/http/plugins/cors.ts'
import { problems } from '../../kernel/http/plugins/problems.ts'
import { requests } from '../../kernel/http/plugins/requests.ts'
import { isHandshake, routedUrl, RPC_SOCKET_PATH, STREAM_PATH } from '../../kernel/http/handshake.ts'
import { HandshakePort, handshakesAlone } from '../../kernel/http/handshake-port.ts'
import type { Turns } from '../../kernel/work/turns.ts'
import { MintWindows } from '../../data/mint-windows.ts'
import { listenerApp } from '../../kernel/http/listener.ts'
import { rpcFastPath } from '../../rpc/routes/rpc-fast-path.ts'
import { requestIds } from '../../kernel/http/request-id.ts'
import { UnreadAnswers } from '../../kernel/http/unread-answers.ts'

/** Bytes of a request body that are read before the request is refused; no endpoint takes as many. */
const BODY_BYTES_MAX = 64 * 1024

/** Node refuses longer request lines, so every path reaches a route, which reports the wrong parameter. */
const URL_BYTES_MAX = 16 * 1024

/** Builds an app with the given routes. It does not listen yet. */
export function buildApp(given: AppDeps, routes: readonly FastifyPluginAsync<AppDeps>[]): FastifyInstance {
  const deps: AppDeps = { ...given, storage: countedStorage(given.storage) }
  const nextRequestId = requestIds()
  const responseCache = new ResponseCache(deps.feed, deps.clock, { bytesMax: deps.answerBytes })
  const socketPaths = [
    ...(deps.stream === null ? [] : [STREAM_PATH]),
    ...((deps.rpcSockets ?? null) === null ? [] : [RPC_SOCKET_PATH])
  ]
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
      const main = rpcFastPath(
        deps,
        nextRequestId,
        cachedFastPath(deps, responseCache, nextRequestId, framework)
      )
      return (request, response) => (handshakePort.has(request) ? framework : main)(request, response)
    }
  })
  const mintWindows = new MintWindows(deps.storage.activity, deps.feed, deps.windowBytes)
  const forget = (): void => responseCache.forget()
  const unfollow = [responseCache.follow(), mintWindows.follow(), deps.archive?.onChange(forget)]
  app.addHook('onClose', async () => unfollow.forEach((end) => end?.()))
  app.decorate('responseCache', responseCache)
  app.decorate('mintWindows', mintWindows)
  app.decorate('turns', deps.turns)
  app.decorate('unreadAnswers', new UnreadAnswers())
  app.decorate('idempotency', new Idempotency(deps.storage.documents, deps.webhooks?.secrets))
  app.decorate('served', [])
  app.decorate('handshakePort', handshakePort)
  void app.register(problems)
  void app.register(cors, deps)
  void app.register(requests, deps)
  void app.register(handshakesAlone, { handshakePort })
  void app.register(access, deps)
  for (const each of routes) void app.register(each, deps)
  return app
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Cache of rendered answers. */
    responseCache: ResponseCache
    /** Rolling windows of mints. */
    mintWindows: MintWindows
    /** Turns of tenants for answers that are computed. */
    turns: Turns
    /** Answers that the clients of each tenant have yet to read. */
    unreadAnswers: UnreadAnswers
    /** Executes requests with an `Idempotency-Key` once; null if clients never repeat requests. */
    idempotency: Idempotency | null
    /** Every endpoint that is served, for the OpenAPI document. */
    served: Served[]
  }
}

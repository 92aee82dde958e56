import type { IncomingMessage, RequestListener } from 'node:http'
import fastify, { type FastifyInstance } from 'fastify'
import type { AppDeps } from './deps.ts'
import { Connections } from './connections.ts'
import { refuseUrl } from './refusals.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The connections of this server. */
    connections: Connections
  }
}

export interface ListenerOptions {
  readonly bodyBytesMax: number
  readonly nextRequestId: () => string
  readonly pathParameterLengthMax?: number
  /** Whether a request for an upgrade gets one. The others are answered as if they did not ask (RFC 9110, 7.8). */
  readonly upgrades: (request: IncomingMessage) => boolean
  /** Answers some requests in front of the framework, and passes on the others. */
  readonly inFront?: (framework: RequestListener) => RequestListener
}

/** Makes an app whose server bounds its connections and answers every request with a problem that it refuses. */
export function listenerApp(
  deps: Pick<AppDeps, 'feed' | 'clock' | 'bounds' | 'metrics' | 'logger'>,
  { bodyBytesMax, nextRequestId, pathParameterLengthMax, upgrades, inFront = (next) => next }: ListenerOptions
): FastifyInstance {
  const { requestMs, checkMs, stalledMs } = deps.bounds
  const connections = new Connections(deps)
  const app = fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    // A client's id may be anything; ours is what logs and problems name.
    genReqId: nextRequestId,
    requestIdHeader: false,
    ...(pathParameterLengthMax === undefined
      ? {}
      : { routerOptions: { maxParamLength: pathParameterLengthMax } }),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Without it, Fastify turns off the deadline that Node has for a request.
    requestTimeout: requestMs,
    connectionTimeout: stalledMs,
    http: {
      headersTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      // Without it, Node shows only the first of two Authorization fields.
      joinDuplicateHeaders: true,
      // The requests plugin refuses a request without one, as a problem.
      requireHostHeader: false,
      shouldUpgradeCallback: upgrades
    },
    frameworkErrors: (_error, request, reply) => refuseUrl(request, reply, deps),
    clientErrorHandler: (fault, socket) => connections.refuseBytes(fault, socket)
  })
  // Fastify reads it without being asked to; bodies are JSON here.
  app.removeContentTypeParser('text/plain')
  const { server } = app
  connections.follow(server)
  app.decorate('connections', connections)
  const [framework] = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  const listener = connections.guard(inFront(framework!))
  server.on('request', listener)
  // An expectation beyond 100-continue may be ignored (RFC 9110, 10.1.1); Node would refuse it in its own way.
  server.on('checkExpectation', listener)
  return app
}

import type { IncomingMessage, RequestListener } from 'node:http'
import fastify, { type FastifyInstance } from 'fastify'
import { ServiceError } from '../errors.ts'
import { isTooDeep, JSON_DEPTH_MAX } from '../json-depth.ts'
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
  /** Tells whether an upgrade request is upgraded. The others are answered as plain requests (RFC 9110, 7.8). */
  readonly upgrades: (request: IncomingMessage) => boolean
  /** Answers some requests before the framework, and passes on the others. */
  readonly inFront?: (framework: RequestListener) => RequestListener
}

/** Builds an app whose server bounds its connections and refuses malformed requests with a problem. */
export function listenerApp(
  deps: Pick<AppDeps, 'feed' | 'nodeHead' | 'clock' | 'bounds' | 'metrics' | 'logger'>,
  { bodyBytesMax, nextRequestId, pathParameterLengthMax, upgrades, inFront = (next) => next }: ListenerOptions
): FastifyInstance {
  const { requestMs, checkMs, stalledMs } = deps.bounds
  const connections = new Connections(deps)
  const app = fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    // Ignores the client's request id, which may be any text; logs and problems name ours.
    genReqId: nextRequestId,
    requestIdHeader: false,
    ...(pathParameterLengthMax === undefined
      ? {}
      : { routerOptions: { maxParamLength: pathParameterLengthMax } }),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Fastify would otherwise turn off Node's request timeout.
    requestTimeout: requestMs,
    connectionTimeout: stalledMs,
    http: {
      headersTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      // Node would otherwise show only the first of two Authorization fields.
      joinDuplicateHeaders: true,
      // The requests plugin refuses such a request with a problem.
      requireHostHeader: false,
      shouldUpgradeCallback: upgrades
    },
    frameworkErrors: (_error, request, reply) => refuseUrl(request, reply, deps),
    clientErrorHandler: (fault, socket) => connections.refuseBytes(fault, socket)
  })
  // Fastify parses text by default; bodies are JSON here.
  app.removeContentTypeParser(['text/plain', 'application/json'])
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (isTooDeep(body))
      done(
        new ServiceError('JSON_INVALID', `the body nests objects and arrays deeper than ${JSON_DEPTH_MAX}`)
      )
    else void parse(request, body.toString(), done)
  })
  const { server } = app
  connections.follow(server)
  app.decorate('connections', connections)
  const [framework] = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  const listener = connections.guard(inFront(framework!))
  server.on('request', listener)
  // An unknown expectation may be ignored (RFC 9110, 10.1.1); Node would refuse it without a problem body.
  server.on('checkExpectation', listener)
  return app
}

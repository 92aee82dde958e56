import type { IncomingMessage, RequestListener } from 'node:http'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { ServiceError } from '../errors.ts'
import { excessText, jsonExcess } from '../json-depth.ts'
import { LONG_BODY_BYTES } from '../../rpc/requests.ts'
import type { AppDeps } from './deps.ts'
import { Connections } from './connections.ts'
import { refuseUrl } from './refusals.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The connections of this server. */
    connections: Connections
  }
}

/** The outcome of a parser: an error, or a value. */
type Parsed = [error: Error | null, value?: unknown]

export interface ListenerOptions {
  readonly bodyBytesMax: number
  readonly nextRequestId: () => string
  readonly pathParameterLengthMax?: number
  /** Tells whether an upgrade request is upgraded. The others are answered as plain requests (RFC 9110, 7.8). */
  readonly upgrades: (request: IncomingMessage) => boolean
  /** Returns the URL under which a request is routed; its own by default. */
  readonly routedUrl?: (request: IncomingMessage) => string
  /** Answers some requests before the framework, and passes on the others. */
  readonly inFront?: (framework: RequestListener) => RequestListener
}

/** Builds an app whose server bounds its connections and refuses malformed requests with a problem. */
export function listenerApp(
  deps: Pick<AppDeps, 'feed' | 'nodeHead' | 'clock' | 'bounds' | 'metrics' | 'logger'>,
  {
    bodyBytesMax,
    nextRequestId,
    pathParameterLengthMax,
    upgrades,
    routedUrl,
    inFront = (next) => next
  }: ListenerOptions
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
    ...(routedUrl === undefined ? {} : { rewriteUrl: routedUrl }),
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
  const read = (request: FastifyRequest, body: Buffer): Parsed => {
    const excess = jsonExcess(body)
    if (excess !== null) return [new ServiceError('JSON_INVALID', `the body ${excessText(excess)}`)]
    let parsed: Parsed = [null]
    // `parse` calls back before it returns.
    void parse(request, body.toString(), (...outcome) => (parsed = outcome))
    return parsed
  }
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const { caller } = request
    if (caller === null || body.length < LONG_BODY_BYTES) return done(...read(request, body))
    app.turns.run(caller.tenant, () => read(request, body)).then((parsed) => done(...parsed), done)
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

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import websocket from '@fastify/websocket'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { answer, type Run } from './json-rpc.ts'

/**
 * Maximum size of a request over HTTP or a socket (agave, MAX_REQUEST_BODY_SIZE); it also bounds the calls of a batch.
 */
export const REQUEST_BYTES_MAX = 50 * 1024
/** Maximum number of HTTP connections and sockets per port; a further one is closed at once. */
const CONNECTIONS_MAX = 1_024
const REQUEST_MS_MAX = 60_000
/** Shorter answers fit a packet and are not compressed. */
const GZIP_CHARACTERS_MIN = 1_400
/** The fastest level: at any level the text of a block shrinks to a tenth. */
const GZIP_LEVEL = 1

const compress = promisify(gzip)

const METHODS = new Set(['GET', 'POST', 'OPTIONS'])
const NOT_POST = 'Used HTTP Method is not allowed. POST or OPTIONS is required\n'
const NOT_JSON = 'Supplied content type is not allowed. Content-Type: application/json is required\n'
const TOO_LARGE = 'request body size exceeds allowed maximum\n'
const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Builds the app for JSON-RPC over HTTP at any path, and for pubsub by upgrade. Answers wait for `delayed`. `more` adds
 * routes that take precedence. The app does not listen.
 */
export function rpcApp(
  run: Run,
  connect: (socket: WebSocket) => void,
  delayed: () => Promise<void>,
  more: (app: FastifyInstance) => void = () => undefined
): FastifyInstance {
  const app = bareApp()
  app.addHook('onSend', async (_request, reply) => {
    void reply.header('access-control-allow-origin', '*')
  })
  app.addHook('onRequest', async (request, reply) => {
    if (METHODS.has(request.method)) return
    return reply.code(405).type(TEXT).send(NOT_POST)
  })
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body)
  )
  app.setErrorHandler<{ statusCode?: number }>((error, _request, reply) => {
    const { statusCode = 500 } = error
    const text = statusCode === 413 ? TOO_LARGE : statusCode === 415 ? NOT_JSON : 'request not taken\n'
    return reply.code(statusCode).type(TEXT).send(text)
  })
  void app.register(async (app) => {
    more(app)
    app.route({
      method: 'GET',
      url: '*',
      handler: async (request, reply) =>
        request.url === '/health' ? reply.type(TEXT).send('ok') : reply.code(405).type(TEXT).send(NOT_POST),
      wsHandler: connect
    })
    app.post('*', async (request, reply) => {
      // A request without a body has no content type, and no parser has run.
      if (typeof request.body !== 'string') return reply.code(415).type(TEXT).send(NOT_JSON)
      await delayed()
      const text = answer(request.body, run)
      return send(request, reply, text === null ? '' : `${text}\n`)
    })
    app.options('*', async (_request, reply) =>
      reply
        .header('access-control-allow-methods', 'POST')
        .header('access-control-allow-headers', 'content-type')
        .header('access-control-max-age', '86400')
        .send('')
    )
  })
  return app
}

/** Builds the app for pubsub alone, as a node has it on the port after that of JSON-RPC. */
export function pubsubApp(connect: (socket: WebSocket) => void): FastifyInstance {
  const app = bareApp()
  void app.register(async (app) => {
    app.route({
      method: 'GET',
      url: '*',
      handler: async (_request, reply) => reply.code(426).type(TEXT).send('this port is for WebSocket\n'),
      wsHandler: connect
    })
  })
  return app
}

function bareApp(): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: REQUEST_BYTES_MAX,
    requestTimeout: REQUEST_MS_MAX,
    forceCloseConnections: true,
    return503OnClosing: false,
    exposeHeadRoutes: false
  })
  app.server.maxConnections = CONNECTIONS_MAX
  app.removeAllContentTypeParsers()
  void app.register(websocket, {
    options: { maxPayload: REQUEST_BYTES_MAX, perMessageDeflate: false },
    errorHandler: (_error, socket) => socket.terminate()
  })
  return app
}

async function send(request: FastifyRequest, reply: FastifyReply, text: string): Promise<FastifyReply> {
  void reply.type(JSON_TYPE)
  if (text.length < GZIP_CHARACTERS_MIN || !acceptsGzip(request.headers['accept-encoding'])) {
    // A text is copied to be measured, and again to be written: as bytes, the text of a block is copied once.
    return reply.send(text.length < GZIP_CHARACTERS_MIN ? text : Buffer.from(text))
  }
  void reply.header('content-encoding', 'gzip')
  return reply.send(await compress(text, { level: GZIP_LEVEL }))
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  if (typeof header !== 'string') return false
  return header.split(',').some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase())
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

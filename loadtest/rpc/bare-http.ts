/**
 * Answers each POST with a constant, and does nothing else: the minimum cost of a request in Node. The argument names the
 * layer: `fastify` a route of the framework, `http` a listener of `node:http`, `net` a socket whose bytes are hardly parsed.
 */
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import fastify from 'fastify'

const [layer = 'http'] = process.argv.slice(2)
const BODY = Buffer.from(
  '{"jsonrpc":"2.0","result":{"context":{"apiVersion":"4.2.1","slot":300000000},"value":123456789},"id":1}'
)
const TYPE = 'application/json; charset=utf-8'

function listenSockets(): Server {
  const answer = Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: ${TYPE}\r\nContent-Length: ${BODY.length}\r\n\r\n`),
    BODY
  ])
  return createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      // A request of the load test comes in one piece.
      if (chunk.at(-1) === 0x7d) socket.write(answer)
    })
  })
}

function listenHttp(): Server {
  return createHttpServer((request, response) => {
    request.on('data', () => undefined)
    request.on('end', () => {
      response.writeHead(200, ['content-type', TYPE, 'content-length', String(BODY.length)])
      response.end(BODY)
    })
  })
}

async function listenFastify(): Promise<Server> {
  const app = fastify()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body)
  )
  app.post('/v1/rpc', (_request, reply) => reply.type(TYPE).send(BODY))
  await app.ready()
  return app.server
}

const server = layer === 'net' ? listenSockets() : layer === 'fastify' ? await listenFastify() : listenHttp()
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))

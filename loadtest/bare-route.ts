/** The limit that REST is measured against: one Fastify route that returns given bytes from memory. */
import fastify from 'fastify'

const body = Buffer.from(process.argv[2] ?? '', 'base64')
const app = fastify()
app.get('/', (_request, reply) => reply.type('application/json; charset=utf-8').send(body))
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)

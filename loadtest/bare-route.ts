/**
 * The baseline for REST: one Fastify route that returns bytes from memory.
 * The first argument is a file of bodies, each preceded by its length as four big-endian bytes. `/n` returns the n-th body;
 * a file of one body is served at `/` alone. The second argument is a JSON object of header fields, which are sent with
 * every body.
 */
import { readFileSync } from 'node:fs'
import fastify from 'fastify'

const file = readFileSync(process.argv[2]!)
const bodies: Buffer[] = []
for (let at = 0; at < file.length;) {
  const length = file.readUInt32BE(at)
  bodies.push(file.subarray(at + 4, at + 4 + length))
  at += 4 + length
}

const fields = JSON.parse(process.argv[3]!) as Record<string, string>

const app = fastify()
if (bodies.length === 1) {
  const [body] = bodies
  app.get('/', (_request, reply) => reply.headers(fields).send(body))
} else {
  app.get<{ Params: { n: string } }>('/:n', (request, reply) =>
    reply.headers(fields).send(bodies[Number(request.params.n)])
  )
}
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)

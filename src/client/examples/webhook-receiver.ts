import { open } from 'node:fs/promises'
import { fastify } from 'fastify'
import { verify, WebhookVerificationError } from 'millrace/client'

/**
 * Receives deliveries of a webhook, verifies them, and appends their events to a file, one a line. A batch is answered once it
 * is on disk; a repeated batch is stored once.
 */

const [portText = '9000', file = 'events.jsonl'] = process.argv.slice(2)
const { WEBHOOK_SECRET } = process.env
if (WEBHOOK_SECRET === undefined) {
  console.error('usage: WEBHOOK_SECRET=whsec_… node webhook-receiver.ts [PORT] [FILE]')
  process.exit(2)
}
const secret = WEBHOOK_SECRET

const events = await open(file, 'a')
/** Ids of the last batches: a batch is repeated within a minute or two, and 1,000 last for eight minutes at two a second. */
const seen = new Set<string>()
const SEEN_MAX = 1_000

const app = fastify({ bodyLimit: 8 * 2 ** 20 })
// The signature is over the bytes: a parsed body cannot be verified.
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

app.post('/', async (request, reply) => {
  const batch = await verify(request.headers, request.body as Buffer, secret)
  if (!seen.has(batch.batch_id)) {
    if (batch.dropped !== undefined)
      console.error(`${batch.dropped} events were dropped before ${batch.batch_id}`)
    await events.appendFile(batch.events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    await events.datasync()
    seen.add(batch.batch_id)
    for (const oldest of seen) if (seen.size > SEEN_MAX) seen.delete(oldest)
  }
  return reply.code(204).send()
})

app.setErrorHandler((error, _request, reply) => {
  // 400 for a delivery that is not from the service; the service repeats one that failed here.
  const status = error instanceof WebhookVerificationError ? 400 : 500
  return reply.code(status).send(error instanceof Error ? error.message : 'failed')
})

console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: Number(portText) })}`)

import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verify } from 'millrace/webhooks'

const { PORT = '9000', WEBHOOK_SECRET = '' } = process.env

async function receive(request: IncomingMessage): Promise<void> {
  const batch = await verify(request.headers, await buffer(request), WEBHOOK_SECRET)
  for (const { channel, data } of batch.events) console.log(`${channel} ${JSON.stringify(data)}`)
}

const server = createServer((request, response) => {
  receive(request).then(
    () => response.writeHead(204).end(),
    (error: Error) => response.writeHead(400).end(error.message)
  )
})
server.listen(Number(PORT), '127.0.0.1', () => console.log('listening', server.address()))

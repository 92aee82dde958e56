/** The peer: a broadcast as in the README of `ws`, one `send` per connection and event, of a text encoded once. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import { commitAsTold } from './committing.ts'
import { eventMessages, type Kind } from './trades.ts'

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
const readers = new Map<string, Set<WebSocket>>()
let kind: Kind = 'trades'

server.on('connection', (socket) => {
  socket.on('message', (data: Buffer) => {
    const { subscribe } = JSON.parse(data.toString()) as { subscribe: [string] }
    const [channel] = subscribe
    kind = channel.startsWith('price:') ? 'price' : 'trades'
    const all = readers.get(channel) ?? new Set()
    readers.set(channel, all.add(socket))
    socket.on('close', () => all.delete(socket))
    socket.send(JSON.stringify({ type: 'subscribed', channels: subscribe }))
  })
})

commitAsTold(
  (block) => eventMessages(kind, block),
  (events) => {
    for (const event of events) {
      const text = event.text()
      for (const socket of readers.get(event.channel) ?? []) socket.send(text)
    }
  }
)
await once(server, 'listening')
process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)

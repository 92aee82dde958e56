/**
 * The peer: a broadcast as in the README of `ws`, one `send` per connection and event, of a text encoded once. With the
 * argument `frames` it only writes ready frames to the sockets, one write per connection and event: the floor in Node.
 */
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { textFrame } from '../../src/stream/frames.ts'
import { commitAsTold } from './committing.ts'
import { eventMessages, type Kind } from './trades.ts'

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
const isFloor = process.argv[2] === 'frames'
/** By channel, what sends a text or writes its frame. */
const readers = new Map<string, Set<(text: string, frame: Buffer) => void>>()
let kind: Kind = 'trades'
const NO_FRAME = Buffer.alloc(0)

function textFrameOf(text: string): Buffer {
  const { frame, at } = textFrame(Buffer.byteLength(text))
  frame.write(text, at)
  return frame
}

server.on('connection', (socket, request) => {
  const raw: Socket = request.socket
  socket.on('message', (data: Buffer) => {
    const { subscribe } = JSON.parse(data.toString()) as { subscribe: [string] }
    const [channel] = subscribe
    kind = channel.startsWith('price:') ? 'price' : 'trades'
    const all = readers.get(channel) ?? new Set()
    const send = isFloor
      ? (_text: string, frame: Buffer) => void raw.write(frame)
      : (text: string) => socket.send(text)
    readers.set(channel, all.add(send))
    socket.on('close', () => all.delete(send))
    socket.send(JSON.stringify({ type: 'subscribed', channels: subscribe }))
  })
})

commitAsTold(
  (block) => eventMessages(kind, block),
  (events) => {
    for (const event of events) {
      const text = event.text()
      const frame = isFloor ? textFrameOf(text) : NO_FRAME
      for (const send of readers.get(event.channel) ?? []) send(text, frame)
    }
  }
)
await once(server, 'listening')
process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)

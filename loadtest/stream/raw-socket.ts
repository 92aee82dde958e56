import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const LENGTH_SHORT_MAX = 125
const LENGTH_MEDIUM = 126

/**
 * Opens a WebSocket without a client library, so that the caller decides when it is read. Rejects with the server's
 * refusal.
 */
export async function openRaw(url: string, path: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n\r\n`
  )
  const [head] = (await once(socket, 'data')) as [Buffer]
  if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(head.toString())
  return socket
}

/** Encodes a message as a client's frame; a mask of zeros leaves the payload unchanged. */
export function textFrame(message: object): Buffer {
  const payload = Buffer.from(JSON.stringify(message))
  const { length } = payload
  const header =
    length <= LENGTH_SHORT_MAX
      ? [0x81, 0x80 | length]
      : [0x81, 0x80 | LENGTH_MEDIUM, length >> 8, length & 255]
  return Buffer.concat([Buffer.from(header), Buffer.alloc(4), payload])
}

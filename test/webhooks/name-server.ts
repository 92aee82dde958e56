import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'
import type { Test } from 'tap'

const TYPE = { A: 1, AAAA: 28 } as const
const NAME_ERROR = 3

/**
 * Starts a name server on loopback until the test ends, and returns its address. A name that it does not know does not exist;
 * of a known one it has the addresses of each family, possibly none.
 */
export async function startNameServer(
  t: Test,
  names: Readonly<Record<string, readonly string[]>>
): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query)
    const known = names[name]
    const family = type === TYPE.A ? 4 : 6
    const found = (known ?? []).filter((each) => isIP(each) === family)
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(0x8180 | (known === undefined ? NAME_ERROR : 0), 2)
    header.writeUInt16BE(found.length, 6)
    header.fill(0, 8)
    const answers = found.map((each) => recordOf(type, bytesOf(each)))
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => void socket.close())
  return `127.0.0.1:${socket.address().port}`
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** Returns an answer that refers to the name of the question. */
function recordOf(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length])
  return Buffer.concat([head, data])
}

/** Returns the bytes of IPv4, or of IPv6 that is written in full. */
function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  return Buffer.from(
    address
      .split(':')
      .map((each) => each.padStart(4, '0'))
      .join(''),
    'hex'
  )
}

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'

/** A request that a receiver got. */
export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly remotePort: number
}

/** A receiver on loopback. */
export interface Receiver {
  readonly port: number
  readonly received: readonly Received[]
  /** Number of connections that it accepted. */
  readonly connections: number
}

/** Listens on a free port until the test ends. */
async function listening(t: Test, server: Server, open: Set<Socket>): Promise<number> {
  server.on('connection', (socket) => {
    open.add(socket)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

/** Starts a receiver that answers with a status, headers and body, after it has read the request. */
export async function startReceiver(
  t: Test,
  answer: RequestListener,
  tls: { readonly key: string; readonly cert: string } | null = null
): Promise<Receiver> {
  const received: Received[] = []
  const listener: RequestListener = (request, response) => {
    const { method = '', url = '', headers, socket } = request
    void buffer(request).then((body) => {
      received.push({ method, url, headers, body, remotePort: socket.remotePort ?? 0 })
      answer(request, response)
    })
  }
  const server = tls === null ? createServer(listener) : createTlsServer(tls, listener)
  let connections = 0
  server.on('connection', () => connections++)
  const port = await listening(t, server, new Set())
  return {
    port,
    received,
    get connections() {
      return connections
    }
  }
}

/** Starts a receiver that does something with each connection once the head of a request has come. */
export async function startRawReceiver(t: Test, act: (socket: Socket) => void): Promise<{ port: number }> {
  const server = createTcpServer((socket) => {
    let head = ''
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      const isNew = !head.includes('\r\n\r\n')
      head += String(chunk)
      if (isNew && head.includes('\r\n\r\n')) act(socket)
    })
  })
  return { port: await listening(t, server, new Set()) }
}

/** Starts a receiver that does something with each connection, and reads none of it. */
export async function startUnreadReceiver(t: Test, act: (socket: Socket) => void): Promise<{ port: number }> {
  return { port: await listening(t, createTcpServer(act), new Set()) }
}

/** Makes a self-signed certificate for a name. */
export function makeCertificate(t: Test, name: string): { readonly key: string; readonly cert: string } {
  const folder = t.testdir()
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)]
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${name} -addext subjectAltName=DNS:${name}`
  execFileSync('openssl', [...words.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

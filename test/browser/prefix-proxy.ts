import { createServer, request, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { Test } from 'tap'

export interface PrefixProxy {
  /** URL of the service behind the proxy, with the prefix and a slash. */
  readonly url: string
  /** URL of the service that requests go to. */
  target: string
  /** Decides the fault of a request by its path: `cut` breaks its answer off, `hang` gives none. Null for no fault. */
  fault: (path: string) => 'cut' | 'hang' | null
  /** Breaks the open WebSockets, as a lost network does. */
  cut(): void
}

/** Starts a proxy on loopback that serves a service below `/PREFIX/`, WebSockets too. */
export async function startPrefixProxy(t: Test, prefix: string, target: string): Promise<PrefixProxy> {
  const sockets = new Set<Socket>()
  const upgraded = new Set<Socket>()
  const proxy: { -readonly [Name in keyof PrefixProxy]: PrefixProxy[Name] } = {
    ...{ url: '', target, fault: () => null },
    cut: () => {
      for (const socket of upgraded) socket.destroy()
    }
  }
  const pathOf = ({ url = '' }: IncomingMessage): string | null =>
    url.startsWith(`/${prefix}/`) ? url.slice(prefix.length + 1) : null
  const server = createServer((incoming, outgoing) => {
    const path = pathOf(incoming)
    if (path === null) return void outgoing.writeHead(404).end()
    const fault = proxy.fault(path)
    if (fault === 'hang') return
    if (fault === 'cut') {
      const head = { 'content-type': 'application/json', 'content-length': 1_000 }
      return void outgoing.writeHead(200, head).write('{"data":[', () => outgoing.destroy())
    }
    const { method, headers } = incoming
    const passed = request(new URL(path, proxy.target), { method, headers }, (answer) => {
      // A page that is closed waits for nothing.
      if (outgoing.destroyed) return void answer.destroy()
      outgoing.writeHead(answer.statusCode!, answer.headers)
      // An answer that breaks off ends its connection, or the page would wait for the rest.
      pipeline(answer, outgoing, () => undefined)
    })
    passed.on('error', () => outgoing.destroyed || outgoing.headersSent || outgoing.writeHead(502).end())
    incoming.pipe(passed)
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    const { hostname, port } = new URL(proxy.target)
    upgraded.add(client)
    client.on('close', () => upgraded.delete(client))
    const upstream = connect(Number(port), hostname, () => {
      const lines = incoming.rawHeaders.flatMap((name, at, all) =>
        at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : []
      )
      upstream.write(`GET ${pathOf(incoming)} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      upstream.write(head)
      upstream.pipe(client).pipe(upstream)
    })
    for (const [one, other] of [
      [upstream, client],
      [client, upstream]
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${prefix}/`
  return proxy
}

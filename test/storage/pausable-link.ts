import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A link to a server that a test can pause: connections stay open, and no bytes pass. */
export interface PausableLink {
  readonly url: string
  pause(): void
  resume(): void
}

export async function linkTo(t: Test, url: string): Promise<PausableLink> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let paused = false
  const server = createServer((near) => {
    const far = connect({ host: hostname, port: Number(port) })
    for (const [from, to] of [
      [near, far],
      [far, near]
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => to.write(bytes))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (paused) from.pause()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    url: `redis://127.0.0.1:${(server.address() as { port: number }).port}`,
    pause: () => {
      paused = true
      for (const socket of sockets) socket.pause()
    },
    resume: () => {
      paused = false
      for (const socket of sockets) socket.resume()
    }
  }
}
